import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  HeadAndTail,
  StreamReplacer,
  WordFinder,
} from '../../../../src/core/sandbox/supervisor/output.ts';

/** Bytes of a small alphabet, so that words nearly match all the time, in chunks of any size. */
const chunks = fc.array(
  fc.array(fc.constantFrom(97, 98, 99), { maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
  { maxLength: 12 },
);

describe('HeadAndTail', () => {
  test('keeps both ends and counts the rest, however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 120 }),
        fc.integer({ min: 0, max: 500 }),
        (parts, limit) => {
          const kept = new HeadAndTail(limit);
          for (const part of parts) kept.push(part);
          const all = Buffer.concat(parts);
          const { head, tail, omittedBytes } = kept.result();
          if (all.length <= limit) {
            expect(Buffer.from(head).equals(all)).toBe(true);
            expect([tail.length, omittedBytes]).toEqual([0, 0]);
            return;
          }
          expect(head.length).toBe(Math.floor(limit / 2));
          expect(head.length + tail.length).toBe(limit);
          expect(omittedBytes).toBe(all.length - limit);
          expect(Buffer.from(head).equals(all.subarray(0, head.length))).toBe(true);
          expect(Buffer.from(tail).equals(all.subarray(all.length - tail.length))).toBe(true);
        },
      ),
    );
  });

  test('does not keep the buffers it was given', () => {
    const kept = new HeadAndTail(10);
    const chunk = Buffer.from('abc');
    kept.push(chunk);
    chunk.fill(120);
    expect(Buffer.from(kept.result().head).toString()).toBe('abc');
  });
});

describe('WordFinder', () => {
  test('splits a stream at the first occurrence of the word, across chunks', () => {
    fc.assert(
      fc.property(chunks, fc.constantFrom('abc', 'aab', 'abab', 'a'), (parts, word) => {
        const finder = new WordFinder(word);
        const before: Buffer[] = [];
        const after: Buffer[] = [];
        let found = false;
        for (const part of parts) {
          if (found) {
            after.push(part);
            continue;
          }
          const result = finder.push(part);
          before.push(result.before);
          if (result.after !== undefined) {
            found = true;
            after.push(result.after);
          }
        }
        if (!found) before.push(finder.rest());
        const all = Buffer.concat(parts).toString();
        const at = all.indexOf(word);
        expect(found).toBe(at >= 0);
        expect(Buffer.concat(before).toString()).toBe(at >= 0 ? all.slice(0, at) : all);
        expect(Buffer.concat(after).toString()).toBe(at >= 0 ? all.slice(at + word.length) : '');
      }),
    );
  });

  test('passes on at once what cannot be part of the word', () => {
    expect(new WordFinder('xyz').push(Buffer.from('abcx')).before.toString()).toBe('abc');
  });
});

describe('StreamReplacer', () => {
  test('is the same as replacing in the whole', () => {
    fc.assert(
      fc.property(chunks, fc.constantFrom('abc', 'aab', 'abab'), (parts, from) => {
        const replacer = new StreamReplacer([[from, '<to>']]);
        const out = Buffer.concat([...parts.map((part) => replacer.push(part)), replacer.end()]);
        expect(out.toString()).toBe(Buffer.concat(parts).toString().replaceAll(from, '<to>'));
      }),
    );
  });

  test('several words', () => {
    const replacer = new StreamReplacer([
      ['/a/work', '/workspace'],
      ['/a/tools', '/opt/prime'],
    ]);
    const out = ['x /a/wo', 'rk/y /a', '/tools/z /a/other'].map((part) =>
      replacer.push(Buffer.from(part)),
    );
    expect(Buffer.concat([...out, replacer.end()]).toString()).toBe(
      'x /workspace/y /opt/prime/z /a/other',
    );
  });
});
