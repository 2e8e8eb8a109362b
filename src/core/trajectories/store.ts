import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Redactor } from '../agent/redactor.ts';
import { isErrno } from '../snapshot/errors.ts';
import { writeErrorOf } from './errors.ts';
import { feedbackPath } from './feedback.ts';
import { workspaceFolder } from './folder.ts';
import { appendToIndex, createIndexReader, type IndexReader, rewriteIndex } from './index-file.ts';
import { readTrajectory } from './reader.ts';
import {
  DEFAULT_RETENTION,
  type RetainedRecord,
  type RetentionLimits,
  recordsToRemove,
} from './retention.ts';
import type { HeaderLine } from './schema.ts';
import { type AttemptSummary, damagedSummary, summaryOf } from './summary.ts';
import type { Trajectory } from './trajectory.ts';
import { createTrajectoryWriter, type TrajectoryWriter } from './writer.ts';

/** Names of files, so neither a separator nor a leading dot. */
const ATTEMPT_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const RECORD = '.jsonl';
const PIN = '.pin';

/** An unfinished record that was written to within this time may still be going on. */
const UNFINISHED_GRACE_MS = 24 * 60 * 60 * 1000;

export interface StoredAttempt extends AttemptSummary {
  /** Absolute path of the record. */
  readonly path: string;
  readonly pinned: boolean;
}

export type FindResult =
  | { readonly kind: 'found'; readonly attempt: StoredAttempt }
  | { readonly kind: 'missing' }
  | { readonly kind: 'ambiguous'; readonly attempts: readonly StoredAttempt[] };

export interface TrajectoryStore {
  readonly root: string;
  /**
   * A writer for a new record. Rejects with `TrajectoryWriteError`. When its end line is written,
   * the attempt is entered into the index.
   */
  create(options: CreateOptions): Promise<TrajectoryWriter>;
  /** Newest first; of one workspace, or of all. */
  list(workspacePath?: string): Promise<readonly StoredAttempt[]>;
  /** By id, or by the beginning of an id. */
  find(id: string): Promise<FindResult>;
  /** Rejects with `TrajectoryFormatError`, or with the file system's error. */
  read(attempt: Pick<StoredAttempt, 'path'>): Promise<Trajectory>;
  setPinned(attempt: StoredAttempt, pinned: boolean): Promise<void>;
  /** Removes records, pinned ones too, and what the index says of them. One that is gone already is no error. */
  remove(attempts: readonly Pick<StoredAttempt, 'path'>[]): Promise<void>;
  /** Removes the oldest records until the rest is within the limits. Returns how many went. */
  prune(limits?: RetentionLimits): Promise<number>;
}

export interface CreateOptions {
  /** The user's own absolute path; only its hash is kept. */
  readonly workspacePath: string;
  readonly attemptId: string;
  readonly redactor: Redactor;
}

/** What a store remembers of a folder, so that listing it again costs only what is new. */
interface KnownFolder {
  readonly path: string;
  readonly index: IndexReader;
  /** Records that are not in the index, as they were when they were read. By path. */
  readonly outside: Map<string, { readonly stamp: string; readonly summary: AttemptSummary }>;
}

/**
 * Records on disk: a folder per workspace (named by a hash), in it one file per attempt and an
 * index. Folders are 0700, files 0600. A store that is kept lists faster the second time.
 *
 * @param root absolute path, see `trajectoriesRoot`. Made when the first record is.
 */
export function createTrajectoryStore(root: string): TrajectoryStore {
  const known = new Map<string, KnownFolder>();
  const folderAt = (name: string): KnownFolder => {
    const path = join(root, name);
    const found = known.get(name) ?? { path, index: createIndexReader(path), outside: new Map() };
    known.set(name, found);
    return found;
  };
  const folders = async (): Promise<readonly KnownFolder[]> => {
    const names = await namesIn(root);
    return names.filter((name) => /^[0-9a-f]{16}$/.test(name)).map(folderAt);
  };
  const removeFrom = async (folder: KnownFolder, paths: readonly string[]): Promise<void> => {
    for (const path of paths) {
      await rm(path, { force: true });
      await rm(pinOf(path), { force: true });
      await rm(feedbackPath(path), { force: true });
    }
    const present = new Set(await recordIdsIn(folder.path));
    const index = await folder.index.read();
    const kept = [...index.values()].filter(({ attemptId }) => present.has(attemptId));
    if (kept.length < index.size) await rewriteIndex(folder.path, kept);
  };

  const list = async (workspacePath?: string): Promise<readonly StoredAttempt[]> => {
    const wanted =
      workspacePath === undefined ? await folders() : [folderAt(workspaceFolder(workspacePath))];
    const attempts = (await Promise.all(wanted.map(listFolder))).flat();
    return attempts.sort(newestFirst);
  };

  return {
    root,
    create: (options) => createRecord(root, options),
    list,

    async find(id) {
      const attempts = await list();
      const exact = attempts.find(({ attemptId }) => attemptId === id);
      if (exact) return { kind: 'found', attempt: exact };
      const matching = id === '' ? [] : attempts.filter((item) => item.attemptId.startsWith(id));
      const [first, second] = matching;
      if (!first) return { kind: 'missing' };
      if (second) return { kind: 'ambiguous', attempts: matching };
      return { kind: 'found', attempt: first };
    },

    read: (attempt) => readTrajectory(attempt.path),

    async setPinned({ path }, pinned) {
      const pin = pinOf(path);
      try {
        if (pinned) await writeFile(pin, '', { mode: 0o600 });
        else await rm(pin, { force: true });
      } catch (error) {
        throw writeErrorOf(error, pin);
      }
    },

    async remove(attempts) {
      const records = attempts.map(({ path }) => ({
        path,
        folder: folderAt(basename(dirname(path))),
      }));
      for (const [folder, paths] of byFolder(records)) await removeFrom(folder, paths);
    },

    async prune(limits = DEFAULT_RETENTION) {
      const records = (await Promise.all((await folders()).map(retainedIn))).flat();
      const removed = recordsToRemove(records, limits);
      for (const [folder, paths] of byFolder(removed)) await removeFrom(folder, paths);
      return removed.length;
    },
  };
}

