import { describe, expect, it } from 'vitest';
import type { TestResult } from '../../../src/core/frameworks/framework.ts';
import { foldUnknownNumbers, forgedLines } from '../../../src/core/grading/report-signs.ts';

const report = (...lines: readonly object[]): Uint8Array =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
const start = { type: 'start', runner: 'x', version: '1' };
const passed = { type: 'result', id: 'a.test.js::one', status: 'passed' };
const end = { type: 'end' };

describe('foreign lines in a report', () => {
  it('there are none in an ordinary one', () => {
    expect(forgedLines(report(start, passed, end), 'node:test')).toEqual([]);
    // Call and teardown, subtests.
    expect(forgedLines(report(start, passed, passed, end), 'pytest')).toEqual([]);
    expect(forgedLines(Buffer.from('not { json\n{"type":'), 'pytest')).toEqual([]);
    expect(forgedLines(report(end, end), 'command')).toEqual([]);
  });

  it.each([
    ['to forget results', [start, { type: 'discard', file: 'a.test.js' }, passed, end], 'forget'],
    ['behind the end', [start, passed, end, passed], 'goes on after its end'],
    ['a second beginning', [start, start, passed, end], 'more than once'],
    ['a result twice', [start, passed, passed, end], 'reported twice'],
  ])('are found: %s', (_, lines, words) => {
    expect(forgedLines(report(...lines), 'node:test').join()).toContain(words);
  });
});

describe('numbers behind names', () => {
  const result = (id: string): TestResult => ({
    id,
    file: 'a',
    name: id,
    status: 'passed',
    durationMs: 0,
  });
  const folded = (ids: readonly string[], known: readonly string[]): string[] =>
    foldUnknownNumbers(ids.map(result), new Set(known)).map((test) => test.id);

  it('that the baseline does not know count for the name itself', () => {
    expect(folded(['a::x', 'a::x #2'], ['a::x'])).toEqual(['a::x', 'a::x']);
  });
  it('that it knows stay, as do names of other tests', () => {
    expect(folded(['a::x', 'a::x #2', 'a::y #2'], ['a::x', 'a::x #2'])).toEqual([
      'a::x',
      'a::x #2',
      'a::y #2',
    ]);
  });
});
