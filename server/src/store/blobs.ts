import { createHash, randomUUID } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../src/core/platform/sync-folder.ts';

export interface BlobStore {
  /**
   * Moves a file that is complete and open into the store. When this resolves, first the content and
   * then the name have reached the disk. Its name is the hash alone: nothing that a client chose.
   */
  adopt(file: FileHandle, path: string, sha256: string): Promise<void>;
  pathOf(sha256: string): string;
  read(sha256: string): Promise<Buffer>;
  /** Until it is let go, `removeUnless` leaves it alone: what has no entry yet may get one. */
  hold(sha256: string): () => void;
  /**
   * Removes a file that nobody holds and that is not `needed`, which is asked at that very moment: nothing else of
   * this process runs in between. True where it is gone.
   *
   * @param settledMs leaves alone what was written in the last so many milliseconds
   */
  removeUnless(sha256: string, needed: () => boolean, settledMs?: number): boolean;
  /** Names of what is there, folder by folder. */
  names(): AsyncGenerator<readonly string[], void, undefined>;
}

const NAME = /^[0-9a-f]{64}$/;

/**
 * Stores a content under its hash, like an upload: content, name and entry reach the disk in that order.
 *
 * @param incoming folder for files on their way, of the same file system
 * @param enter makes the entry; until it has, no sweep takes the file
 */
export async function storeBytes<Result>(
  blobs: BlobStore,
  incoming: string,
  content: Uint8Array,
  enter: (sha256: string) => Result,
): Promise<Result> {
  const sha256 = sha256Of(content);
  const path = join(incoming, randomUUID());
  return holding(blobs, sha256, async () => {
    try {
      const file = await open(path, 'wx', 0o600);
      try {
        await file.writeFile(content);
        await blobs.adopt(file, path, sha256);
      } finally {
        await file.close();
      }
      return enter(sha256);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  });
}

/** Between a file's name and its entry nothing else may take it for one that nobody needs. */
export async function holding<Result>(
  blobs: Pick<BlobStore, 'hold'>,
  sha256: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const release = blobs.hold(sha256);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Milliseconds by the clock of files; endless where there is no file. */
function writtenAgo(path: string): number {
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return written === undefined ? Number.POSITIVE_INFINITY : Date.now() - written;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function createBlobStore(folder: string): BlobStore {
  const known = new Set<string>();
  const held = new Map<string, number>();
  const pathOf = (sha256: string): string => {
    if (!NAME.test(sha256)) throw new RangeError(`'${sha256}' is no sha256`);
    return join(folder, sha256.slice(0, 2), sha256);
  };
  return {
    pathOf,
    async adopt(file, path, sha256) {
      const to = pathOf(sha256);
      const parent = join(folder, sha256.slice(0, 2));
      await file.datasync();
      if (!known.has(parent)) {
        await mkdir(parent, { recursive: true, mode: 0o700 });
        await syncFolder(folder);
        known.add(parent);
      }
      await rename(path, to);
      await syncFolder(parent);
    },
    read: (sha256) => readFile(pathOf(sha256)),
    hold(sha256) {
      held.set(sha256, (held.get(sha256) ?? 0) + 1);
      let holding = true;
      return () => {
        if (!holding) return;
        holding = false;
        const left = (held.get(sha256) ?? 1) - 1;
        if (left === 0) held.delete(sha256);
        else held.set(sha256, left);
      };
    },
    removeUnless(sha256, needed, settledMs = 0) {
      if (held.has(sha256) || needed()) return false;
      if (settledMs > 0 && writtenAgo(pathOf(sha256)) < settledMs) return false;
      rmSync(pathOf(sha256), { force: true });
      return true;
    },
    async *names() {
      for (const part of await readdir(folder)) {
        if (!/^[0-9a-f]{2}$/.test(part)) continue;
        const names = await readdir(join(folder, part));
        yield names.filter((name) => NAME.test(name));
      }
    },
  };
}
