import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  observationSamples,
  parseMatches,
  renderMatches,
} from '../../../../../src/core/tools/search/render.ts';

describe('parseMatches', () => {
  it('reads what ripgrep, grep and git print', () => {
    expect(parseMatches('./src/a b.js\0' + '3:  x: 1\n./b\0' + '12:\n')).toEqual([
      { path: 'b', line: 12, text: '' },
      { path: 'src/a b.js', line: 3, text: '  x: 1' },
    ]);
    expect(parseMatches('src/a\0' + '3\0x\0y\n')).toEqual([
      { path: 'src/a', line: 3, text: 'x\0y' },
    ]);
  });

  it('reads paths with line breaks and leaves out a cut last entry', () => {
    expect(parseMatches('./a\nb\0' + '1:x\n./c\0' + '4')).toEqual([
      { path: 'a\nb', line: 1, text: 'x' },
    ]);
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseMatches(text)));
  });
});

describe('renderMatches', () => {
  const match = (index: number) => ({ path: `f${index % 3}.js`, line: index, text: 'x' });

  it('bounds the matches and counts the rest', () => {
    const matches = Array.from({ length: 120 }, (_, index) => match(index));
    const shown = renderMatches({ matches, more: false }, 'x').split('\n');
    expect(shown).toHaveLength(51);
    expect(shown.at(-1)).toBe('[… 70 more matches in 3 files; narrow the path or the term …]');
  });

  it('shows the part of a long line where the term is', () => {
    const text = `${'a'.repeat(5_000)}NEEDLE${'b'.repeat(5_000)}`;
    const shown = renderMatches({ matches: [{ path: 'f', line: 1, text }], more: false }, 'NEEDLE');
    expect(shown).toContain('NEEDLE');
    expect(shown.length).toBeLessThan(300);
  });

  it('shows no control characters of the files', () => {
    const matches = [{ path: 'f', line: 1, text: 'a\u001b[31m\tb\r' }];
    expect(renderMatches({ matches, more: false }, 'a')).toBe('f:1: a\ufffd[31m\tb');
  });
});

it('has a sample of every template', () => {
  expect(observationSamples()).toMatchInlineSnapshot(`
    {
      "badPattern": "The search failed: regex parse error",
      "cut": "src/a.js:3:   const total = 1;
    src/a.js:9: [… 26 characters …]xxxx total yyyyyyyyy [… line cut …]
    [… 1 more match in 1 file; narrow the path or the term …]",
      "cutByProgram": "src/a.js:3:   const total = 1;
    [… at least 2 more matches in 2 files; narrow the path or the term …]",
      "emptyTerm": "search_term is empty.",
      "matches": "src/a.js:3:   const total = 1;
    src/a.js:9: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx total yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
    src/b.js:1: total();",
      "missingPath": "/workspace/nowhere does not exist.",
      "noMatch": "No match for "total" in /workspace/src.",
      "nulInTerm": "search_term has a NUL character in it.",
      "oneLine": "[search works line by line; this is for the line "total"]",
      "timedOut": "[the search was ended after 30 s; narrow the path]",
    }
  `);
});
