import { existsSync } from 'node:fs';
import { type DataFolders, openFolders } from '../folders.ts';
import { createFileSweep } from '../retention/files.ts';
import { createBlobStore } from '../store/blobs.ts';
import { type Db, openDatabase } from '../store/database.ts';
import { takeLock } from '../store/lock.ts';
import { createPolicyStore } from '../store/policies.ts';

/** A server's data from outside: beside a server that is running, or without one. */
export interface ServerData {
  readonly folders: DataFolders;
  readonly db: Db;
  /** Removes files that nothing needs any more; false: a server is running, which does it by itself. */
  removeFiles(): Promise<boolean>;
  close(): void;
}

/** The data cannot be used as was asked; the message is for people. */
export class DataError extends Error {
  override readonly name = 'DataError';
}

/** Throws `DataError` where there is no data: looking must not make a folder. */
export function openData(root: string): ServerData {
  const database = `${root}/server.sqlite`;
  if (!existsSync(database)) {
    throw new DataError(
      `${root} holds no data of a training server; name the folder with --data, or the configuration with --config`,
    );
  }
  const folders = openFolders(root);
  const db = openDatabase(folders.database);
  return {
    folders,
    db,
    async removeFiles() {
      const lock = takeLock(folders.lock);
      if (!lock) return false;
      try {
        const blobs = createBlobStore(folders.blobs);
        const trees = createBlobStore(folders.trees);
        await createFileSweep(db, { blobs, trees }).removeDoomed();
        await createPolicyStore(db, folders.policies).sweep();
        return true;
      } finally {
        lock.release();
      }
    },
    close: () => db.close(),
  };
}
