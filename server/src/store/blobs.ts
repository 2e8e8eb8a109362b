import { type FileHandle, mkdir, readFile, rename, rm } from 'node:fs/promises';
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
  remove(sha256: string): Promise<void>;
}

const NAME = /^[0-9a-f]{64}$/;

export function createBlobStore(folder: string): BlobStore {
  const known = new Set<string>();
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
    remove: (sha256) => rm(pathOf(sha256), { force: true }),
  };
}
