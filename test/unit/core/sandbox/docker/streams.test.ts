import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFrameReader } from '../../../../../src/core/sandbox/docker/streams.ts';

function frame(stream: number, bytes: Uint8Array): Buffer {
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

function read(chunks: readonly Buffer[]): readonly [Buffer, Buffer] {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const push = createFrameReader({
    stdout: (bytes) => out.push(Buffer.from(bytes)),
    stderr: (bytes) => err.push(Buffer.from(bytes)),
  });
  for (const chunk of chunks) push(chunk);
  return [Buffer.concat(out), Buffer.concat(err)];
}

describe('frames of an attached container', () => {
  test('every byte arrives at its stream, wherever the frames are cut', () => {
    const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 })));
    fc.assert(
      fc.property(
        frames,
        fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1 }),
        (sent, cuts) => {
          const whole = Buffer.concat(sent.map(([stream, bytes]) => frame(stream, bytes)));
          const chunks: Buffer[] = [];
          for (let at = 0, index = 0; at < whole.length; index++) {
            const length = cuts[index % cuts.length] ?? 1;
            chunks.push(whole.subarray(at, at + length));
            at += length;
          }
          const of = (wanted: number): Buffer =>
            Buffer.concat(sent.filter(([stream]) => stream === wanted).map(([, bytes]) => bytes));
          expect(read(chunks)).toEqual([of(1), of(2)]);
        },
      ),
    );
  });

  test('anything else is an error', () => {
    expect(() => read([Buffer.from('hello, terminal')])).toThrow('no frame of output');
    expect(() => read([frame(3, Buffer.from('x'))])).toThrow('no frame of output');
  });
});
