import { expect, it } from 'vitest';
import { evaluateAll, runFast } from '../../../../../src/core/tasks/generate/fast-run.ts';

const TEST = 'test/a.test.js';
const files = (source: string, tests: string) => ({
  'src/a.js': source,
  [TEST]: `import assert from 'node:assert/strict';\nimport { describe, it } from 'node:test';\nimport { f } from '../src/a.js';\n\n${tests}\n`,
});
const ADD = 'export function f(a, b) {\n  return a + b;\n}\n';

it('tells passing from failing tests, by suite and name', () => {
  const tests = [
    "describe('adds', () => {",
    "  it('small', () => { assert.equal(f(1, 2), 3); });",
    "  it('wrong', () => { assert.equal(f(1, 2), 4); });",
    '});',
    "it('throws', () => { assert.throws(() => f.x.y, TypeError); });",
    "it('compares deeply', () => { assert.deepEqual([f(1, 1)], [2]); });",
  ].join('\n');
  expect(runFast(files(ADD, tests), TEST)).toEqual({
    kind: 'ran',
    tests: new Map([
      ['adds > small', true],
      ['adds > wrong', false],
      ['throws', true],
      ['compares deeply', true],
    ]),
  });
});

it('ends loops without an end', () => {
  const loop = 'export function f() {\n  for (;;) {}\n}\n';
  expect(runFast(files(loop, "it('x', () => { f(); });"), TEST)).toEqual({ kind: 'timeout' });
});

it('says when a module cannot be loaded', () => {
  const run = runFast(files('export const f = g;\n', "it('x', () => {});"), TEST);
  expect(run).toEqual({ kind: 'not-loaded', reason: 'g is not defined' });
});

it('survives endless recursion', () => {
  const deep = 'export function f() {\n  return f();\n}\n';
  const run = runFast(files(deep, "it('x', () => { f(); });"), TEST);
  expect(run).toEqual({ kind: 'ran', tests: new Map([['x', false]]) });
});

it('evaluates expressions on a module, statements first', () => {
  expect(
    evaluateAll({ 'a.js': ADD }, 'a.js', [
      ['f(1, 2)'],
      ['const x = f(2, 2);', '[x]'],
      ['f(null.x)'],
    ]),
  ).toEqual([
    { kind: 'value', value: 3 },
    { kind: 'value', value: [4] },
    { kind: 'throws', name: 'TypeError' },
  ]);
});

it('leaves the globals of this process as they were', () => {
  const before = RangeError;
  const run = runFast(
    {
      'src/a.js':
        'export function a() {\n  RangeError = Error;\n  globalThis.left = 1;\n  return RangeError.name;\n}\n',
      'test/a.test.js': [
        "import assert from 'node:assert/strict';",
        "import { test } from 'node:test';",
        "import { a } from '../src/a.js';",
        "test('a', () => { assert.equal(a(), 'Error'); });",
      ].join('\n'),
    },
    'test/a.test.js',
  );
  expect(run).toEqual({ kind: 'ran', tests: new Map([['a', true]]) });
  expect(RangeError).toBe(before);
  expect('left' in globalThis).toBe(false);
});
