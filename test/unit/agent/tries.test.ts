import { describe, expect, it } from 'vitest';
import { createTryCounter, type Effort } from '../../../src/core/agent/tries.ts';

type Step = readonly [name: string, args: Record<string, unknown>, changed?: readonly string[]];

const FILE = 'src/a.js';
const replace = (from: string, to: string, file = FILE): Step => [
  'str_replace_editor',
  { command: 'str_replace', path: `/workspace/${file}`, old_str: from, new_str: to },
  [file],
];
const undo = (file = FILE): Step => [
  'str_replace_editor',
  { command: 'undo_edit', path: `/workspace/${file}` },
  [file],
];
const test: Step = ['run_tests', {}];
const submit: Step = ['submit', { summary: 'done' }];

function effortOf(...steps: readonly Step[]): Effort {
  const counter = createTryCounter();
  for (const [name, args, changed] of steps) {
    counter.observe({ id: 'c', name, arguments: args }, changed);
  }
  return counter.effort();
}

describe('counting tries', () => {
  it('looking at the unchanged files is none', () => {
    expect(effortOf(test, ['bash', { command: 'ls' }], test)).toEqual({
      edits: 0,
      testRuns: 2,
      tries: 0,
    });
  });

  it('an edit is one when its tests run, or when it is handed in', () => {
    expect(effortOf(replace('a', 'b'))).toEqual({ edits: 1, testRuns: 0, tries: 0 });
    expect(effortOf(replace('a', 'b'), test)).toEqual({ edits: 1, testRuns: 1, tries: 1 });
    expect(effortOf(replace('a', 'b'), submit).tries).toBe(1);
    expect(effortOf(replace('a', 'b'), test, submit).tries).toBe(1);
  });

  it('several edits that are tested together are one', () => {
    expect(effortOf(replace('a', 'b'), replace('x', 'y', 'src/b.js'), test).tries).toBe(1);
  });

  it('an edit that was taken back and made again is no new one', () => {
    const steps = [replace('a', 'b'), test, undo(), replace('a', 'c'), test, undo()];
    expect(effortOf(...steps, replace('a', 'b'), test, test)).toEqual({
      edits: 3,
      testRuns: 4,
      tries: 2,
    });
  });

  it('the first state again is none, whether undone or written back', () => {
    expect(effortOf(replace('a', 'b'), undo(), test).tries).toBe(0);
    expect(effortOf(replace('a', 'b'), replace('b', 'a'), test).tries).toBe(0);
    // The editor's history has both edits: its undo brings the first one back.
    expect(effortOf(replace('a', 'b'), replace('b', 'a'), undo(), test).tries).toBe(1);
  });

  it('an edit that failed or changed nothing is no edit', () => {
    const failed: Step = ['str_replace_editor', replace('a', 'b')[1]];
    expect(effortOf(failed, test)).toEqual({ edits: 0, testRuns: 1, tries: 0 });
  });

  it('says before a call whether it would be one more', () => {
    const counter = createTryCounter();
    const call = (name: string) => ({ id: 'c', name, arguments: {} });
    expect(counter.isNewTry(call('run_tests'))).toBe(false);
    const [name, args, changed] = replace('a', 'b');
    counter.observe({ id: 'c', name, arguments: args }, changed);
    expect(counter.isNewTry(call('bash'))).toBe(false);
    expect(counter.isNewTry(call('run_tests'))).toBe(true);
    counter.observe(call('run_tests'), undefined);
    expect(counter.isNewTry(call('submit'))).toBe(false);
  });
});
