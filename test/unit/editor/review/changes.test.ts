import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyChanges,
  editsOf,
  type LineEdit,
  referenceOf,
  toLines,
} from '../../../../src/editor/review/patch/apply.ts';
import { readContent } from '../../../../src/editor/review/patch/changes.ts';
import { placeChanges } from '../../../../src/editor/review/patch/place.ts';
import { changesOf, partOf, patchOf, texts } from './patches.ts';

const header = (name: string, more: string) => `diff --git a/${name} b/${name}\n${more}`;
const INDEX = `${'1'.repeat(40)}..${'2'.repeat(40)}`;

/** Edits of a document: all ranges are meant in the text before any of them. */
function edited(lines: readonly string[], edits: readonly LineEdit[]): string {
  const text = lines.join('\n');
  const starts = lines.map((_, index) =>
    lines.slice(0, index).reduce((sum, line) => sum + line.length + 1, 0),
  );
  const offset = ({ line, character }: LineEdit['from']) =>
    (starts[line] ?? Number.NaN) + character;
  let result = '';
  let done = 0;
  for (const edit of edits) {
    expect(offset(edit.from)).toBeGreaterThanOrEqual(done);
    expect(offset(edit.to)).toBeLessThanOrEqual(text.length);
    result += text.slice(done, offset(edit.from)) + edit.text;
    done = offset(edit.to);
  }
  return result + text.slice(done);
}

describe('changes of a patch', () => {
  it('are contiguous, with the unchanged lines around them', () => {
    const before = 'a\nb\nc\nd\ne\nf\n';
    expect(changesOf(before, 'a\nB\nc\nd\nE\nf\n')).toEqual([
      { at: 0, before: ['a'], removed: ['b'], added: ['B'], after: ['c', 'd'], toEnd: false },
      { at: 2, before: ['c', 'd'], removed: ['e'], added: ['E'], after: ['f'], toEnd: false },
    ]);
  });

  it('keep a missing last line break, and a change of it', () => {
    expect(changesOf('a\nb', 'a\nb\n')).toMatchObject([
      { removed: ['b'], added: ['b', ''], toEnd: true },
    ]);
    expect(changesOf('a\nb\n', 'a\nb')).toMatchObject([
      { removed: ['b', ''], added: ['b'], toEnd: true },
    ]);
    expect(changesOf('a\nb', 'A\nb')).toMatchObject([
      { removed: ['a'], after: ['b'], toEnd: false },
    ]);
  });

  it('have lines without their endings, where these are all the same', () => {
    expect(changesOf('a\r\nb\r\n', 'a\r\nc\r\n')).toMatchObject([{ removed: ['b'], added: ['c'] }]);
    const other = partOf(patchOf('a\r\nb\r\n', 'a\nb\r\n'));
    expect(readContent(other)).toEqual({ kind: 'whole', reason: 'line-endings' });
    const lone = partOf(patchOf('a\rb\nc\n', 'a\rb\nd\n'));
    expect(readContent(lone)).toEqual({ kind: 'whole', reason: 'line-endings' });
  });

  it('leave a byte order mark to the editor', () => {
    expect(changesOf('\ufeffa\nb\n', '\ufeffa\nc\n')).toMatchObject([{ before: ['a'] }]);
    const gone = partOf(patchOf('\ufeffa\nb\n', 'a\nb\n'));
    expect(readContent(gone)).toEqual({ kind: 'whole', reason: 'encoding' });
  });

  it.each([
    ['added', `new file mode 100644\nindex ${INDEX}\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n`],
    [
      'deleted',
      `deleted file mode 100644\nindex ${INDEX}\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n`,
    ],
    ['binary', `index ${INDEX} 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n`],
    ['renamed', 'similarity index 100%\nrename from x\nrename to y\n'],
    ['mode', 'old mode 100644\nnew mode 100755\n'],
    [
      'link',
      `index ${INDEX} 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n`,
    ],
    ['unreadable', `index ${INDEX} 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n`],
  ])('of a file that is %s are taken as a whole', (reason, more) => {
    expect(readContent(partOf(header('x', more)))).toEqual({ kind: 'whole', reason });
  });

  it('are not misled by lines that look like headers', () => {
    expect(
      changesOf('-- x\n--- a\n+++ b\n@@ -1 +1 @@\n', '-- y\n--- a\n+++ c\n@@ -1 +1 @@\n'),
    ).toMatchObject([
      { removed: ['-- x'], added: ['-- y'] },
      { removed: ['+++ b'], added: ['+++ c'] },
    ]);
  });
});

