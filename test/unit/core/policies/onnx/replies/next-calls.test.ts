import { expect, test } from 'vitest';
import {
  createNextCalls,
  type Exchange,
} from '../../../../../../src/core/policies/onnx/replies/next-calls.ts';
import { FIRST_MESSAGE as FIRST } from '../../../../../support/first-message.ts';

const SOURCE = `export function total(values) {
  let sum = 0;
  for (let i = 0; i < values.length - 1; i += 1) sum += values[i];
  return sum;
}`;
const OPTIONS = { priorPower: 1, mostEdits: 400 };

const look: Exchange = {
  call: { name: 'bash', arguments: { command: 'cat src/total.js' } },
  observation: SOURCE,
};
const tests = (observation: string): Exchange => ({
  call: { name: 'run_tests', arguments: {} },
  observation,
});
const undo: Exchange = {
  call: {
    name: 'str_replace_editor',
    arguments: { command: 'undo_edit', path: '/workspace/src/total.js' },
  },
  observation: 'Undid the last edit',
};
const STILL = `1 failed\n\nFAIL test/total.test.js::adds up\n  expected: 6\n  actual: 4\n  at test/total.test.js:6`;
const edited = ({ call }: { readonly call: Exchange['call'] }): Exchange => ({
  call,
  observation: 'Edited /workspace/src/total.js:\n     1\tx',
});

function only(exchanges: readonly Exchange[]): unknown {
  const calls = createNextCalls(FIRST, OPTIONS)(exchanges);
  expect(calls).toHaveLength(1);
  return calls[0]?.call;
}

test('what the test imports is read first', () => {
  expect(only([])).toEqual(look.call);
});

test('then one of the known edits is made; the one that puts it right is among them', () => {
  const calls = createNextCalls(FIRST, OPTIONS)([look]);
  expect(calls.length).toBeGreaterThan(20);
  expect(calls.map(({ call }) => call)).toContainEqual({
    name: 'str_replace_editor',
    arguments: {
      command: 'str_replace',
      path: '/workspace/src/total.js',
      old_str: '  for (let i = 0; i < values.length - 1; i += 1) sum += values[i];',
      new_str: '  for (let i = 0; i < values.length; i += 1) sum += values[i];',
    },
  });
  expect(calls.every(({ weight }) => weight > 0)).toBe(true);
  const results = calls.map(({ call }) =>
    SOURCE.replace(String(call.arguments.old_str), () => String(call.arguments.new_str)),
  );
  expect(new Set(results).size).toBe(calls.length);
});

test('an edit is followed by the tests, these by handing in or by taking it back', () => {
  const [edit] = createNextCalls(FIRST, OPTIONS)([look]);
  if (!edit) throw new Error('no edit');
  const made = edited(edit);
  expect(only([look, made])).toEqual({ name: 'run_tests', arguments: {} });
  expect(only([look, made, tests('1 passed')])).toEqual({ name: 'submit', arguments: {} });
  expect(only([look, made, tests(STILL)])).toEqual(undo.call);
  const after = createNextCalls(FIRST, OPTIONS)([look, made, tests(STILL), undo]);
  expect(after.length).toBeGreaterThan(20);
  expect(after.map(({ call }) => call)).not.toContainEqual(edit.call);
});

test('an edit that the editor refused is not made again', () => {
  const next = createNextCalls(FIRST, OPTIONS);
  const before = next([look]);
  const [edit] = before;
  if (!edit) throw new Error('no edit');
  const after = next([look, { call: edit.call, observation: 'old_str was not found' }]);
  expect(after).toEqual(before.slice(1));
});

test('when every edit was tried it hands in', () => {
  const next = createNextCalls(FIRST, OPTIONS);
  const all = next([look]).flatMap((edit) => [edited(edit), tests(STILL), undo]);
  expect(next([look, ...all]).map(({ call }) => call)).toEqual([{ name: 'submit', arguments: {} }]);
});

test.each([
  ['missing', 'cat: src/total.js: No such file or directory\n[exit code 1]'],
  ['empty', '(no output)'],
  ['cut', 'export const a = 1;\n[… 12,345 bytes left out …]\nexport const b = 1;'],
  ['slow', '[timed out after 60 s; its processes were ended]'],
])('a file that is %s is not edited', (_, observation) => {
  expect(only([{ ...look, observation }])).toEqual({ name: 'submit', arguments: {} });
});

test('weights are the scores of edit-search to the given power; 0 makes all edits equal', () => {
  const plain = createNextCalls(FIRST, OPTIONS)([look]);
  const squared = createNextCalls(FIRST, { ...OPTIONS, priorPower: 2 })([look]);
  expect(squared.map(({ weight }) => weight)).toEqual(plain.map(({ weight }) => weight ** 2));
  const equal = createNextCalls(FIRST, { ...OPTIONS, priorPower: 0 })([look]);
  expect(new Set(equal.map(({ weight }) => weight))).toEqual(new Set([1]));
});

test('kinds of operators can be left out, and the number of edits bounded', () => {
  const plain = createNextCalls(FIRST, OPTIONS)([look]);
  const without = createNextCalls(FIRST, { ...OPTIONS, leaveOut: new Set(['integer-step']) })([
    look,
  ]);
  expect(without.length).toBeLessThan(plain.length);
  expect(createNextCalls(FIRST, { ...OPTIONS, mostEdits: 7 })([look])).toEqual(plain.slice(0, 7));
});

test('a test that imports nothing that can be edited is handed back unchanged', () => {
  const [first] = createNextCalls(FIRST.replace(/\n\nIt imports.*$/, ''), OPTIONS)([]);
  expect(first?.call).toEqual({ name: 'submit', arguments: {} });
});
