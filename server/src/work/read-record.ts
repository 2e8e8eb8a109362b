import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { MAX_CONTENT_BYTES } from '../../../src/core/protocol/limits.ts';
import { isErrno } from '../../../src/core/snapshot/errors.ts';
import { parseTrajectories } from '../../../src/core/trajectories/reader.ts';
import type { EndLine, HeaderLine } from '../../../src/core/trajectories/schema.ts';
import type { BlobStore } from '../store/blobs.ts';

const unpack = promisify(gunzip);

export interface StoredRecord {
  readonly header: HeaderLine;
  readonly end: EndLine;
}

/**
 * A stored trajectory, which was checked when it came; or why it cannot be read any more. One that cannot must
 * not hold up what comes behind it.
 */
export async function readRecord(
  blobs: BlobStore,
  blob: string,
): Promise<StoredRecord | { readonly lost: string }> {
  let bytes: Buffer;
  try {
    bytes = await blobs.read(blob);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return { lost: 'gone' };
    throw error;
  }
  try {
    const content = await unpack(bytes, { maxOutputLength: MAX_CONTENT_BYTES });
    const [record] = parseTrajectories(content.toString('utf8'), blob);
    if (record?.end) return { header: record.header, end: record.end };
    return { lost: 'damaged: it has no end' };
  } catch (error) {
    return { lost: `damaged: ${error instanceof Error ? error.message : String(error)}` };
  }
}