describe('placing changes', () => {
  it('makes the new text of the old one, whatever the texts are', () => {
    for (const ending of ['\n', '\r\n'] as const) {
      fc.assert(
        fc.property(texts(ending), texts(ending), (before, after) => {
          fc.pre(before !== after);
          const base = toLines(before);
          const changes = changesOf(before, after);
          const places = placeChanges(changes, base, referenceOf(base, changes, new Set()));
          const placed = changes.map((change, index) => {
            const place = places[index];
            if (place?.kind !== 'found')
              throw new Error(`change ${index}: ${JSON.stringify(place)}`);
            return { change, at: place.at };
          });
          expect(applyChanges(base, placed)).toEqual(toLines(after));
          expect(edited(base, editsOf(base, placed))).toBe(toLines(after).join('\n'));
        }),
        { numRuns: 500 },
      );
    }
  });

  it('comes to the same text in any order, one change after the other', () => {
    fc.assert(
      fc.property(texts(), texts(), fc.infiniteStream(fc.nat()), (before, after, numbers) => {
        fc.pre(before !== after);
        const base = toLines(before);
        const changes = changesOf(before, after);
        const open = [...changes];
        const taken = new Set<(typeof changes)[number]>();
        let lines: readonly string[] = base;
        while (open.length > 0) {
          const index = numbers.next().value % open.length;
          const [change] = open.splice(index, 1);
          if (!change) continue;
          const places = placeChanges([change], lines, referenceOf(base, changes, taken));
          const [place] = places;
          if (place?.kind !== 'found') throw new Error(JSON.stringify({ place, change, lines }));
          lines = applyChanges(lines, [{ change, at: place.at }]);
          taken.add(change);
        }
        expect(lines).toEqual(toLines(after));
      }),
      { numRuns: 300 },
    );
  });

  it('keeps every line that somebody else has written meanwhile', () => {
    const unique = fc.uniqueArray(
      fc.integer({ min: 0, max: 999 }).map((n) => `line ${n}`),
      {
        minLength: 12,
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(
        unique,
        fc.nat(),
        fc.nat(),
        fc.array(fc.constantFrom('x', 'y', ''), { minLength: 1 }),
        (base, a, b, typed) => {
          const target = a % base.length;
          const after = base.with(target, 'changed');
          const at = b % (base.length + 1);
          const now = base.toSpliced(at, 0, ...typed);
          const changes = changesOf(base.join('\n'), after.join('\n'));
          const [place] = placeChanges(changes, now, referenceOf(base, changes, new Set()));
          const near = at > target - 3 && at <= target + 3;
          if (place?.kind === 'conflict') {
            expect(near).toBe(true);
            return;
          }
          const [change] = changes;
          if (!change || place?.kind !== 'found') throw new Error('no place');
          const expected = after.toSpliced(at, 0, ...typed);
          expect(applyChanges(now, [{ change, at: place.at }])).toEqual(expected);
        },
      ),
    );
  });

  const twins = 'start\n{\n  x\n}\nmiddle\n{\n  x\n}\nend\n';
  // Without the lines around it a change like this could go to either place.
  const bare = { at: 6, before: [], removed: ['  x'], added: ['  y'], after: ['}'], toEnd: false };

  it('tells twins apart by what is before or behind them', () => {
    const base = toLines(twins);
    const reference = referenceOf(base, [bare], new Set());
    const place = (text: string) => placeChanges([bare], toLines(text), reference)[0];
    expect(place(twins)).toEqual({ kind: 'found', at: 6 });
    expect(place(`new\n${twins}`)).toEqual({ kind: 'found', at: 7 });
    expect(place(`${twins}new\n`)).toEqual({ kind: 'found', at: 6 });
  });

  it('is a conflict where a twin could be meant', () => {
    const base = toLines(twins);
    const reference = referenceOf(base, [bare], new Set());
    // The one that is meant was edited; its twin must not be changed in its stead.
    const lines = toLines(twins.replace('middle\n{\n  x', 'middle\n{\n  z'));
    expect(placeChanges([bare], lines, reference)).toEqual([
      { kind: 'conflict', reason: 'ambiguous' },
    ]);
    expect(placeChanges([bare], base, undefined)).toEqual([
      { kind: 'conflict', reason: 'ambiguous' },
    ]);
    // A copy was put in just before it: either could be the old one.
    const copied = toLines('p\nx\nx\ns');
    const one = { ...bare, at: 1, removed: ['x'], after: [] };
    expect(placeChanges([one], copied, referenceOf(['p', 'x', 's'], [one], new Set()))).toEqual([
      { kind: 'conflict', reason: 'ambiguous' },
    ]);
  });

  it('says whether its lines are there already, or are not what they were', () => {
    const changes = changesOf('a\nb\nc\n', 'a\nB\nc\n');
    expect(placeChanges(changes, toLines('a\nB\nc\n'), undefined)).toEqual([{ kind: 'present' }]);
    expect(placeChanges(changes, toLines('a\nx\nc\n'), undefined)).toEqual([
      { kind: 'conflict', reason: 'changed' },
    ]);
  });
});
