import { resolve } from 'node:path';
import type { Redactor } from '../../core/agent/redactor.ts';
import { openWorkspaceFiles } from '../../core/frameworks/workspace-files.ts';
import { type ConsentStore, createConsentStore } from '../../core/outbox/consent.ts';
import { outboxRoot } from '../../core/outbox/folder.ts';
import { createOutbox, type Outbox } from '../../core/outbox/outbox.ts';
import { type Preview, previewOf } from '../../core/outbox/preview.ts';
import { hostRedactor } from '../../core/redaction/host.ts';
import { trajectoriesRoot } from '../../core/trajectories/folder.ts';
import { createTrajectoryStore, type TrajectoryStore } from '../../core/trajectories/store.ts';
import type { CliContext } from '../context.ts';

/** What the commands of `outbox` work with. */
export interface OutboxParts {
  readonly outbox: Outbox;
  readonly consents: ConsentStore;
  readonly store: TrajectoryStore;
}

export function outboxParts({ env }: CliContext): OutboxParts {
  const root = outboxRoot(env);
  return {
    outbox: createOutbox(root),
    consents: createConsentStore(root),
    store: createTrajectoryStore(trajectoriesRoot(env)),
  };
}

/** With everything that the workspace and this machine say today is secret. */
export async function redactorOf(workspacePath: string, { env }: CliContext): Promise<Redactor> {
  const files = await openWorkspaceFiles(workspacePath)
    .files()
    .catch((): string[] => []);
  return hostRedactor({ workspacePath, files, environment: env });
}

export function workspaceAt(path: string, { cwd }: CliContext): string {
  return resolve(cwd, path);
}

/**
 * The preview of one attempt at a workspace: the one that is named, else the newest that may leave this machine, else
 * the newest. Rejects with a message for people where there is none.
 */
export async function choosePreview(
  workspacePath: string,
  attemptId: string | undefined,
  { store }: OutboxParts,
  context: CliContext,
): Promise<Preview> {
  const redactor = await redactorOf(workspacePath, context);
  const attempts = await store.list(workspacePath);
  const ended = attempts.filter(({ endedAt }) => endedAt !== null);
  const wanted =
    attemptId === undefined
      ? ended
      : ended.filter((attempt) => attempt.attemptId.startsWith(attemptId));
  const [first, second] = wanted;
  if (!first) {
    const what = attemptId === undefined ? 'no attempt' : `no attempt ${JSON.stringify(attemptId)}`;
    throw new Error(
      `${what} at ${workspacePath} has ended, so there is nothing to show. Make one with: prime-agent fix`,
    );
  }
  if (attemptId !== undefined) {
    if (second && first.attemptId !== attemptId) {
      throw new Error(
        `${JSON.stringify(attemptId)} is the beginning of several attempts: ${wanted.map((attempt) => attempt.attemptId).join(', ')}`,
      );
    }
    return previewOf(await store.read(first), redactor);
  }
  let newest: Preview | undefined;
  for (const attempt of wanted.slice(0, 20)) {
    const preview = await previewOf(await store.read(attempt), redactor);
    newest ??= preview;
    if (preview.stays.length === 0) return preview;
  }
  if (newest) return newest;
  throw new Error(`the attempts at ${workspacePath} cannot be shown`);
}
