import type { Redactor } from '../agent/redactor.ts';
import type { StoredAttempt, TrajectoryStore } from '../trajectories/store.ts';
import { type LocalReason, uploadable } from '../trajectories/uploadable.ts';
import type { ConsentStore } from './consent.ts';
import type { FindFiles } from './files.ts';
import { type EnqueueResult, type Outbox, wantsFiles } from './outbox.ts';

export type OfferResult =
  | EnqueueResult
  /** Nobody allowed that attempts at this workspace leave this machine. */
  | { readonly kind: 'no-consent' }
  /** It must stay here, whatever was allowed. */
  | { readonly kind: 'local'; readonly reasons: readonly LocalReason[] }
  | { readonly kind: 'unreadable'; readonly message: string };

export interface OfferParts {
  readonly workspacePath: string;
  readonly consents: ConsentStore;
  readonly outbox: Outbox;
  readonly store: TrajectoryStore;
  /** Of the workspace, today. */
  readonly redactor: Redactor;
  /** Where the files of attempts are; they are looked for only with a consent that covers them. */
  readonly findFiles?: FindFiles;
}

export interface Offered {
  readonly attempt: StoredAttempt;
  readonly result: OfferResult;
}

/**
 * Puts the attempts at a workspace that have ended into the outbox: with consent alone, and only those that may leave
 * this machine. What is there already, was sent or withdrawn is left as it is. Without consent nothing is even read.
 */
export async function offerAttempts(parts: OfferParts): Promise<readonly Offered[]> {
  const { workspacePath, consents, outbox, store, redactor, findFiles } = parts;
  const permit = await consents.permit(workspacePath);
  if (!permit) return [];
  const known = new Map((await outbox.list()).map((entry) => [entry.attemptId, entry]));
  const withFiles = findFiles !== undefined && (await permit.coversFiles());
  const offered: Offered[] = [];
  const oldestFirst = [...(await store.list(workspacePath))].reverse();
  for (const attempt of oldestFirst) {
    if (attempt.endedAt === null) continue;
    const before = known.get(attempt.attemptId);
    if (!before) offered.push({ attempt, result: await offerOne(attempt) });
    // It was put in before files were allowed.
    else if (withFiles && wantsFiles(before)) await addFiles(attempt);
  }
  return offered;

  async function addFiles(attempt: StoredAttempt): Promise<void> {
    if (!permit || !findFiles) return;
    // A record that is gone or damaged has had its turn; the others have theirs.
    const trajectory = await store.read(attempt).catch(() => undefined);
    if (trajectory)
      await outbox.addFiles(trajectory, permit, await findFiles(trajectory.header.task));
  }

  async function offerOne(attempt: StoredAttempt): Promise<OfferResult> {
    if (!permit) return { kind: 'no-consent' };
    try {
      const trajectory = await store.read(attempt);
      const reasons = await uploadable(trajectory, redactor);
      if (reasons.length > 0) return { kind: 'local', reasons };
      const files = withFiles ? await findFiles(trajectory.header.task) : undefined;
      return await outbox.enqueue(trajectory, permit, files);
    } catch (error) {
      // One record that is damaged or gone does not hold up the others.
      return {
        kind: 'unreadable',
        message: error instanceof Error ? error.message : String(error),
      };
    }
  }
}
