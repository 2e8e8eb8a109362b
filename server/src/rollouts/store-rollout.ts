import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { checkUpload } from '../ingest/check.ts';
import { type BlobStore, sha256Of, storeBytes } from '../store/blobs.ts';
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
  const entry = await checkUpload(
    {
      type: 'upload.begin',
      encoding: 'gzip',
      ...{ upload: sha256Of(bytes), bytes: bytes.length, attemptId: rollout.attemptId },
      ...{ contentSha256: sha256Of(content), contentBytes: content.length },
    },
    bytes,
    SERVER_CONTRIBUTOR,
  );
  return storeBytes(blobs, incoming, bytes, () => rollouts.complete(rollout, { ...found, entry }));
}
