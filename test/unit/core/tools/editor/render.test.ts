import { describe, expect, it } from 'vitest';
import { findNearMiss } from '../../../../../src/core/tools/editor/nearest.ts';
import {
  renderEdited,
  renderFolder,
  renderView,
} from '../../../../../src/core/tools/editor/render.ts';
import { observationSamples } from '../../../../../src/core/tools/editor/samples.ts';

const path = '/workspace/a';
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');

describe('renderView', () => {
  it('numbers lines like cat -n', () => {
    expect(renderView(path, 'a\n\tb\n\n', undefined).text).toBe('     1\ta\n     2\t\tb\n     3\t');
  });

  it('cuts a long file at a line border and says how to go on', () => {
    const { text } = renderView(path, lines(1, 5_000), undefined);
    expect(text.length).toBeLessThan(16_200);
    const note =
      /\[lines 1-(\d+) of 5000; to see more, view with view_range \[(\d+), (\d+)\]\]$/.exec(text);
    expect(Number(note?.[2])).toBe(Number(note?.[1]) + 1);
    expect(text.split('\n')).toHaveLength(Number(note?.[1]) + 1);
  });

  it('cuts very long lines and says by how much, never inside a character', () => {
    expect(renderView(path, `${'x'.repeat(5_000)}\n`, undefined).text).toBe(
      `     1\t${'x'.repeat(1_000)} [… 4,000 more characters …]`,
    );
    expect(renderView(path, `x${'😀'.repeat(600)}`, undefined).text).not.toMatch(/\p{Cs}/u);
  });

  it('shows a range, to the end with -1, and takes an end beyond the file', () => {
    expect(renderView(path, lines(1, 4), [3, -1]).text).toBe('     3\tline 3\n     4\tline 4');
    expect(renderView(path, lines(1, 4), [4, 9]).text).toBe(
      '     4\tline 4\n[the file ends at line 4]',
    );
  });
});

describe('renderEdited', () => {
  it('shows two lines on each side', () => {
    const { text } = renderEdited(path, lines(1, 20), { firstLine: 10, lastLine: 11 });
    expect(text.split('\n').map((line) => line.trim().split('\t')[0])).toEqual([
      'Edited /workspace/a:',
      ...['8', '9', '10', '11', '12', '13'],
    ]);
  });

  it('cuts the middle of a large change', () => {
    const { text } = renderEdited(path, lines(1, 2_000), { firstLine: 1, lastLine: 2_000 });
    expect(text.length).toBeLessThan(4_200);
    expect(text).toMatch(/\n\[… [\d,]+ lines left out …\]\n/);
    expect(text.endsWith('line 2000')).toBe(true);
  });
});

describe('renderFolder', () => {
  it('leaves out what a full folder and dependencies would flood it with', () => {
    const many = Array.from({ length: 50 }, (_, index) => ({
      path: `src/${index}.js`,
      kind: 'file' as const,
    }));
    const text = renderFolder(
      path,
      [
        { path: 'node_modules', kind: 'directory' },
        { path: 'node_modules/x', kind: 'directory' },
        { path: 'src', kind: 'directory' },
        ...many,
        { path: 'z\n.js', kind: 'file' },
      ],
      false,
    );
    const shown = text.split('\n');
    expect(shown.slice(0, 4)).toEqual([
      '/workspace/a:',
      'node_modules/ (not listed)',
      'src/',
      'src/0.js',
    ]);
    expect(shown.slice(-2)).toEqual(['"z\\n.js"', '[… 20 entries left out; view a subfolder …]']);
  });
});

describe('findNearMiss', () => {
  const file = 'function f(a) {\n    if (a > 1) {\n\treturn total(a);\n    }\n}\n';
  it.each([
    [
      'other indentation',
      'if (a > 1) {\n  return total(a);',
      { kind: 'white-space', first: 2, last: 3 },
    ],
    ['other blanks', 'function f( a )', { kind: 'white-space', first: 1, last: 1 }],
    ['line numbers', '     2\t    if (a > 1) {', { kind: 'line-numbers' }],
    ['escapes', 'f(a) {\\n    if', { kind: 'escaped' }],
    [
      'a few wrong lines',
      'if (a > 1) {\nreturn sum(a);\n}',
      { kind: 'similar', first: 2, last: 4 },
    ],
    ['a wrong word', 'return total(b);', { kind: 'similar', first: 3, last: 3 }],
    ['something else', 'class Unrelated:', { kind: 'nothing' }],
    ['white space alone', '\n\n\n', { kind: 'nothing' }],
  ])('sees %s', (_, old, near) => {
    expect(findNearMiss(file, old, 'zzz')).toEqual(near);
  });

  it('sees that the change is there already', () => {
    expect(findNearMiss(file, 'return sum(x)', 'return total(a)')).toEqual({
      kind: 'already',
      line: 3,
    });
  });
});

