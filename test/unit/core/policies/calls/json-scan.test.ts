import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  describeProblem,
  repairJson,
  scanJson,
} from '../../../../../src/core/policies/calls/json-scan.ts';

describe('scanJson', () => {
  test('finds the end of every valid value inside a longer text', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (json, tail) => {
        const text = `  ${json} ,${tail}`;
        const scan = scanJson(text, 2);
        expect(scan).toMatchObject({ kind: 'value', problems: [] });
        if (scan.kind !== 'value') return;
        expect(JSON.parse(text.slice(2, scan.end))).toEqual(JSON.parse(json));
      }),
    );
  });

  test('accepts exactly what JSON.parse accepts', () => {
    const fragment = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '"a"', '\\', '\\n', '\\u12', '\\ud800', '\n', '\t'],
      ...['1', '01', '-', '1.5e3', '.5', 'true', 'nul', 'null', ' ', '\u0000', '\u2028', 'x'],
    );
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const scan = scanJson(text, 0);
        const accepted =
          scan.kind === 'value' &&
          scan.problems.length === 0 &&
          /^[ \t\n\r]*$/.test(text.slice(scan.end));
        expect(accepted).toBe(parses(text));
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ['{"a": 1', '"," or "}"', true],
    ['{"a" 1}', '":"', false],
    ['{a: 1}', 'a key in double quotes or "}"', false],
    ['["a" "b"]', '"," or "]"', false],
    [
      '{"a": "it\\\'s"}',
      'one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX after a backslash',
      false,
    ],
    ['{"a": "b', '" at the end of the string', true],
    ['{"a": tru', 'a value', true],
    ['{"a": "\\u12', 'one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX after a backslash', true],
  ])('says what is expected in %s', (text, expected, unfinished) => {
    expect(scanJson(text, 0)).toMatchObject({ kind: 'broken', expected, unfinished });
  });

  test('refuses values that are nested too deeply for recursive readers', () => {
    expect(scanJson('['.repeat(100_000), 0)).toMatchObject({
      kind: 'broken',
      expected: 'at most 128 levels of nested values',
    });
  });

  test('repairs raw control characters and trailing commas without touching anything else', () => {
    const text = '{"a": "x\ny\tz\r\u0000 \\n", "b": [1, 2 , ], }';
    const scan = scanJson(text, 0);
    if (scan.kind !== 'value') throw new Error('expected a value');
    expect(scan.problems.map((problem) => describeProblem(text, 0, problem))).toEqual([
      'a string holds a raw line break at line 1, column 9; write it as \\n',
      'a string holds a raw tab at line 2, column 2; write it as \\t',
      'a string holds a raw carriage return at line 2, column 4; write it as \\r',
      'a string holds a raw control character at line 2, column 5; write it as \\u0000',
      'there is a comma before a closing bracket at line 2, column 23; remove it',
      'there is a comma before a closing bracket at line 2, column 26; remove it',
    ]);
    expect(JSON.parse(repairJson(text, 0, scan.end, scan.problems))).toEqual({
      a: 'x\ny\tz\r\u0000 \n',
      b: [1, 2],
    });
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
