import { readFile, readlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatBytes } from '../platform/format-bytes.ts';
import type { SandboxSession, SnapshotBase } from '../sandbox/sandbox.ts';
import type { Blob } from './blob-repository.ts';
import { SnapshotError } from './errors.ts';
import { inOwnRepository, mustRunGit, runGit } from './git.ts';
import { eachLimited } from './limited.ts';
import type { SkippedPath } from './listing.ts';
import { readManifest } from './manifest.ts';
import {
  fromRawPath,
  hostPath,
  joinNul,
  parentPaths,
  type RawPath,
  splitNul,
  toRawPath,
} from './raw-path.ts';
import { lstatAll, type TreeEntry } from './scan.ts';
import { listSession, readSessionFiles, type SessionEntry } from './session-files.ts';

export interface FileChange {
  /** undefined: not in the base. */
  readonly before: Blob | undefined;
  /** undefined: deleted. */
  readonly after: Blob | undefined;
}

export interface Changes {
  readonly changes: ReadonlyMap<RawPath, FileChange>;
  readonly ignored: readonly RawPath[];
  readonly skipped: readonly SkippedPath[];
}

/** At most this much is read from a session at once. */
const BATCH_BYTES = 32e6;
/** Files that only might have changed are compared up to this sum of sizes. */
const DOUBT_BYTES = 256e6;
const MOST_IGNORED = 1000;

interface Candidate {
  readonly path: RawPath;
  readonly size: number;
}

/** Compares a session's workspace with its base: what is there now, what is not any more. */
export async function findChanges(
  session: SandboxSession,
  base: SnapshotBase,
  options: { readonly maxBytes: number; readonly signal: AbortSignal | undefined },
): Promise<Changes> {
  const { signal } = options;
  const manifest = await readManifest(dirname(base.tree));
  if (!manifest) {
    throw new SnapshotError(
      'state-folder',
      `The snapshot ${base.id} is damaged or was removed.`,
      'Start again; a new one is made.',
    );
  }
  const tree = toRawPath(base.tree);
  const folders = base.dependencies.map((dependency) => dependency.path);
  const listed = await listSession(session, folders, signal);
  // After the listing: a file of the base that differs now was looked at before it changed.
  const stats = await lstatAll(
    tree,
    manifest.entries.map((entry) => entry.path),
    signal,
  );

  const now = new Map<RawPath, SessionEntry>();
  const closed: RawPath[] = [];
  for (const entry of listed) {
    if (entry.type !== 'd') now.set(entry.path, entry);
    else if ((entry.mode & 0o500) !== 0o500) closed.push(entry.path);
  }
  const skipped: SkippedPath[] = closed.map((path) => ({
    path: fromRawPath(path),
    reason: 'a folder that cannot be read any more',
  }));
  const skip = (path: RawPath, reason: string) => skipped.push({ path: fromRawPath(path), reason });
  const changes = new Map<RawPath, FileChange>();
  const certain: Candidate[] = [];
  const doubtful: Candidate[] = [];
  const inBase = new Map<RawPath, TreeEntry>();
  const closedSet = new Set(closed);

  for (const [at, entry] of manifest.entries.entries()) {
    inBase.set(entry.path, entry);
    const found = now.get(entry.path);
    if (!found) {
      const hidden = [...parentPaths(entry.path)].some((parent) => closedSet.has(parent));
      if (!hidden && !isInside(entry.path, folders)) {
        changes.set(entry.path, { before: await readBase(tree, entry), after: undefined });
      }
    } else if (found.type === 'l') {
      const before = await readBase(tree, entry);
      const after: Blob = { mode: '120000', content: Buffer.from(found.target, 'latin1') };
      if (!sameBlob(before, after)) changes.set(entry.path, { before, after });
    } else if (found.type === 'f') {
      const stat = stats[at];
      const asBase =
        entry.kind === 'file' && stat !== undefined && !(stat instanceof Error) ? stat : undefined;
      const looksEqual =
        asBase !== undefined &&
        found.size === Number(asBase.size) &&
        found.mtimeNs === asBase.mtimeNs &&
        isExecutable(found) === entry.executable;
      if (!looksEqual) certain.push({ path: entry.path, size: found.size });
      // The kernel sets the ctime at every change, and nobody else can. In a copy all of them differ.
      else if (found.ctimeNs !== asBase.ctimeNs)
        doubtful.push({ path: entry.path, size: found.size });
    } else {
      skip(entry.path, 'became a pipe, a socket or a device');
    }
  }

  const fresh = [...now.values()].filter((entry) => !inBase.has(entry.path));
  const ignored = await ignoredPaths(
    base,
    fresh.map((entry) => entry.path),
    new Set(manifest.entries.filter((entry) => entry.kind === 'link').map((entry) => entry.path)),
    signal,
  );
  for (const entry of fresh) {
    if (ignored.has(entry.path)) continue;
    if (entry.type === 'f') certain.push({ path: entry.path, size: entry.size });
    else if (entry.type === 'l') {
      const content = Buffer.from(entry.target, 'latin1');
      changes.set(entry.path, { before: undefined, after: { mode: '120000', content } });
    } else skip(entry.path, 'a pipe, a socket or a device');
  }

  checkSize(certain, options.maxBytes);
  // With the same size and the same time to the nanosecond, a huge copied tree is taken to be unchanged.
  const compared = sum(doubtful) > DOUBT_BYTES ? certain : [...certain, ...doubtful];
  for (const batch of batches(compared)) {
    const read = await readSessionFiles(
      session,
      batch.map((candidate) => candidate.path),
      signal,
    );
    await eachLimited(
      batch,
      16,
      async ({ path }) => {
        const entry = read.get(path);
        if (entry?.kind !== 'file') {
          skip(path, 'cannot be read');
          return;
        }
        const known = inBase.get(path);
        const before = known && (await readBase(tree, known));
        const mode = (entry.mode & 0o100) !== 0 ? '100755' : '100644';
        const after: Blob = { mode, content: entry.content };
        if (before && sameBlob(before, after)) return;
        // A copy: the whole archive would stay in memory for the sake of a few files.
        changes.set(path, { before, after: { mode, content: Buffer.from(entry.content) } });
      },
      signal,
    );
  }
  return { changes, ignored: [...ignored].slice(0, MOST_IGNORED), skipped };
}

