import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trainingRows } from '../../../../src/core/trajectories/rows.ts';
import type { TurnLine } from '../../../../src/core/trajectories/schema.ts';
import { turn, withTokens } from './make.ts';

const STOP = 2;

describe('merging turns into rows', () => {
  test('turns that continue each other become one row', () => {
    const { rows, counters } = trainingRows([
      withTokens(0, [10, 11], [20, STOP]),
      withTokens(1, [10, 11, 20, STOP, 30, 31], [40, STOP]),
    ]);
    expect(rows).toEqual([
      {
        ids: [10, 11, 20, STOP, 30, 31, 40, STOP],
        lossMask: [0, 0, 1, 1, 0, 0, 1, 1],
        logprobs: [0, 0, -0.6, -0.2, 0, 0, -0.5, -0.2],
        turns: [0, 1],
      },
    ]);
    expect(counters).toEqual({
      turns: 2,
      turnsWithoutTokens: 0,
      prefixMismatches: 0,
      sampledTokens: 4,
    });
  });

  test('a prompt without the stop token of the turn before starts a new row', () => {
    const { rows, counters } = trainingRows([
      withTokens(0, [10], [20, STOP]),
      withTokens(1, [10, 20, 30], [40, STOP]),
    ]);
    expect(rows.map((row) => row.ids)).toEqual([
      [10, 20, STOP],
      [10, 20, 30, 40, STOP],
    ]);
    expect(counters.prefixMismatches).toBe(1);
  });

  test('a prompt that is shorter than the row starts a new row', () => {
    const { rows } = trainingRows([withTokens(0, [10, 11], [20]), withTokens(1, [10, 11], [21])]);
    expect(rows.length).toBe(2);
  });

  test('turns without tokens train nothing and are counted', () => {
    const { rows, counters } = trainingRows([
      turn(0),
      withTokens(1, [1], [STOP]),
      turn(2),
      withTokens(3, [1, STOP, 9], [8]),
    ]);
    expect(rows).toEqual([
      { ids: [1, STOP, 9, 8], lossMask: [0, 1, 0, 1], logprobs: [0, -0.2, 0, -0.1], turns: [1, 3] },
    ]);
    expect(counters.turnsWithoutTokens).toBe(2);
  });

  test('no turns, no rows', () => {
    expect(trainingRows([]).rows).toEqual([]);
  });
});

const ids = fc.array(fc.nat(9), { maxLength: 6 });
/** Per turn: does its prompt continue the row, and with which ids? */
const plan = fc.array(fc.record({ continues: fc.boolean(), added: ids, sampled: ids }), {
  maxLength: 8,
});

function turnsOf(
  steps: readonly { continues: boolean; added: number[]; sampled: number[] }[],
): TurnLine[] {
  // Never empty: everything would continue an empty row.
  let context: number[] = [99];
  return steps.map(({ continues, added, sampled }, index) => {
    // Ids of 100 and more never occur elsewhere: such a prompt cannot continue by accident.
    const promptIds = continues ? [...context, ...added] : [100 + index, ...added];
    context = [...promptIds, ...sampled];
    return withTokens(index, promptIds, sampled);
  });
}

describe('properties', () => {
  test('every sampled id is trained on once, in order, with its log-probability, and nothing else', () => {
    fc.assert(
      fc.property(plan, (steps) => {
        const turns = turnsOf(steps);
        const { rows, counters } = trainingRows(turns);
        const trained = rows.flatMap((row) =>
          row.ids.flatMap((id, at) => (row.lossMask[at] === 1 ? [[id, row.logprobs[at]]] : [])),
        );
        const sampled = turns.flatMap(({ reply }) =>
          (reply.tokens?.sampledIds ?? []).map((id, at) => [id, reply.tokens?.logprobs[at]]),
        );
        expect(trained).toEqual(sampled);
        expect(counters.sampledTokens).toBe(sampled.length);
        for (const row of rows) {
          expect(row.lossMask.length).toBe(row.ids.length);
          expect(row.logprobs.length).toBe(row.ids.length);
          expect(row.logprobs.every((value, at) => row.lossMask[at] === 1 || value === 0)).toBe(
            true,
          );
        }
      }),
    );
  });

  test('each turn was sampled from exactly the ids in front of it in its row', () => {
    fc.assert(
      fc.property(plan, (steps) => {
        const turns = turnsOf(steps);
        for (const row of trainingRows(turns).rows) {
          for (const index of row.turns) {
            const tokens = turns[index]?.reply.tokens;
            const whole = [...(tokens?.promptIds ?? []), ...(tokens?.sampledIds ?? [])];
            expect(row.ids.slice(0, whole.length)).toEqual(whole);
          }
        }
      }),
    );
  });

  test('a new row starts exactly where a prompt does not continue', () => {
    fc.assert(
      fc.property(plan, (steps) => {
        const { rows, counters } = trainingRows(turnsOf(steps));
        const breaks = steps.filter((step, index) => index > 0 && !step.continues).length;
        expect(counters.prefixMismatches).toBe(breaks);
        expect(rows.length).toBe(steps.length === 0 ? 0 : breaks + 1);
        expect(rows.flatMap((row) => row.turns)).toEqual(steps.map((_, index) => index));
      }),
    );
  });
});
