import type { Redactor } from '../agent/redactor.ts';
import { openWorkspaceFiles } from '../frameworks/workspace-files.ts';
import { stateFolder } from '../platform/state-folder.ts';
import type { ServerAddress } from '../protocol/server-address.ts';
import { hostRedactor } from '../redaction/host.ts';
import { trajectoriesRoot, workspaceFolder } from '../trajectories/folder.ts';
import { createTrajectoryStore, type TrajectoryStore } from '../trajectories/store.ts';
import { type ConsentStore, createConsentStore, type Permit } from './consent.ts';
import { createFindFiles } from './files.ts';
import { outboxRoot } from './folder.ts';
import { type Offered, offerAttempts } from './offer.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { type Preview, previewOf } from './preview.ts';
import { type SendOptions, type SendReport, sendWaiting } from './sender.ts';

/** What the command line and the editor do with the outbox of this machine's user. */
export interface Desk {
  readonly outbox: Outbox;
  readonly consents: ConsentStore;
  /**
   * The preview of one attempt at a workspace: the one that is named, else the newest that may leave this machine, else
   * the newest. Rejects with a message for people where there is none.
   */
  preview(workspacePath: string, wish?: PreviewWish): Promise<Preview>;
  /** Covers what the preview showed, and no more: files that wait without being covered go. */
  allow(workspacePath: string, seen: Preview): Promise<Permit>;
  /** What was allowed, and what waits, goes. What was sent stays at the server. */
  deny(workspacePath: string): Promise<{ readonly revoked: boolean; readonly withdrawn: number }>;
  /** Puts into the outbox what is allowed, of all workspaces or of some. */
  offer(workspacePaths?: readonly string[]): Promise<readonly Offered[]>;
  send(server: ServerAddress, options: Omit<SendOptions, 'signal'>): Promise<SendReport>;
}

export interface PreviewWish {
  /** Or the beginning of one. */
  readonly attemptId?: string | undefined;
  /** False: the files of attempts are not shown, and so not allowed. */
  readonly withFiles?: boolean;
}

export interface DeskOptions {
  /** The host's, for example `process.env`: says where everything is, and which values are secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/** Attempts that are tried for one that may leave this machine. */
const LOOKED_AT = 20;

export function openDesk({ env, signal }: DeskOptions): Desk {
  const root = outboxRoot(env);
  const outbox = createOutbox(root);
  const consents = createConsentStore(root);
  const store: TrajectoryStore = createTrajectoryStore(trajectoriesRoot(env));
  const stateDir = stateFolder(env);

  const lookAt = async (workspacePath: string) => {
    const redactor = await redactorOf(workspacePath, env);
    const findFiles = createFindFiles({ stateDir, workspacePath, redactor, signal });
    return { redactor, findFiles };
  };

  return {
    outbox,
    consents,

    async preview(workspacePath, { attemptId, withFiles = true } = {}) {
      const ended = (await store.list(workspacePath)).filter(({ endedAt }) => endedAt !== null);
      const wanted =
        attemptId === undefined
          ? ended.slice(0, LOOKED_AT)
          : ended.filter((attempt) => attempt.attemptId.startsWith(attemptId));
      const [first, second] = wanted;
      if (!first) {
        const what =
          attemptId === undefined ? 'no attempt' : `no attempt ${JSON.stringify(attemptId)}`;
        throw new Error(
          `${what} at ${workspacePath} has ended, so there is nothing to show. Make one with: prime-agent fix`,
        );
      }
      if (attemptId !== undefined && second && first.attemptId !== attemptId) {
        throw new Error(
          `${JSON.stringify(attemptId)} is the beginning of several attempts: ${wanted.map((attempt) => attempt.attemptId).join(', ')}`,
        );
      }
      const { redactor, findFiles } = await lookAt(workspacePath);
      const find = withFiles ? findFiles : undefined;
      if (attemptId !== undefined) return previewOf(await store.read(first), redactor, find);
      let newest: Preview | undefined;
      for (const attempt of wanted) {
        const preview = await previewOf(await store.read(attempt), redactor, find);
        newest ??= preview;
        if (preview.stays.length === 0) return preview;
      }
      if (newest) return newest;
      throw new Error(`the attempts at ${workspacePath} cannot be shown`);
    },

    async allow(workspacePath, seen) {
      const permit = await consents.allow(workspacePath, seen);
      if (!(await permit.coversFiles())) await outbox.forgetFiles(permit.workspace);
      return permit;
    },

    async deny(workspacePath) {
      const revoked = await consents.revoke(workspacePath);
      return { revoked, withdrawn: await outbox.forget(workspaceFolder(workspacePath)) };
    },

    async offer(workspacePaths) {
      const all = (await consents.list()).map((consent) => consent.workspacePath);
      const wanted = all.filter((path) => workspacePaths?.includes(path) ?? true);
      const offered: Offered[] = [];
      for (const workspacePath of wanted) {
        signal?.throwIfAborted();
        const found = await lookAt(workspacePath);
        offered.push(
          ...(await offerAttempts({ workspacePath, consents, outbox, store, ...found })),
        );
      }
      return offered;
    },

    send: (server, options) => sendWaiting(outbox, server, { ...options, signal }),
  };
}

/** With everything that the workspace and this machine say today is secret. */
async function redactorOf(
  workspacePath: string,
  environment: DeskOptions['env'],
): Promise<Redactor> {
  const files = await openWorkspaceFiles(workspacePath)
    .files()
    .catch((): string[] => []);
  return hostRedactor({ workspacePath, files, environment });
}
