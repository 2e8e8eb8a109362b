import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { computeApply } from '../../../../src/core/snapshot/apply-compute.ts';
import { applyChanges, toLines } from '../../../../src/editor/review/patch/apply.ts';
import { placeChanges } from '../../../../src/editor/review/patch/place.ts';
import { changesOf, patchOf } from '../../../unit/editor/review/patches.ts';

/** Mostly different lines, as code has them, with some that come again. */
const lines = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.nat(400).map(String) },
    fc.constantFrom('}', '', '  return;'),
  ),
  { minLength: 12, maxLength: 40 },
);
const splices = fc.array(
  fc.record({
    at: fc.nat(40),
    gone: fc.nat(2),
    added: fc.array(
      fc.nat(999).map((n) => `new ${n}`),
      { maxLength: 3 },
    ),
  }),
  { minLength: 1, maxLength: 2 },
);
type Splice = { readonly at: number; readonly gone: number; readonly added: readonly string[] };
const edited = (base: readonly string[], edits: readonly Splice[]): string[] =>
  edits.reduce(
    (now, { at, gone, added }) => now.toSpliced(at % (now.length + 1), gone, ...added),
    [...base],
  );
const join = (parts: readonly string[], broken: boolean): string =>
  parts.join('\n') + (broken && parts.length > 0 ? '\n' : '');

it('a patch for the end of a file without a last line break does not glue what stands behind it now', async () => {
  const base = ['a', 'b', 'c', 'd', 'e', 'f', '}', 'g', 'h', 'i', '}'];
  const before = base.join('\n');
  const after = base.toSpliced(8, 0, 'new').join('\n');
  const patch = patchOf(before, after).replace(/^index .*\n/m, '');
  const compute = (text: string) =>
    computeApply(
      patch,
      new Map([['a.txt', { mode: '100644' as const, content: Buffer.from(text) }]]),
      { exact: false, signal: undefined },
    );
  const fits = await compute(`z\n${before}`);
  expect(fits.kind === 'computed' && fits.changes.get('a.txt')?.content.toString()).toBe(
    `z\n${after}`,
  );
  expect(await compute(`${before}\nmine`)).toMatchObject({
    kind: 'conflict',
    conflicts: [{ path: 'a.txt' }],
  });
});

it('comes to what git apply comes to, wherever the place is clear', async () => {
  let compared = 0;
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(
      lines,
      splices,
      splices,
      fc.boolean(),
      fc.boolean(),
      async (base, fix, user, broken, other) => {
        const before = join(base, broken);
        const after = join(edited(base, fix), other);
        const now = join(edited(base, user), broken);
        fc.pre(before !== after);
        const patch = patchOf(before, after).replace(/^index .*\n/m, '');
        const current = new Map([
          ['a.txt', { mode: '100644' as const, content: Buffer.from(now) }],
        ]);
        const git = await computeApply(patch, current, { exact: false, signal: undefined });
        // Not told what the text was before: what is found is found once only.
        const changes = changesOf(before, after);
        const places = placeChanges(changes, toLines(now), undefined);
        const placed = changes.flatMap((change, index) => {
          const place = places[index];
          return place?.kind === 'found' ? [{ change, at: place.at }] : [];
        });
        if (placed.length < changes.length || git.kind !== 'computed') return;
        const result = applyChanges(toLines(now), placed).join('\n');
        const blob = git.changes.get('a.txt');
        expect(result).toBe(blob ? blob.content.toString('utf8') : now);
        compared += 1;
        if (now !== before) moved += 1;
      },
    ),
    { numRuns: 80 },
  );
  expect(compared).toBeGreaterThan(10);
  expect(moved).toBeGreaterThan(8);
});
