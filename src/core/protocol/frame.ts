import { ProtocolError } from './errors.ts';
import { MAX_CHUNK_BYTES } from './limits.ts';

/**
 * A binary message carries a piece of an upload:
 *
 *     byte 0      1 (kind of frame)
 *     byte 1..32  sha256 that names the upload
 *     byte 33..40 offset of the first byte, unsigned, big endian
 *     byte 41..   the bytes
 */
const KIND = 1;
const HEADER_BYTES = 41;

export interface Chunk {
  /** sha256 in hex. */
  readonly upload: string;
  readonly offset: number;
  readonly bytes: Buffer;
}

export function encodeChunk({ upload, offset, bytes }: Chunk): Buffer {
  if (bytes.length === 0 || bytes.length > MAX_CHUNK_BYTES) {
    throw new RangeError(`a chunk has 1 to ${MAX_CHUNK_BYTES} bytes, not ${bytes.length}`);
  }
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  frame[0] = KIND;
  frame.write(upload, 1, 'hex');
  frame.writeBigUInt64BE(BigInt(offset), 33);
  bytes.copy(frame, HEADER_BYTES);
  return frame;
}

/** Throws `ProtocolError` (bad_message, too_large). The bytes are a view of the frame. */
export function decodeChunk(frame: Buffer): Chunk {
  if (frame.length <= HEADER_BYTES || frame[0] !== KIND) {
    throw new ProtocolError(
      'bad_message',
      `a binary message of ${frame.length} bytes is no piece of an upload: it needs ${HEADER_BYTES} bytes in front, the first of them ${KIND}, and at least one byte of content`,
    );
  }
  if (frame.length - HEADER_BYTES > MAX_CHUNK_BYTES) {
    throw new ProtocolError(
      'too_large',
      `a piece of an upload has ${frame.length - HEADER_BYTES} bytes; ${MAX_CHUNK_BYTES} are allowed`,
    );
  }
  const offset = frame.readBigUInt64BE(33);
  if (offset > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new ProtocolError('bad_offset', `offset ${offset} is beyond any upload`);
  }
  return {
    upload: frame.toString('hex', 1, 33),
    offset: Number(offset),
    bytes: frame.subarray(HEADER_BYTES),
  };
}
