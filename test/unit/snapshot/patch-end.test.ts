import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endsWhereItSays } from '../../../src/core/snapshot/patch-end.ts';
import { patchOf, texts } from '../editor/review/patches.ts';

const ends = (patch: string, text: string) => endsWhereItSays(patch, Buffer.from(text));

test('what a patch comes to ends as it says, whatever the texts', () => {
  fc.assert(
    fc.property(texts(), texts(), (before, after) => {
      fc.pre(before !== after);
      expect(ends(patchOf(before, after), after)).toBe(true);
    }),
  );
});

test('a line that was glued to the last one, or put behind it, is seen', () => {
  const patch = patchOf('a\n}', 'a\nnew\n}');
  expect(ends(patch, 'a\nnew\n}')).toBe(true);
  expect(ends(patch, 'a\nnew\n}mine')).toBe(false);
  expect(ends(patch, 'a\nnew\n}\nmine')).toBe(false);
  expect(ends(patch, 'za\nnew\n}')).toBe(false);
});

test('a patch that says nothing about the end fits anywhere', () => {
  expect(ends(patchOf('a\nb\n', 'a\nc\n'), 'a\nc\nmine')).toBe(true);
});
