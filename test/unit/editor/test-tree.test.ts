import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TestResult } from '../../../src/core/frameworks/framework.ts';
import { currentLine } from '../../../src/editor/tests/test-line.ts';
import { namesOf, type TestNode, testTree } from '../../../src/editor/tests/test-tree.ts';

const result = (id: string): TestResult => ({
  id,
  file: id.split('::', 1)[0] ?? id,
  name: id,
  status: 'passed',
  durationMs: 1,
});

describe('names in the id of a test', () => {
  it.each([
    ['test/a.test.js::cart > adds', ['cart', 'adds']],
    ['test/a.test.js::adds', ['adds']],
    ['tests/test_a.py::TestB::test_c[x::y > z]', ['TestB', 'test_c[x::y > z]']],
    ['tests/test_a.py::test_c[1]', ['test_c[1]']],
    ['make test', []],
  ])('%s', (id, names) => {
    expect(namesOf(id)).toEqual(names);
  });
});

describe('the tree of tests', () => {
  it('has files, suites and tests', () => {
    const shape = ({ label, children }: TestNode): unknown =>
      children.length > 0 ? { [label]: children.map(shape) } : label;
    const tree = testTree([
      result('a.test.js::cart > adds'),
      result('a.test.js::cart > tax > rounds'),
      result('a.test.js::empty'),
      result('b.py::TestB::test_c'),
    ]);
    expect(tree.map(shape)).toEqual([
      { 'a.test.js': [{ cart: ['adds', { tax: ['rounds'] }] }, 'empty'] },
      { 'b.py': [{ TestB: ['test_c'] }] },
    ]);
  });

  it('loses no test, whatever its name, and keeps ids unique among siblings', () => {
    const name = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(fc.constantFrom('a.js', 'b.py'), name)), (tests) => {
        const wanted = new Set(tests.map(([file, text]) => `${file}::${text}`));
        const found: string[] = [];
        const visit = (nodes: readonly TestNode[]): void => {
          expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
          for (const node of nodes) {
            if (node.result) found.push(node.result.id);
            visit(node.children);
          }
        };
        visit(testTree([...wanted].map(result)));
        expect(found.toSorted()).toEqual([...wanted].toSorted());
      }),
    );
  });
});

describe('the line of a test now', () => {
  const lines = ['import x', '', "test('adds', () => {", '});', "test('adds tax', () => {", '});'];

  it('is found again after lines came or went above it', () => {
    expect(currentLine(lines, 'adds tax', 5)).toBe(4);
    expect(currentLine(['// new', '// new', ...lines], 'adds tax', 5)).toBe(6);
    expect(currentLine(lines.slice(2), 'adds tax', 5)).toBe(2);
  });

  it('is a line of the file, also when the name is gone or the file is empty', () => {
    expect(currentLine(lines, 'other', 99)).toBe(5);
    expect(currentLine(lines, 'other', undefined)).toBe(0);
    expect(currentLine([], 'adds', 3)).toBe(0);
  });

  it('knows parametrised tests by their function', () => {
    expect(currentLine(['', 'def test_c(x):'], 'test_c[1-x]', 9)).toBe(1);
  });
});
