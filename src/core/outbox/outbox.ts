import { createHash } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { syncFolder } from '../platform/sync-folder.ts';
import type { WireError } from '../protocol/errors.ts';
import { MAX_CONTENT_BYTES, MAX_UPLOAD_BYTES } from '../protocol/limits.ts';
import { isErrno } from '../snapshot/errors.ts';
import { toJsonLines } from '../trajectories/export.ts';
import type { Trajectory } from '../trajectories/trajectory.ts';
import type { Permit } from './consent.ts';
import { writeDurably } from './durable.ts';
import { type EntryFiles, type OutboxEntry, outboxEntrySchema } from './entry.ts';
import type { AttemptFiles } from './files.ts';

const pack = promisify(gzip);
const unpack = promisify(gunzip);

export type EnqueueResult =
  | { readonly kind: 'queued'; readonly entry: OutboxEntry }
  /** It is here already, in whatever state. */
  | { readonly kind: 'known'; readonly entry: OutboxEntry }
  /** What waits would take up more than is allowed. */
  | { readonly kind: 'full'; readonly message: string }
  | { readonly kind: 'too-large'; readonly message: string }
  /** It was taken back in the meantime. */
  | { readonly kind: 'no-consent' };

export type WithdrawResult = 'withdrawn' | 'sent' | 'missing';

export interface OutboxLimits {
  /** Of what waits. */
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** Entries of what was sent, which only say that it was. */
  readonly maxSent: number;
}

const DEFAULT_LIMITS: OutboxLimits = {
  maxBytes: 1024 * 1024 * 1024,
  maxEntries: 10_000,
  maxSent: 1_000,
};

export interface Outbox {
  /**
   * Written to disk before it resolves. The caller has asked `uploadable`; the permit says that the user
   * was asked. Putting the same attempt in twice is the same as once.
   *
   * @param files what the attempt had before it; they are kept only if the permit covers them and there is room,
   * otherwise the record goes without
   */
  enqueue(trajectory: Trajectory, permit: Permit, files?: AttemptFiles): Promise<EnqueueResult>;
  /** The same for an attempt that was put in when its files were not allowed, or had no room. */
  addFiles(trajectory: Trajectory, permit: Permit, files: AttemptFiles): Promise<void>;
  /** Oldest first. */
  list(): Promise<readonly OutboxEntry[]>;
  /** As it is now. */
  find(attemptId: string): Promise<OutboxEntry | undefined>;
  /** What would be sent, unpacked. undefined where it was sent, or there is none. */
  content(attemptId: string): Promise<Buffer | undefined>;
  /** The bytes that are sent. */
  packed(entry: OutboxEntry): Promise<Buffer | undefined>;
  /** The archive that follows it; undefined where none waits. */
  archive(entry: OutboxEntry): Promise<Buffer | undefined>;
  /**
   * The bytes go; the entry stays and says so, so that nothing puts it in again by itself. What was sent
   * cannot be taken back here.
   */
  withdraw(attemptId: string): Promise<WithdrawResult>;
  /** All of a workspace that was not sent: its consent is gone. Nothing of them stays. */
  forget(workspace: string): Promise<number>;
  /** The files of attempts that were not sent: they are not allowed any more, records are. */
  forgetFiles(workspace: string): Promise<number>;
  /** Acknowledged: the bytes go. */
  markSent(entry: OutboxEntry, serverId: string): Promise<void>;
  /** `refused`: it stays to be looked at, and is not sent again. */
  markFailed(entry: OutboxEntry, error: WireError, state: 'waiting' | 'refused'): Promise<void>;
  /** What became of the files; the archive goes unless they still wait. */
  markFiles(entry: OutboxEntry, files: EntryFiles): Promise<void>;
}

const ENTRY = '.json';
const BYTES = '.gz';
const FILES = '.files';

/**
 * Trajectories on their way to a server, as files: `ATTEMPT.gz` holds the bytes, `ATTEMPT.files` the archive of what
 * was there before it, and `ATTEMPT.json` says what is to be done with them; it is written last and removed first.
 *
 * @param root absolute path; made when it is first written to.
 */
