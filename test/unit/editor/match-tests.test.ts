import { describe, expect, it } from 'vitest';
import type { TestResult } from '../../../src/core/frameworks/framework.ts';
import { matchTests } from '../../../src/editor/fix/match-tests.ts';

function test(id: string, line?: number): TestResult {
  return {
    id,
    file: id.split('::', 1)[0] ?? id,
    ...(line === undefined ? {} : { line }),
    name: id.split(/::| > /).at(-1) ?? id,
    status: 'failed',
    durationMs: 1,
  };
}

const results = [
  test('test/cart.test.js::cart > adds', 5),
  test('test/cart.test.js::cart > adds tax', 9),
  test('test/cart.test.js::empty', 20),
  test('tests/test_a.py::TestB::test_c[1-x]', 8),
  test('tests/test_a.py::TestB::test_c[2]', 8),
  test('tests/test_a.py::test_d', 15),
];
const ids = (selector: Parameters<typeof matchTests>[1]) =>
  matchTests(results, selector).map(({ id }) => id);

describe('which tests are meant', () => {
  it.each([
    ['our own id', { path: 'test/cart.test.js', id: 'test/cart.test.js::empty', names: [] }],
    ['names', { path: 'test/cart.test.js', id: 'js-17', names: ['empty'] }],
    ['a line in its body', { path: 'test/cart.test.js', names: [], line: 23 }],
    ['the line of its item', { path: 'test/cart.test.js', id: '17', names: ['x'], line: 20 }],
  ])('by %s', (_, selector) => {
    expect(ids(selector)).toEqual(['test/cart.test.js::empty']);
  });

  it('an id with an absolute path means the same test', () => {
    const id = '/home/me/w/tests/test_a.py::test_d';
    expect(ids({ path: 'tests/test_a.py', id, names: ['test_d'] })).toEqual([
      'tests/test_a.py::test_d',
    ]);
  });

  it('a name is not taken for the beginning of a longer one', () => {
    expect(ids({ path: 'test/cart.test.js', names: ['cart', 'adds'] })).toEqual([
      'test/cart.test.js::cart > adds',
    ]);
  });

  it('a suite means its tests, a test without parameters all of its parameters', () => {
    expect(ids({ path: 'test/cart.test.js', names: ['cart'] })).toHaveLength(2);
    expect(ids({ path: 'tests/test_a.py', names: ['TestB', 'test_c'] })).toHaveLength(2);
    expect(ids({ path: 'tests/test_a.py', names: ['TestB', 'test_c', '[2]'] })).toEqual([
      'tests/test_a.py::TestB::test_c[2]',
    ]);
  });

  it('a file or a folder means all below it', () => {
    expect(ids({ path: 'tests', names: [] })).toHaveLength(3);
    expect(ids({ path: '', names: [] })).toHaveLength(results.length);
  });

  it('nothing matches: nothing is meant, rather than the whole file', () => {
    expect(ids({ path: 'test/cart.test.js', names: ['removed'] })).toEqual([]);
    expect(ids({ path: 'test/other.test.js', names: [] })).toEqual([]);
  });
});
