import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { checkUpload, sha256 } from '../ingest/check.ts';
import type { BlobStore } from '../store/blobs.ts';
import {
  type DoneRollout,
  type LeasedRollout,
  type RolloutTable,
  SERVER_CONTRIBUTOR,
} from '../store/rollouts.ts';

const pack = promisify(gzip);

export interface RolloutStore {
  readonly blobs: BlobStore;
  readonly rollouts: RolloutTable;
  /** Folder for files that are on their way into the store. */
  readonly incoming: string;
}

/**
 * Keeps the record of a rollout like an upload: content, name and entry reach the disk in that order.
 * False where another has made it. Rejects with `ProtocolError` where the record must not be kept.
 */
export async function storeRollout(
  rollout: LeasedRollout,
  record: string,
  found: Omit<DoneRollout, 'entry'>,
  { blobs, rollouts, incoming }: RolloutStore,
): Promise<boolean> {
  const content = await readFile(record);
  const bytes = await pack(content);
  const upload = sha256(bytes);
  const entry = await checkUpload(
    {
      type: 'upload.begin',
      encoding: 'gzip',
      ...{ upload, bytes: bytes.length, attemptId: rollout.attemptId },
      ...{ contentSha256: sha256(content), contentBytes: content.length },
    },
    bytes,
    SERVER_CONTRIBUTOR,
  );
  // A sweep must not take what has its name and not yet its entry.
  const release = blobs.hold(upload);
  const path = join(incoming, rollout.lease);
  try {
    await keep(path, bytes, upload, blobs);
    return rollouts.complete(rollout, { ...found, entry });
  } finally {
    release();
  }
}

async function keep(path: string, bytes: Buffer, upload: string, blobs: BlobStore): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await blobs.adopt(file, path, upload);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