it('has a sample of every template', () => {
  expect(observationSamples()).toMatchInlineSnapshot(`
    {
      "already": "old_str did not appear verbatim in /workspace/src/a.js. Nothing was changed. new_str is in the file already, at line 4.",
      "binary": "/workspace/src/a.js is a binary file; this tool works on text only.",
      "changedSince": "/workspace/src/a.js was changed by something else since its last edit, and an undo would lose that. Nothing was changed. Edit it, or use git diff and git checkout in bash.",
      "created": "Created /workspace/src/a.js (7 lines).",
      "dangling": "/workspace/src/a.js is a symbolic link whose target does not exist.",
      "edited": "Edited /workspace/src/a.js:
         4	four
         5	five
         6	six
         7	seven",
      "editedCut": "Edited /workspace/src/a.js:
         1	one
    [… 5 lines left out …]
         7	seve [… 1 more characters …]",
      "editedEmpty": "Edited /workspace/src/a.js: it is empty now.",
      "emptyOld": "old_str is empty. Give the text to replace, or use insert.",
      "emptyText": "insert_text is empty. For an empty line, give a line break.",
      "escaped": "old_str did not appear verbatim in /workspace/src/a.js. Nothing was changed. It has \\n, \\t or \\" as two characters; write the character itself.",
      "exists": "/workspace/src/a.js exists already, and create does not overwrite. Use str_replace or insert.",
      "folder": "/workspace:
    node_modules/ (not listed)
    src/
    src/a.js
    link (symbolic link)",
      "folderCut": "/workspace:
    node_modules/ (not listed)
    src/
    src/a.js
    link (symbolic link)
    [… more entries left out; view a subfolder …]",
      "folderEmpty": "/workspace:
    (no visible entries)",
      "folderWithRange": "/workspace/src/a.js is a folder: view it without view_range.",
      "identical": "old_str and new_str are the same. Nothing was changed.",
      "ignoredNote": "[git ignores this file: the change will not be part of the patch]",
      "isFolder": "/workspace/src/a.js is a folder; insert needs a file.",
      "leadsOutside": "/workspace/src/a.js leads outside /workspace through a symbolic link.",
      "lineNumbers": "old_str did not appear verbatim in /workspace/src/a.js. Nothing was changed. Leave out the line numbers that view puts in front of each line.",
      "loneSurrogate": "The new text has half a surrogate pair in it (\\ud800 to \\udfff). Nothing was changed.",
      "missing": "/workspace/src/a.js does not exist.",
      "missingWithNames": "/workspace/src/a.js does not exist. Maybe you meant /workspace/src/b.js.",
      "notAFile": "/workspace/src/a.js is not a regular file.",
      "notFound": "old_str did not appear verbatim in /workspace/src/a.js. Nothing was changed. View the file and copy the text exactly.",
      "notInEncoding": "/workspace/src/a.js is written in Latin-1, which lacks characters of the new text. Nothing was changed. Use other characters or an escape of the language.",
      "nothingToUndo": "There is no edit of /workspace/src/a.js to undo.",
      "onlyLineEnds": "old_str and new_str differ in line ends only, and those follow the file. Nothing was changed. Use bash to change line ends.",
      "outOfRange": "insert_line is out of range: /workspace/src/a.js has 7 lines, so it must be from 0 to 7.",
      "overlapping": "old_str occurs more than 2 times, overlapping in /workspace/src/a.js (lines 2, …). Nothing was changed. Add lines around it until it is unique.",
      "parentIsFile": "/workspace/src/a.js cannot exist: /workspace/src is a file, not a folder.",
      "pathEmpty": "The path is empty. Give an absolute path like /workspace/…",
      "pathOutside": "/etc is outside /workspace. Only paths inside it can be used here.",
      "pathRelative": "The path src/a.js is not absolute. Maybe you meant /workspace/src/a.js?",
      "pathWithNul": "The path has a NUL character in it.",
      "permission": "Permission denied: /workspace/src/a.js (see ls -l; it or its folder may be read-only).",
      "rangeBackwards": "view_range [3, 2] is wrong: it ends before it starts. /workspace/src/a.js has 7 lines.",
      "rangeBeyond": "view_range [9, -1] is out of range. /workspace/src/a.js has 7 lines.",
      "rangeFromZero": "view_range [0, 2] is wrong: lines are counted from 1. /workspace/src/a.js has 7 lines.",
      "several": "old_str occurs 2 times in /workspace/src/a.js (lines 2, 5). Nothing was changed. Add lines around it until it is unique.",
      "similar": "old_str did not appear verbatim in /workspace/src/a.js. Nothing was changed. The nearest text is at line 2:
         2	two",
      "textTooLarge": "The text is too large for this tool: the limit is 1,000 bytes.",
      "tooLarge": "/workspace/src/a.js is too large for this tool: 9,000,000 bytes, the limit is 8,000,000. Use bash (head, sed -n, grep).",
      "undone": "Undid the last edit of /workspace/src/a.js.",
      "undoneCreation": "Undid the creation of /workspace/src/a.js: removed it.",
      "undoneCreationAndFolder": "Undid the creation of /workspace/src/a.js: removed it and 1 empty folder made for it.",
      "undoneWithMore": "Undid the last edit of /workspace/src/a.js (2 earlier edits left).",
      "view": "     1	one
         2	two
         3	three
         4	four
         5	five
         6	six
         7	seven",
      "viewCut": "     1	one
         2	two
    [lines 1-2 of 7; to see more, view with view_range [3, 4]]",
      "viewEmpty": "(/workspace/src/a.js is empty)",
      "viewRange": "     2	two
         3	three
         4	four
         5	five
         6	six
         7	seven
    [the file ends at line 7]",
      "whiteSpace": "old_str did not appear verbatim in /workspace/src/a.js. Nothing was changed. Only white space differs from lines 2-3:
         2	two
         3	three",
    }
  `);
});