/** By code units: comparing as people sort costs most of listing thousands. */
function newestFirst(a: AttemptSummary, b: AttemptSummary): number {
  if (a.startedAt !== b.startedAt) return a.startedAt < b.startedAt ? 1 : -1;
  return a.attemptId < b.attemptId ? 1 : -1;
}

async function createRecord(root: string, options: CreateOptions): Promise<TrajectoryWriter> {
  const { workspacePath, attemptId, redactor } = options;
  if (!ATTEMPT_ID.test(attemptId)) {
    throw new RangeError(`'${attemptId}' cannot be an attempt id: letters, digits, '_', '.', '-'`);
  }
  const folder = join(root, workspaceFolder(workspacePath));
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw writeErrorOf(error, `the folder ${folder}`);
  }
  const path = join(folder, `${attemptId}${RECORD}`);
  let header: HeaderLine | undefined;
  let turns = 0;
  return createTrajectoryWriter({
    path,
    redactor,
    async onWritten(line) {
      if (line.type === 'header') header = line;
      else if (line.type === 'turn') turns += 1;
      else if (header) await appendToIndex(folder, summaryOf(header, turns, line));
    },
  });
}

async function listFolder(folder: KnownFolder): Promise<readonly StoredAttempt[]> {
  const [names, index] = await Promise.all([namesIn(folder.path), folder.index.read()]);
  const pins = new Set(names.filter((name) => name.endsWith(PIN)));
  const attempts: StoredAttempt[] = [];
  for (const id of recordIds(names)) {
    const path = join(folder.path, `${id}${RECORD}`);
    const summary = index.get(id) ?? (await summaryFromRecord(folder, path, id));
    if (summary) attempts.push({ ...summary, path, pinned: pins.has(`${id}${PIN}`) });
  }
  return attempts;
}

/** For a record that the index does not know: unfinished, damaged, or written just before a crash. */
async function summaryFromRecord(
  { path: folder, outside }: KnownFolder,
  path: string,
  id: string,
): Promise<AttemptSummary | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    const stamp = `${size} ${mtimeMs}`;
    const before = outside.get(path);
    if (before?.stamp === stamp) return before.summary;
    const summary = await readSummary(path, id);
    if (summary.endedAt === null) outside.set(path, { stamp, summary });
    else {
      outside.delete(path);
      await appendToIndex(folder, summary);
    }
    return summary;
  } catch (error) {
    outside.delete(path);
    if (isErrno(error, 'ENOENT')) return undefined;
    return damagedSummary(id, messageOf(error));
  }
}

async function readSummary(path: string, id: string): Promise<AttemptSummary> {
  try {
    const { header, turns, end } = await readTrajectory(path);
    return summaryOf(header, turns.length, end);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) throw error;
    return damagedSummary(id, messageOf(error));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface StoredRecord extends RetainedRecord {
  readonly path: string;
  readonly folder: KnownFolder;
}

function byFolder(
  records: readonly Pick<StoredRecord, 'path' | 'folder'>[],
): ReadonlyMap<KnownFolder, readonly string[]> {
  const paths = new Map<KnownFolder, string[]>();
  for (const { path, folder } of records) {
    const some = paths.get(folder);
    if (some) some.push(path);
    else paths.set(folder, [path]);
  }
  return paths;
}

async function retainedIn(folder: KnownFolder): Promise<readonly StoredRecord[]> {
  const [names, index] = await Promise.all([namesIn(folder.path), folder.index.read()]);
  const pins = new Set(names.filter((name) => name.endsWith(PIN)));
  const records: StoredRecord[] = [];
  for (const id of recordIds(names)) {
    const path = join(folder.path, `${id}${RECORD}`);
    try {
      const { size, mtimeMs } = await stat(path);
      const goingOn = !index.has(id) && Date.now() - mtimeMs < UNFINISHED_GRACE_MS;
      const keep = goingOn || pins.has(`${id}${PIN}`);
      records.push({ path, folder, bytes: size, modifiedMs: mtimeMs, keep });
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  }
  return records;
}

async function recordIdsIn(folder: string): Promise<readonly string[]> {
  return recordIds(await namesIn(folder));
}

function recordIds(names: readonly string[]): readonly string[] {
  return names
    .filter((name) => name.endsWith(RECORD) && !name.startsWith('.'))
    .map((name) => name.slice(0, -RECORD.length));
}

function pinOf(path: string): string {
  return `${path.slice(0, -RECORD.length)}${PIN}`;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
