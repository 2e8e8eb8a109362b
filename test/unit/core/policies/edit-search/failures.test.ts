import { describe, expect, it } from 'vitest';
import { fileOf, readReport } from '../../../../../src/core/policies/edit-search/failures.ts';

const REPORT = `2 failed, 5 passed

FAIL test/cart.test.js::cart > adds tax
  expected: 12
  actual: 10
  at test/cart.test.js:14
  in src/cart.js:33 (total)

FAIL test/cart.test.js::cart > throws on negative
  TypeError: x is not a function
  at test/cart.test.js:20
`;

describe('a report of run_tests', () => {
  it('is read with ids, values, messages, places and counts', () => {
    expect(readReport(REPORT)).toEqual({
      passed: false,
      failedCount: 2,
      timedOut: false,
      failures: [
        {
          id: 'test/cart.test.js::cart > adds tax',
          kind: 'test',
          expected: '12',
          actual: '10',
          message: '',
          at: { file: 'test/cart.test.js', line: 14 },
          inside: { file: 'src/cart.js', line: 33, function: 'total' },
        },
        {
          id: 'test/cart.test.js::cart > throws on negative',
          kind: 'test',
          expected: undefined,
          actual: undefined,
          message: 'TypeError: x is not a function',
          at: { file: 'test/cart.test.js', line: 20 },
          inside: undefined,
        },
      ],
    });
  });

  it.each([
    ['7 passed', true],
    ['7 passed, 1 skipped', true],
    ['7 passed, 1 failed as expected', true],
    ['1 failed, 6 passed\n\nFAIL a::b\n', false],
    ['12 failed, 6 passed', false],
    ['1 skipped', false],
    ['', false],
    ['No tests were found.', false],
    ['3 passed\n\nNot found: a::b', false],
    ['3 passed\n\nThe test run broke off: tests that are not listed did not run.', false],
    ['The tests did not run: no such module', false],
    ['1 file could not be loaded, 2 passed\n\nERROR test/a.js\n  no such module\n', false],
  ])('%j passed: %s', (text, passed) => {
    expect(readReport(text).passed).toBe(passed);
  });

  it('counts failures that are not written out and files that could not be loaded', () => {
    expect(
      readReport('12 failed, 2 files could not be loaded, 3 failed as expected').failedCount,
    ).toBe(14);
  });

  it('knows a run that was stopped', () => {
    expect(readReport('The test run did not end in time and was stopped.').timedOut).toBe(true);
    expect(readReport('1 failed\n\nFAIL a::b\n  timed out').timedOut).toBe(false);
  });

  it('names the file of an id', () => {
    expect(fileOf('tests/test_a.py::TestB::test_c[a::b]')).toBe('tests/test_a.py');
    expect(fileOf('tests/test_a.py')).toBe('tests/test_a.py');
  });
});
