import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TestFailure, TestResult } from '../../../../src/core/frameworks/framework.ts';
import { parseRendered } from '../../../../src/core/tools/run-tests/parse-rendered.ts';
import { renderFailures, renderLog } from '../../../../src/core/tools/run-tests/render.ts';
import { observationSamples } from '../../../../src/core/tools/run-tests/samples.ts';

function failed(failure: Partial<TestFailure>, id = 'test/a.test.js::x'): TestResult {
  return {
    id,
    file: id.split('::')[0] ?? id,
    name: 'x',
    status: 'failed',
    durationMs: 3,
    failure: { message: 'm', details: '', ...failure },
  };
}

describe('what a model reads', () => {
  test('each template', () => {
    expect(observationSamples()).toMatchInlineSnapshot(`
      {
        "brokeOff": "1 passed

      The test run broke off: tests that are not listed did not run.

      Last lines of the log:
        ok",
        "cancelled": "The test run was cancelled.",
        "collectionError": "1 file could not be loaded

      ERROR test/cart.test.js
        SyntaxError: Unexpected token '}'
        at src/cart.js:3",
        "crashed": "The tests did not run: pytest cannot be imported

      Last lines of the log:
        first
        last",
        "cut": "FAIL test/cart.test.js::cart > adds tax
        expected: 12
        actual: 10
        at test/cart.test.js:14
        in src/cart.js:33 (total)

      … and 2 more failed",
        "failed": "3 failed, 1 passed

      FAIL test/cart.test.js::cart > adds tax
        expected: 12
        actual: 10
        at test/cart.test.js:14
        in src/cart.js:33 (total)

      FAIL test/cart.test.js::cart > lists items
        the items differ
        expected:
          {
            a: 1
          }
        actual:
          {
            a: 2
          }
        at test/cart.test.js:30

      FAIL test/cart.test.js::cart > throws on negative
        TypeError: x is not a function
        at test/cart.test.js:20",
        "longLog": "x…
      [… 1,000 characters left out …]
      x…",
        "noLog": "(no output)",
        "none": "No tests were found.",
        "notFound": "1 passed

      Not found: test/cart.test.js::gone",
        "others": "1 skipped, 1 todo, 1 failed as expected, 1 passed unexpectedly, 1 found",
        "passed": "1 passed",
        "timeout": "The test run did not end in time and was stopped. Until then: 1 failed, 1 passed.

      FAIL test/cart.test.js::cart > throws on negative
        TypeError: x is not a function
        at test/cart.test.js:20",
      }
    `);
  });

  test('values and messages are cut, cleaned and indented', () => {
    const text = renderFailures([
      failed({
        message: `\u001b[31mred\u001b[0m\n${'l\n'.repeat(20)}`,
        expected: 'a'.repeat(900),
        actual: 'x\n'.repeat(40),
      }),
    ]);
    expect(text).not.toContain('\u001b');
    expect(text.split('\n').length).toBeLessThan(30);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(420);
    expect(text).toContain('… (13 more lines)');
  });

  test('an id is one line', () => {
    expect(renderFailures([failed({}, 'a.js::one\ntwo')])).toContain('FAIL a.js::one\\ntwo\n');
  });

  test('a log keeps both ends and is cleaned', () => {
    expect(renderLog('a\u001b[2K\n10%\r20%\r\nb')).toBe('a\n20%\nb');
    expect(renderLog(`first${'x'.repeat(20_000)}last`)).toMatch(
      /^first[\s\S]*characters left out[\s\S]*last$/,
    );
  });
});

const word = fc
  .stringMatching(/^[A-Za-z0-9 _.,'"(){}[\]=+*/-]{1,40}$/)
  .map((text) => text.trim() || 'x');
const path = fc.stringMatching(/^[a-z]{1,8}(?:\/[a-z]{1,8}){0,3}\.(?:js|py)$/);
const place = fc.record({ file: path, line: fc.integer({ min: 1, max: 9999 }) });
const value = fc.oneof(
  word,
  fc.array(word, { minLength: 2, maxLength: 8 }).map((lines) => lines.join('\n')),
);

describe('reading the text back', () => {
  test('gives what was rendered', () => {
    const failure = fc.record(
      {
        message: word.map((text) => `Error: ${text}`),
        expected: value,
        actual: value,
        place,
        ownFrame: fc.record({
          file: path,
          line: fc.integer({ min: 1 }),
          function: fc.constantFrom('f', 'A.b'),
        }),
      },
      { requiredKeys: ['message'] },
    );
    const results = fc.array(
      fc.tuple(path, word, failure).map(([file, name, rest]) => failed(rest, `${file}::${name}`)),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(results, (tests) => {
        const found = parseRendered(
          `2 failed\n\n${renderFailures(tests)}\n\nLast lines of the log:\n  x`,
        );
        expect(found).toEqual(
          tests.map(
            ({ id, file, failure: { details: _, ...rest } = { details: '', message: '' } }) => ({
              kind: 'test',
              id,
              file,
              ...rest,
            }),
          ),
        );
      }),
    );
  });

  test('each sample', () => {
    const samples = observationSamples();
    expect(parseRendered(samples.failed ?? '')).toEqual([
      {
        kind: 'test',
        id: 'test/cart.test.js::cart > adds tax',
        file: 'test/cart.test.js',
        message: '',
        expected: '12',
        actual: '10',
        place: { file: 'test/cart.test.js', line: 14 },
        ownFrame: { file: 'src/cart.js', line: 33, function: 'total' },
      },
      expect.objectContaining({
        message: 'the items differ',
        expected: '{\n  a: 1\n}',
        actual: '{\n  a: 2\n}',
      }),
      expect.objectContaining({ message: 'TypeError: x is not a function' }),
    ]);
    expect(parseRendered(samples.collectionError ?? '')).toEqual([
      {
        kind: 'file',
        id: 'test/cart.test.js',
        file: 'test/cart.test.js',
        message: "SyntaxError: Unexpected token '}'",
        place: { file: 'src/cart.js', line: 3 },
      },
    ]);
    expect(parseRendered('7 passed')).toEqual([]);
  });

  test('any text is survived', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) =>
        Array.isArray(parseRendered(`FAIL ${text}`)),
      ),
    );
  });
});
