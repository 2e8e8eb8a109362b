import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  link,
  lutimes,
  mkdir,
  readlink,
  rm,
  rmdir,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { explainFileError, isErrno } from './errors.ts';
import { eachLimited } from './limited.ts';
import type { SkippedPath } from './listing.ts';
import { fromRawPath, hostPath, parentPath, parentPaths, type RawPath } from './raw-path.ts';
import type { TreeEntry } from './scan.ts';

/** An earlier base of the same workspace: unchanged files are linked from it, never copied again. */
export interface ParentTree {
  readonly tree: RawPath;
  readonly stamps: ReadonlyMap<RawPath, string>;
}

export interface TreeBuildOptions {
  readonly workspace: RawPath;
  readonly tree: RawPath;
  readonly parent: ParentTree | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (done: number, total: number) => void;
}

/** Makes a folder equal to the working tree, step by step while that goes on changing. */
export interface TreeBuild {
  /** Copies what is new, removes what is gone. */
  sync(entries: readonly TreeEntry[]): Promise<void>;
  /** What is in the tree now. */
  placed(): TreeEntry[];
  skipped(): SkippedPath[];
}

const WIDTH = 32;

export function startTreeBuild(options: TreeBuildOptions): TreeBuild {
  const { workspace, tree, parent, signal } = options;
  const placed = new Map<RawPath, TreeEntry>();
  const skipped = new Map<RawPath, string>();
  const folders = new Set<RawPath>();

  const makeFolders = async (entries: readonly TreeEntry[]): Promise<void> => {
    for (const entry of entries) {
      for (const folder of parentPaths(entry.path)) {
        if (folders.has(folder)) continue;
        await mkdir(hostPath(tree, folder), { mode: 0o755 }).catch((error: unknown) => {
          if (!isErrno(error, 'EEXIST')) throw error;
        });
        folders.add(folder);
      }
    }
  };

  const remove = async (path: RawPath): Promise<void> => {
    await unlink(hostPath(tree, path));
    placed.delete(path);
    for (let up = parentPath(path); up !== ''; up = parentPath(up)) {
      const emptied = await rmdir(hostPath(tree, up)).then(
        () => true,
        () => false,
      );
      if (!emptied) break;
      folders.delete(up);
    }
  };

  const place = async (entry: TreeEntry): Promise<void> => {
    const from = hostPath(workspace, entry.path);
    const to = hostPath(tree, entry.path);
    if (placed.delete(entry.path)) await unlink(to);
    try {
      if (entry.kind === 'link') {
        await symlink(await readlink(from, { encoding: 'buffer' }), to);
        await lutimes(to, entry.mtime, entry.mtime);
      } else if (!(await linkFromParent(parent, entry, to))) {
        await copyFile(from, to, constants.COPYFILE_FICLONE);
        const mode = entry.executable ? 0o755 : 0o644;
        if ((Number.parseInt(entry.stamp, 10) & 0o7777) !== mode) await chmod(to, mode);
        await utimes(to, entry.mtime, entry.mtime);
      }
      placed.set(entry.path, entry);
      skipped.delete(entry.path);
    } catch (error) {
      await rm(to, { force: true });
      if (isErrno(error, 'EACCES', 'EPERM', 'EIO')) skipped.set(entry.path, 'cannot be read');
      // Gone or turned into something else meanwhile: the next look at the workspace finds out.
      else if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EINVAL', 'EISDIR', 'ELOOP', 'ENOTSUP'))
        throw error;
    }
  };

  return {
    async sync(entries) {
      try {
        const wanted = new Set(entries.map((entry) => entry.path));
        for (const path of [...placed.keys()]) if (!wanted.has(path)) await remove(path);
        for (const path of [...skipped.keys()]) if (!wanted.has(path)) skipped.delete(path);
        const todo = entries.filter((entry) => placed.get(entry.path)?.stamp !== entry.stamp);
        await makeFolders(todo);
        let done = 0;
        await eachLimited(
          todo,
          WIDTH,
          async (entry) => {
            await place(entry);
            options.onProgress(++done, todo.length);
          },
          signal,
        );
      } catch (error) {
        throw explainFileError(error, fromRawPath(tree));
      }
    },
    placed: () => [...placed.values()],
    skipped: () => [...skipped].map(([path, reason]) => ({ path: fromRawPath(path), reason })),
  };
}

async function linkFromParent(
  parent: ParentTree | undefined,
  entry: TreeEntry,
  to: string | Buffer,
): Promise<boolean> {
  if (parent?.stamps.get(entry.path) !== entry.stamp) return false;
  try {
    await link(hostPath(parent.tree, entry.path), to);
    return true;
  } catch (error) {
    // Too many links, a file system without them, or the parent is being removed: copy.
    if (isErrno(error, 'ENOSPC', 'EDQUOT')) throw error;
    return false;
  }
}
