import { expect, it } from 'vitest';
import { candidateBugs, qualify } from '../../../../src/core/tasks/inject.ts';
import { createChance } from '../../../../src/core/tasks/random.ts';
import { shapeHash, shapeWords } from '../../../../src/core/tasks/shape.ts';

const SOURCE = `export function total(list, limit) {
  let sum = 0;
  for (let i = 0; i < list.length; i += 1) {
    if (list[i] > 0 && sum <= limit) sum += list[i];
  }
  return sum;
}
`;

it('tries one bug of each operator before a second of any', () => {
  const edits = candidateBugs(SOURCE, 'javascript', new Map(), createChance(1));
  const operators = edits.map((edit) => edit.operator);
  const kinds = new Set(operators).size;
  expect(kinds).toBeGreaterThan(8);
  expect(new Set(operators.slice(0, kinds)).size).toBe(kinds);
  expect(new Set(edits).size).toBe(edits.length);
});

it('prefers operators that were used less, and is the same for the same seed', () => {
  const used = new Map([['compare-boundary', 50]] as const);
  const order = (seed: number, counts: Parameters<typeof candidateBugs>[2]) =>
    candidateBugs(SOURCE, 'javascript', counts, createChance(seed)).map((edit) => edit.operator);
  expect(order(3, used)).toEqual(order(3, used));
  expect(order(3, new Map())).not.toEqual(order(4, new Map()));
  const kinds = new Set(order(3, used)).size;
  expect(order(3, used).indexOf('compare-boundary')).toBe(kinds - 1);
});

it('keeps a bug that some tests notice and some do not', () => {
  const runs = (entries: Record<string, boolean>) => new Map(Object.entries(entries));
  expect(qualify(['a', 'b', 'c'], runs({ a: true, b: false, c: true, new: false }))).toEqual({
    kind: 'kept',
    targets: ['b'],
    passing: ['a', 'c'],
  });
  const reason = (entries: Record<string, boolean>) => qualify(['a', 'b'], runs(entries));
  expect(reason({ a: true, b: true })).toEqual({ kind: 'dropped', reason: 'no test notices' });
  expect(reason({ a: false, b: false })).toEqual({ kind: 'dropped', reason: 'no test passes' });
  expect(reason({ a: true })).toEqual({ kind: 'dropped', reason: 'tests come or go' });
  expect(reason({})).toEqual({ kind: 'dropped', reason: 'does not load' });
});

it('has normalised trees that see structure and operators, not names, values or comments', () => {
  const shape = (text: string) => shapeHash(shapeWords(text, 'javascript'));
  const renamed = SOURCE.replaceAll('sum', 'all')
    .replaceAll('list', 'rows')
    .replace('= 0;', '= 7;');
  expect(shape(`// why\n${renamed.replaceAll('  ', '    ')}`)).toBe(shape(SOURCE));
  for (const [from, to] of [
    ['<=', '<'],
    ['&&', '||'],
    ['sum += list[i]', 'sum = list[i]'],
    ['  return sum;\n', ''],
  ] as const) {
    expect(SOURCE).toContain(from);
    expect(shape(SOURCE.replace(from, to))).not.toBe(shape(SOURCE));
  }
});
