import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { touchedPaths } from '../../../src/core/snapshot/apply-compute.ts';
import { parsePatch } from '../../../src/core/snapshot/patch-format.ts';

const ZERO = '0'.repeat(40);
const HASH = 'a'.repeat(40);

function modified(path: string, body: string): string {
  return `diff --git a/${path} b/${path}\nindex ${HASH}..${'b'.repeat(40)} 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n${body}`;
}

describe('parsePatch', () => {
  test('tells added, deleted, changed and binary files apart', () => {
    const patch = [
      modified('src/a.js', '-a\n+b\n'),
      `diff --git a/new.js b/new.js\nnew file mode 100755\nindex ${ZERO}..${HASH}\n--- /dev/null\n+++ b/new.js\n@@ -0,0 +1 @@\n+x\n`,
      `diff --git a/old.js b/old.js\ndeleted file mode 100644\nindex ${HASH}..${ZERO}\n--- a/old.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`,
      `diff --git a/x.bin b/x.bin\nindex ${HASH}..${HASH} 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n`,
      'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n',
    ].join('');
    const parts = parsePatch(patch);
    expect(parts.map(({ path, status, binary }) => [path, status, binary])).toEqual([
      ['src/a.js', 'modified', false],
      ['new.js', 'added', false],
      ['old.js', 'deleted', false],
      ['x.bin', 'modified', true],
      ['run.sh', 'modified', false],
    ]);
    expect(parts[0]?.oldBlob).toBe(HASH);
    expect(parts.map((part) => part.patch).join('')).toBe(patch);
  });

  test('a file that becomes a link is one part', () => {
    const patch = `diff --git a/l b/l\ndeleted file mode 100644\nindex ${HASH}..${ZERO}\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/l b/l\nnew file mode 120000\nindex ${ZERO}..${HASH}\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n`;
    const parts = parsePatch(patch);
    expect(parts.map(({ path, status }) => [path, status])).toEqual([['l', 'modified']]);
    expect(parts[0]?.patch).toBe(patch);
  });

  test('names both files of a rename of other origin', () => {
    const [part] = parsePatch(
      'diff --git a/x y b/z w\nsimilarity index 100%\nrename from x y\nrename to z w\n',
    );
    expect(part).toMatchObject({ path: 'z w', touches: ['x y', 'z w'] });
  });

  test('reads quoted names, bytes included', () => {
    const [part] = parsePatch(
      'diff --git "a/t\\303\\244b\\t\\"\\\\\\377" "b/t\\303\\244b\\t\\"\\\\\\377"\nnew file mode 100644\n',
    );
    expect(part?.touches).toEqual(['t\xc3\xa4b\t"\\\xff']);
    expect(part?.path).toBe('täb\t"\\\ufffd');
  });

  test('takes no line inside of a file for the beginning of another', () => {
    const tricky = [
      'diff --git a/z b/z',
      '\rdiff --git a/z b/z',
      '\u2028diff --git a/z b/z',
      'GIT binary patch',
      'new file mode 100644',
      'rename to evil',
    ];
    const body = tricky.map((line) => `+${line}\n`).join('');
    const parts = parsePatch(modified('a.txt', body) + modified('b.txt', body));
    expect(parts.map(({ path, status, binary }) => [path, status, binary])).toEqual([
      ['a.txt', 'modified', false],
      ['b.txt', 'modified', false],
    ]);
  });

  test('joins to the whole again, whatever is in the lines', () => {
    const line = fc.string({ unit: 'binary' }).map((text) => `+${text.replaceAll('\n', '')}\n`);
    const name = fc.stringMatching(/^[a-z][a-z ./]{0,8}[a-z]$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, fc.array(line)), { selector: ([path]) => path }),
        (files) => {
          const patch = files.map(([path, lines]) => modified(path, lines.join(''))).join('');
          const parts = parsePatch(patch);
          expect(parts.map((part) => part.path)).toEqual(files.map(([path]) => path));
          expect(parts.map((part) => part.patch).join('')).toBe(patch);
        },
      ),
    );
  });

  test('never throws on anything', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => void parsePatch(`diff --git ${text}`)),
    );
  });
});

describe('touchedPaths', () => {
  test.each([
    '../x',
    '/x',
    'a/../../x',
    '.git/config',
    'sub/.Git/hooks/post-checkout',
    'a//b',
    './a',
    '',
  ])('refuses %j', (path) => {
    const patch = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n`;
    expect(touchedPaths(patch)).toMatchObject({ kind: 'malformed' });
  });

  test('refuses a rename out of the workspace', () => {
    expect(touchedPaths('diff --git a/a b/../b\nrename from a\nrename to ../b\n').kind).toBe(
      'malformed',
    );
  });

  test('is about git patches only', () => {
    expect(touchedPaths('--- a\n+++ b\n')).toMatchObject({
      kind: 'malformed',
      reason: expect.stringContaining('diff --git'),
    });
  });
});