function isExecutable(entry: SessionEntry): boolean {
  return (entry.mode & 0o100) !== 0;
}

function isInside(path: RawPath, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${toRawPath(folder)}/`));
}

async function readBase(tree: RawPath, entry: TreeEntry): Promise<Blob> {
  const path = hostPath(tree, entry.path);
  return entry.kind === 'link'
    ? { mode: '120000', content: await readlink(path, { encoding: 'buffer' }) }
    : { mode: entry.executable ? '100755' : '100644', content: await readFile(path) };
}

function sameBlob(a: Blob, b: Blob): boolean {
  return a.mode === b.mode && a.content.equals(b.content);
}

function sum(candidates: readonly Candidate[]): number {
  return candidates.reduce((total, candidate) => total + candidate.size, 0);
}

function checkSize(candidates: readonly Candidate[], limit: number): void {
  const total = sum(candidates);
  if (total <= limit) return;
  const largest = [...candidates]
    .sort((a, b) => b.size - a.size)
    .slice(0, 3)
    .map(({ path, size }) => `${fromRawPath(path)} (${formatBytes(size)})`);
  throw new SnapshotError(
    'too-large',
    `The changed files have ${formatBytes(total)}, more than the ${formatBytes(limit)} that are compared; the largest: ${largest.join(', ')}.`,
    'Ignore what the tests write (.gitignore).',
  );
}

function* batches(candidates: readonly Candidate[]): Generator<Candidate[]> {
  let batch: Candidate[] = [];
  let bytes = 0;
  for (const candidate of candidates) {
    if (batch.length > 0 && bytes + candidate.size > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(candidate);
    bytes += candidate.size;
  }
  if (batch.length > 0) yield batch;
}

/** By the rules of the base, whatever the agent did to .gitignore. */
async function ignoredPaths(
  base: SnapshotBase,
  paths: readonly RawPath[],
  links: ReadonlySet<RawPath>,
  signal: AbortSignal | undefined,
): Promise<Set<RawPath>> {
  // git dies of paths behind a link; no rule of the base can be meant for them.
  const asked = paths.filter((path) => ![...parentPaths(path)].some((parent) => links.has(parent)));
  if (asked.length === 0) return new Set();
  const request = {
    ...inOwnRepository(`${base.tree}/.git`, base.tree, [
      ...['check-ignore', '--no-index', '-z', '--stdin'],
    ]),
    stdin: joinNul(asked),
    signal,
  };
  const result = await runGit(request);
  // 1: none is ignored.
  if (result.code === 1) return new Set();
  return new Set(splitNul(result.code === 0 ? result.stdout : await mustRunGit(request)));
}