export function createOutbox(root: string, limits: OutboxLimits = DEFAULT_LIMITS): Outbox {
  const entryPath = (attemptId: string): string => join(root, `${attemptId}${ENTRY}`);
  const bytesPath = (attemptId: string): string => join(root, `${attemptId}${BYTES}`);
  const filesPath = (attemptId: string): string => join(root, `${attemptId}${FILES}`);
  const save = (entry: OutboxEntry): Promise<void> =>
    writeDurably(entryPath(entry.attemptId), `${JSON.stringify(entry)}\n`);

  const find = async (attemptId: string): Promise<OutboxEntry | undefined> => {
    try {
      return outboxEntrySchema.parse(JSON.parse(await readFile(entryPath(attemptId), 'utf8')));
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw new Error(
        `${entryPath(attemptId)} cannot be read (${error instanceof Error ? error.message : error}). Delete it to give this upload up; the record of the attempt is not touched.`,
      );
    }
  };
  const list = async (): Promise<readonly OutboxEntry[]> => {
    const names = await readdir(root).catch((error: unknown) => {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    });
    const ids = names
      .filter((name) => name.endsWith(ENTRY) && !name.startsWith('.'))
      .map((name) => name.slice(0, -ENTRY.length));
    const entries = (await Promise.all(ids.map(find))).filter((entry) => entry !== undefined);
    return entries.sort(
      (a, b) => compare(a.queuedAt, b.queuedAt) || compare(a.attemptId, b.attemptId),
    );
  };
  const drop = async (attemptId: string): Promise<void> => {
    await rm(entryPath(attemptId), { force: true });
    await rm(bytesPath(attemptId), { force: true });
    await rm(filesPath(attemptId), { force: true });
  };
  const change = async (entry: OutboxEntry, state: OutboxEntry['state']): Promise<boolean> => {
    // Withdrawn in the meantime: it must not come back.
    const now = await find(entry.attemptId);
    if (now === undefined || (now.state.kind === 'withdrawn' && state.kind !== 'sent'))
      return false;
    await save({ ...now, state });
    return true;
  };
  const setFiles = async (attemptId: string, files: EntryFiles | undefined): Promise<void> => {
    const now = await find(attemptId);
    if (now) await save({ ...now, files });
    if (files?.kind !== 'waiting') await rm(filesPath(attemptId), { force: true });
  };
  /** Puts the archive where its entry will look for it. undefined: not now. */
  const place = async (
    { header: { attemptId, task } }: Trajectory,
    permit: Permit,
    files: AttemptFiles | undefined,
    alsoBytes = 0,
  ): Promise<EntryFiles | undefined> => {
    if (!files || !(await permit.coversFiles())) return undefined;
    if (files.kind === 'none') return files;
    const { bytes, sha256, leftOut } = files;
    const entries = await list();
    if (roomOf(entries) + alsoBytes + bytes.length > limits.maxBytes) return undefined;
    // Attempts at one task start from the same files: they are on the disk once.
    const same = entries.find((entry) => waitsWith(entry, sha256));
    const path = filesPath(attemptId);
    await rm(path, { force: true });
    const linked = same && (await link(filesPath(same.attemptId), path).then(yes, no));
    if (linked) await syncFolder(root);
    else await writeDurably(path, bytes);
    return {
      ...{ kind: 'waiting', sha256, taskId: task.id },
      ...{ bytes: bytes.length, leftOut: leftOut.length },
    };
  };

  return {
    list,
    find,
    async enqueue(trajectory, permit, files) {
      if (!(await permit.stillGiven())) return { kind: 'no-consent' };
      const { attemptId } = trajectory.header;
      const known = await find(attemptId);
      if (known) return { kind: 'known', entry: known };
      const content = Buffer.from(toJsonLines(trajectory), 'utf8');
      const bytes = await pack(content);
      if (content.length > MAX_CONTENT_BYTES || bytes.length > MAX_UPLOAD_BYTES) {
        return {
          kind: 'too-large',
          message: `attempt ${attemptId} has ${content.length} bytes (${bytes.length} packed); no server takes more than ${MAX_CONTENT_BYTES} (${MAX_UPLOAD_BYTES} packed)`,
        };
      }
      const waiting = (await list()).filter((entry) => takesRoom(entry) || filesWait(entry));
      const used = roomOf(waiting);
      if (waiting.length >= limits.maxEntries || used + bytes.length > limits.maxBytes) {
        return {
          kind: 'full',
          message: `the outbox is full (${waiting.length} attempts, ${used} bytes). Connect to the server, or withdraw some; the record of ${attemptId} stays and can be sent later.`,
        };
      }
      await mkdir(root, { recursive: true, mode: 0o700 });
      await writeDurably(bytesPath(attemptId), bytes);
      const entry: OutboxEntry = {
        version: 1,
        attemptId,
        workspace: permit.workspace,
        upload: sha256(bytes),
        bytes: bytes.length,
        contentSha256: sha256(content),
        contentBytes: content.length,
        queuedAt: new Date().toISOString(),
        files: await place(trajectory, permit, files, bytes.length),
        state: { kind: 'waiting' },
      };
      await save(entry);
      // Whoever took it back while this wrote has not seen the entry.
      if (!(await permit.stillGiven())) {
        await drop(attemptId);
        return { kind: 'no-consent' };
      }
      if (filesWait(entry) && !(await permit.coversFiles())) await setFiles(attemptId, undefined);
      return { kind: 'queued', entry };
    },

    async addFiles(trajectory, permit, files) {
      const { attemptId } = trajectory.header;
      const known = await find(attemptId);
      if (!known || !wantsFiles(known)) return;
      const placed = await place(trajectory, permit, files);
      if (placed) await setFiles(attemptId, placed);
      if (placed && !(await permit.coversFiles())) await setFiles(attemptId, undefined);
    },

    async content(attemptId) {
      const entry = await find(attemptId);
      if (!entry || !takesRoom(entry)) return undefined;
      const bytes = await readIfThere(bytesPath(attemptId));
      if (!bytes) return undefined;
      return unpack(bytes, { maxOutputLength: MAX_CONTENT_BYTES });
    },

    packed: ({ attemptId }) => readIfThere(bytesPath(attemptId)),

    async archive({ attemptId }) {
      const now = await find(attemptId);
      return now && filesWait(now) ? readIfThere(filesPath(attemptId)) : undefined;
    },

    async withdraw(attemptId) {
      const entry = await find(attemptId);
      if (!entry || entry.state.kind === 'withdrawn') return 'missing';
      if (entry.state.kind === 'sent') {
        if (filesWait(entry)) await setFiles(attemptId, WITHDRAWN);
        return 'sent';
      }
      const files = filesWait(entry) ? WITHDRAWN : entry.files;
      await save({ ...entry, files, state: { kind: 'withdrawn', at: new Date().toISOString() } });
      await rm(bytesPath(attemptId), { force: true });
      await rm(filesPath(attemptId), { force: true });
      return 'withdrawn';
    },

    async forget(workspace) {
      const own = (await list()).filter((entry) => entry.workspace === workspace);
      const unsent = own.filter(takesRoom);
      for (const { attemptId } of unsent) await drop(attemptId);
      for (const entry of own.filter(({ state }) => state.kind === 'sent')) {
        if (filesWait(entry)) await setFiles(entry.attemptId, undefined);
      }
      return unsent.length;
    },

    async forgetFiles(workspace) {
      const own = (await list()).filter((entry) => entry.workspace === workspace);
      const waiting = own.filter(filesWait);
      for (const { attemptId } of waiting) await setFiles(attemptId, undefined);
      return waiting.length;
    },

    async markSent(entry, serverId) {
      await change(entry, { kind: 'sent', at: new Date().toISOString(), serverId });
      await rm(bytesPath(entry.attemptId), { force: true });
      const sent = (await list()).filter((each) => each.state.kind === 'sent' && !filesWait(each));
      for (const { attemptId } of sent.slice(0, Math.max(0, sent.length - limits.maxSent))) {
        await rm(entryPath(attemptId), { force: true });
      }
    },

    async markFailed(entry, error, state) {
      const at = new Date().toISOString();
      await change(
        entry,
        state === 'refused'
          ? { kind: 'refused', at, error }
          : { kind: 'waiting', lastError: error },
      );
    },

    markFiles: (entry, files) => setFiles(entry.attemptId, files),
  };
}

const WITHDRAWN: EntryFiles = { kind: 'none', reason: 'they were withdrawn' };
const yes = (): boolean => true;
const no = (): boolean => false;

/** Its archive is here, and is to be sent. */
export function filesWait({ files }: OutboxEntry): boolean {
  return files?.kind === 'waiting';
}

/** Nobody has asked yet for the files that belong to it. */
export function wantsFiles({ files, state }: OutboxEntry): boolean {
  return files === undefined && (state.kind === 'waiting' || state.kind === 'sent');
}

function waitsWith({ files }: OutboxEntry, sha256: string): boolean {
  return files?.kind === 'waiting' && files.sha256 === sha256;
}

function roomOf(entries: readonly OutboxEntry[]): number {
  const size = (entry: OutboxEntry): number =>
    (takesRoom(entry) ? entry.bytes : 0) +
    (entry.files?.kind === 'waiting' ? entry.files.bytes : 0);
  return entries.reduce((sum, entry) => sum + size(entry), 0);
}

/** Its bytes are here. */
function takesRoom({ state }: OutboxEntry): boolean {
  return state.kind === 'waiting' || state.kind === 'refused';
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
