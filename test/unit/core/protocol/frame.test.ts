import { expect, test } from 'vitest';
import { ProtocolError } from '../../../../src/core/protocol/errors.ts';
import { decodeChunk, encodeChunk } from '../../../../src/core/protocol/frame.ts';
import { MAX_CHUNK_BYTES, MAX_FRAME_BYTES } from '../../../../src/core/protocol/limits.ts';

const upload = 'ab'.repeat(32);

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ProtocolError) return error.code;
    throw error;
  }
  return 'none';
}

test('a chunk reads as it was written', () => {
  const bytes = Buffer.from('hello');
  const chunk = decodeChunk(encodeChunk({ upload, offset: 5_000_000_000, bytes }));
  expect(chunk).toEqual({ upload, offset: 5_000_000_000, bytes });
});

test('the largest chunk fits a frame, a larger one is refused on both sides', () => {
  const largest = encodeChunk({ upload, offset: 0, bytes: Buffer.alloc(MAX_CHUNK_BYTES) });
  expect(largest.length).toBeLessThanOrEqual(MAX_FRAME_BYTES);
  expect(() =>
    encodeChunk({ upload, offset: 0, bytes: Buffer.alloc(MAX_CHUNK_BYTES + 1) }),
  ).toThrow(RangeError);
  expect(codeOf(() => decodeChunk(Buffer.concat([largest, Buffer.alloc(1)])))).toBe('too_large');
});

test('frames that are cut, empty, of another kind or beyond all offsets are refused', () => {
  const frame = encodeChunk({ upload, offset: 1, bytes: Buffer.from('x') });
  expect(codeOf(() => decodeChunk(Buffer.alloc(0)))).toBe('bad_message');
  expect(codeOf(() => decodeChunk(frame.subarray(0, frame.length - 1)))).toBe('bad_message');
  const other = Buffer.from(frame);
  other[0] = 2;
  expect(codeOf(() => decodeChunk(other))).toBe('bad_message');
  const far = Buffer.from(frame);
  far.writeBigUInt64BE(2n ** 63n, 33);
  expect(codeOf(() => decodeChunk(far))).toBe('bad_offset');
});
