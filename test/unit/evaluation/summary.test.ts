import { describe, expect, it } from 'vitest';
import { compare } from '../../../src/core/evaluation/compare.ts';
import { wilson } from '../../../src/core/evaluation/statistics.ts';
import { summarise } from '../../../src/core/evaluation/summary.ts';
import { makeHeader, makeRecord } from './make.ts';

const names = ['a', 'b', 'c', 'd'];

describe('the summary of an evaluation', () => {
  it('with one attempt per task counts solved tasks', () => {
    const header = makeHeader({ tasks: names });
    const summary = summarise({
      header,
      records: [
        makeRecord('a', 0, 'solved', { tries: 1 }),
        makeRecord('b', 0, 'solved', { tries: 4 }),
        makeRecord('c', 0, 'failed', { tries: 30, reason: 'Still not passing: t::x (failed).' }),
        makeRecord('d', 0, 'out_of_budget'),
      ],
    });
    expect(summary).toMatchObject({ tasks: 4, chosen: 4, attempts: 4, invalid: 0, missing: 0 });
    expect(summary.passAt).toEqual([{ k: 1, tasks: 4, ...wilson(2, 4) }]);
    expect(summary.withinTries.map(({ tries, value }) => [tries, value])).toEqual([
      [1, 0.25],
      [2, 0.25],
      [3, 0.25],
      [5, 0.5],
      [8, 0.5],
      [20, 0.5],
    ]);
    expect(summary.means).toMatchObject({ tries: (1 + 4 + 30 + 2) / 4, tokens: 20, seconds: 1.5 });
  });

  it('with several attempts tells pass@k, by the estimator without bias', () => {
    const header = makeHeader({ tasks: ['a', 'b'], settings: { attempts: 3 } });
    const { passAt } = summarise({
      header,
      records: [
        makeRecord('a', 0, 'solved'),
        makeRecord('a', 1, 'failed'),
        makeRecord('a', 2, 'failed'),
        ...[0, 1, 2].map((attempt) => makeRecord('b', attempt, 'failed')),
      ],
    });
    const values = passAt.map(({ k, value }) => [k, Number(value.toFixed(6))]);
    expect(values).toEqual([
      [1, 0.166667],
      [2, 0.333333],
      [3, 0.5],
    ]);
  });

  it('leaves invalid attempts out, and says how many there are', () => {
    const header = makeHeader({ tasks: ['a', 'b', 'c'], settings: { attempts: 2 } });
    const summary = summarise({
      header,
      records: [
        makeRecord('a', 0, 'solved'),
        makeRecord('a', 1, 'invalid', { repeated: true, reason: 'no space left' }),
        makeRecord('b', 0, 'failed'),
        makeRecord('b', 1, 'failed'),
      ],
    });
    expect(summary).toMatchObject({ attempts: 3, invalid: 1, missing: 2, repeated: 1, tasks: 2 });
    // One task has no second attempt that counts.
    expect(summary.passAt.map(({ k, tasks, value }) => [k, tasks, value])).toEqual([
      [1, 2, 0.5],
      [2, 1, 0],
    ]);
  });

  it('tells nothing about more tries than an attempt had', () => {
    const records = [makeRecord('a', 0, 'solved')];
    const { withinTries } = summarise({ header: makeHeader({ tries: 3 }), records });
    expect(withinTries.map(({ tries }) => tries)).toEqual([1, 2, 3]);
  });

  it('counts outcomes with their reasons, without the names of tests', () => {
    const failed = (name: string, reason: string) => makeRecord(name, 0, 'failed', { reason });
    const { outcomes } = summarise({
      header: makeHeader({ tasks: names }),
      records: [
        failed('a', 'Still not passing: t::x (failed).'),
        failed('b', 'Still not passing: t::y (failed), t::z (failed).'),
        failed('c', '2 that passed before do not any more: t::v (failed), t::w (failed).'),
        makeRecord('d', 0, 'solved'),
      ],
    });
    expect(outcomes).toEqual([
      {
        outcome: 'failed',
        attempts: 3,
        reasons: [
          { reason: 'Still not passing', attempts: 2 },
          { reason: 'that passed before do not any more', attempts: 1 },
        ],
      },
      {
        outcome: 'solved',
        attempts: 1,
        reasons: [{ reason: 'all target tests pass', attempts: 1 }],
      },
    ]);
  });
});

describe('the comparison of two evaluations', () => {
  const results = (solved: string, given: Parameters<typeof makeHeader>[0] = {}) => ({
    header: makeHeader({ tasks: [...solved].map((_, at) => `t${at}`), ...given }),
    records: [...solved].map((mark, at) =>
      mark === '-'
        ? makeRecord(`t${at}`, 0, 'failed')
        : makeRecord(`t${at}`, 0, 'solved', { tries: Number(mark) }),
    ),
  });

  it('pairs by task, and tells the difference for every number of tries', () => {
    const comparison = compare(
      results('1-9-', { label: 'old' }),
      results('13--', { label: 'new' }),
    );
    expect(comparison).toMatchObject({
      policies: ['old', 'new'],
      tasks: 4,
      unpaired: 0,
      warnings: [],
    });
    const rows = comparison.rows.map(({ tries, first, second, value }) => [
      tries,
      first,
      second,
      value,
    ]);
    expect(rows).toEqual([
      [1, 0.25, 0.25, 0],
      [2, 0.25, 0.25, 0],
      [3, 0.25, 0.5, 0.25],
      [5, 0.25, 0.5, 0.25],
      [8, 0.25, 0.5, 0.25],
      [20, 0.5, 0.5, 0],
      [undefined, 0.5, 0.5, 0],
    ]);
    expect(comparison.rows.at(-1)).toMatchObject({ better: 1, worse: 1, p: 1 });
  });

  it('says what is not alike, and leaves out what has no counterpart', () => {
    const first = results('11-');
    const second = results('1-', {
      tries: 2,
      scaffoldHash: 'other',
      settings: { rules: 'lenient' },
    });
    const { tasks, unpaired, rows, warnings } = compare(first, second);
    expect([tasks, unpaired]).toEqual([2, 1]);
    expect(rows.map(({ tries }) => tries)).toEqual([1, 2, undefined]);
    expect(warnings.join('\n')).toMatchInlineSnapshot(`
      ""In all" is not at equal tries: the first had any number, the second at most 2. The rows above it are.
      The two were evaluated with different prompts, tools or observations (scaffold hash).
      The rules differ: strict for the first, lenient for the second.
      One task has attempts of only one of the two and is left out."
    `);
  });

  it('leaves tasks out whose attempts are all invalid', () => {
    const first = results('11');
    const [one] = first.records;
    const second = {
      ...first,
      records: one === undefined ? [] : [one, makeRecord('t1', 0, 'invalid')],
    };
    expect(compare(first, second)).toMatchObject({ tasks: 1, unpaired: 1 });
  });
});
