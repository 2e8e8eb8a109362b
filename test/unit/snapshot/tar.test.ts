import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTar, type TarEntry, writeTar } from '../../../src/core/snapshot/tar.ts';

const bytes = fc.uint8Array({ maxLength: 1500 }).map((array) => Buffer.from(array));
const part = fc
  .uint8Array({ minLength: 1, maxLength: 150 })
  .map((array) => Buffer.from(array).toString('latin1').replace(/[\0/]/g, '_'))
  .filter((name) => name !== '.' && name !== '..');
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const entry: fc.Arbitrary<TarEntry> = fc.oneof(
  fc.record({
    path,
    kind: fc.constant('file' as const),
    mode: fc.constantFrom(0o644, 0o755),
    content: bytes,
  }),
  fc.record({
    path,
    kind: fc.constant('link' as const),
    mode: fc.constant(0o777),
    content: path.map((target) => Buffer.from(target, 'latin1')),
  }),
);

test('what is written is read: any bytes in names, targets and files', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
      expect(readTar(writeTar(entries, 1_700_000_000))).toEqual(entries);
    }),
  );
});

test('a cut or damaged archive is an error, never a part of it', () => {
  const whole = writeTar(
    [{ path: 'a', kind: 'file', mode: 0o644, content: Buffer.alloc(2000, 65) }],
    1,
  );
  for (const length of [0, 100, 511, 512, 1024, 2559, 2560, 2600]) {
    expect(() => readTar(whole.subarray(0, length)), String(length)).toThrow('cut off');
  }
  const damaged = Buffer.from(whole);
  damaged[0] = 66;
  expect(() => readTar(damaged)).toThrow('damaged');
});

test('never loops on anything', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), (array) => {
      try {
        readTar(array);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
  );
});
