import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  link,
  lstat,
  mkdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { formatBytes } from '../platform/format-bytes.ts';
import { type ApplyOutcome, computeApply, touchedPaths } from './apply-compute.ts';
import type { Blob } from './blob-repository.ts';
import { SnapshotError } from './errors.ts';
import { behindLink } from './patch.ts';
import {
  fromRawPath,
  hostPath,
  parentPath,
  parentPaths,
  type RawPath,
  toRawPath,
} from './raw-path.ts';

export interface ApplyToWorkspaceOptions {
  readonly signal?: AbortSignal;
  /** Only find out whether it would fit; nothing is written. */
  readonly check?: boolean;
}

/** `applicable`: only with `check`. */
export type WorkspaceApplyOutcome =
  | ApplyOutcome
  | { readonly kind: 'applicable'; readonly files: readonly string[] };

const LARGEST = 512e6;

interface Present {
  readonly blob: Blob;
  readonly stat: Stats;
}

/**
 * Applies a patch to the user's own files, all or nothing. Refuses where a file is not the one that
 * the patch was made from; never merges. Each file is replaced by a rename, with its mode and owner;
 * the user's index is not touched, and no filter or hook runs.
 */
export async function applyPatchToWorkspace(
  root: string,
  patch: string,
  options: ApplyToWorkspaceOptions = {},
): Promise<WorkspaceApplyOutcome> {
  const kind = options.check ? 'applicable' : 'applied';
  if (patch === '') return { kind, files: [] };
  const touched = touchedPaths(patch);
  if (touched.kind !== 'paths') return touched;
  try {
    const workspace = toRawPath(await realpath(root));
    const present = new Map<RawPath, Present>();
    for (const path of touched.paths) {
      const link = await linkAbove(workspace, path);
      if (link !== undefined) return behindLink(path, link);
      const found = await readPresent(workspace, path);
      // A folder whose files go may make room for a file.
      const cleared = touched.paths.some((other) => other.startsWith(`${path}/`));
      if (found === 'other' && !cleared) {
        const reason = 'is a folder, a pipe or a very large file now';
        const conflicts = [{ path: fromRawPath(path), reason }];
        return {
          kind: 'conflict',
          reason: `The patch does not fit: ${fromRawPath(path)} ${reason}.`,
          conflicts,
        };
      }
      if (found && found !== 'other') present.set(path, found);
    }
    const current = new Map([...present].map(([path, { blob }]) => [path, blob] as const));
    const computed = await computeApply(patch, current, { exact: true, signal: options.signal });
    if (computed.kind !== 'computed') return computed;
    const files = [...computed.changes.keys()].map(fromRawPath).sort();
    if (options.check) return { kind: 'applicable', files };
    options.signal?.throwIfAborted();
    const changed = await replaceAll(workspace, computed.changes, present);
    if (changed !== undefined) {
      const conflicts = [{ path: changed, reason: 'changed a moment ago' }];
      return {
        kind: 'conflict',
        reason: `The patch does not fit: ${changed} changed a moment ago.`,
        conflicts,
      };
    }
    return { kind: 'applied', files };
  } catch (error) {
    if (error instanceof SnapshotError)
      return { kind: 'failed', reason: `${error.message} ${error.remedy}` };
    if (options.signal?.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return {
      kind: 'failed',
      reason: `Your files are unchanged; they could not be written: ${reason}`,
    };
  }
}

async function linkAbove(workspace: RawPath, path: RawPath): Promise<RawPath | undefined> {
  for (const parent of parentPaths(path)) {
    const stat = await lstat(hostPath(workspace, parent)).catch(() => undefined);
    if (stat?.isSymbolicLink()) return parent;
  }
  return undefined;
}

async function readPresent(
  workspace: RawPath,
  path: RawPath,
): Promise<Present | 'other' | undefined> {
  const host = hostPath(workspace, path);
  const stat = await lstat(host).catch(() => undefined);
  if (!stat) return undefined;
  if (stat.isSymbolicLink()) {
    return {
      stat,
      blob: { mode: '120000', content: await readlink(host, { encoding: 'buffer' }) },
    };
  }
  if (!stat.isFile()) return 'other';
  if (stat.size > LARGEST) {
    throw new SnapshotError(
      'too-large',
      `${fromRawPath(path)} is larger than ${formatBytes(LARGEST)}.`,
      'Apply the patch with `git apply`.',
    );
  }
  const mode = stat.mode & 0o100 ? '100755' : '100644';
  return { stat, blob: { mode, content: await readFile(host) } };
}

/** @returns a file that changed since it was read; then nothing was done */
async function replaceAll(
  workspace: RawPath,
  changes: ReadonlyMap<RawPath, Blob | undefined>,
  present: ReadonlyMap<RawPath, Present>,
): Promise<string | undefined> {
  for (const [path, { stat }] of present) {
    const now = await lstat(hostPath(workspace, path)).catch(() => undefined);
    if (now?.mtimeMs !== stat.mtimeMs || now.ino !== stat.ino || now.size !== stat.size) {
      return fromRawPath(path);
    }
  }
  // In the workspace, because a rename needs the same file system. Also holds the old files until
  // all is done: after a crash they are still there.
  const staging = `.prime-agent-${randomBytes(4).toString('hex')}`;
  const at = (path: RawPath) => hostPath(workspace, path);
  const undo: (() => Promise<unknown>)[] = [];
  await mkdir(at(staging), { mode: 0o700 });
  try {
    const entries = [...changes].map(([path, blob], index) => ({ path, blob, index }));
    for (const { path, blob, index } of entries) {
      if (blob)
        await stage(at(`${staging}/new${index}`), workspace, path, blob, present.get(path)?.stat);
    }
    // Removals first: a folder may have to make room for a file, or the other way.
    for (const { path, blob, index } of entries) {
      if (blob) continue;
      const old = at(`${staging}/old${index}`);
      await rename(at(path), old);
      undo.push(() => rename(old, at(path)));
      for (let up = parentPath(path); up !== ''; up = parentPath(up)) {
        const folder = at(up);
        const { mode } = await lstat(folder);
        if (!(await succeeds(rmdir(folder)))) break;
        undo.push(() => mkdir(folder, { mode: mode & 0o7777 }));
      }
    }
    for (const { path, blob, index } of entries) {
      if (!blob) continue;
      for (const folder of parentPaths(path)) {
        if (!(await succeeds(mkdir(at(folder))))) continue;
        undo.push(() => rmdir(at(folder)));
        await ownLike(at(folder), await nearestFolder(workspace, folder));
      }
      const old = at(`${staging}/old${index}`);
      const found = present.get(path);
      if (found) await keepOld(at(path), old, found);
      await rename(at(`${staging}/new${index}`), at(path));
      undo.push(() => (found ? rename(old, at(path)) : unlink(at(path))));
    }
    return undefined;
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  } finally {
    await rm(at(staging), { recursive: true, force: true });
  }
}

/** A second name of the old file, or a copy where the file system has none. */
async function keepOld(path: string | Buffer, old: string | Buffer, found: Present): Promise<void> {
  if (await succeeds(link(path, old))) return;
  if (found.blob.mode === '120000') await symlink(found.blob.content, old);
  else await copyFile(path, old);
}

async function stage(
  to: string | Buffer,
  workspace: RawPath,
  path: RawPath,
  blob: Blob,
  before: Stats | undefined,
): Promise<void> {
  if (blob.mode === '120000') return symlink(blob.content, to);
  await writeFile(to, blob.content, { mode: blob.mode === '100755' ? 0o777 : 0o666, flag: 'wx' });
  await ownLike(to, before ?? (await nearestFolder(workspace, path)));
  if (before?.isFile()) await chmod(to, modeLike(before.mode & 0o7777, blob.mode === '100755'));
}

/** Only root can give files away, and only root has to. */
async function ownLike(path: string | Buffer, owner: Stats): Promise<void> {
  if (process.getuid?.() === 0) await chown(path, owner.uid, owner.gid);
}

/** The permissions as they were; who may read may execute, if the patch says so. */
function modeLike(mode: number, executable: boolean): number {
  if (((mode & 0o100) !== 0) === executable) return mode;
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

async function nearestFolder(workspace: RawPath, path: RawPath): Promise<Stats> {
  for (let up = parentPath(path); up !== ''; up = parentPath(up)) {
    const stat = await lstat(hostPath(workspace, up)).catch(() => undefined);
    if (stat) return stat;
  }
  return lstat(hostPath(workspace, ''));
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
