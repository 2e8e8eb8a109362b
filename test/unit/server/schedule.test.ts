import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Candidate, chooseTask, RARE_SHARE } from '../../../server/src/rollouts/schedule.ts';
import { createChance } from '../../../src/core/tasks/random.ts';

const HOUR = 60 * 60_000;

function candidate(task: string, over: Partial<Candidate> = {}): Candidate {
  return {
    ...{ task, origin: 'file', seq: 1, open: 0, groups: 0, result: 'none', last: 0, idleMs: 0 },
    ...over,
  };
}

const candidates = fc
  .uniqueArray(
    fc.record({
      task: fc.string({ minLength: 1, maxLength: 4 }),
      origin: fc.constantFrom('file' as const, 'attempt' as const),
      seq: fc.integer({ min: 1, max: 50 }),
      open: fc.integer({ min: 0, max: 2 }),
      groups: fc.integer({ min: 0, max: 12 }),
      result: fc.constantFrom('none', 'mixed', 'always', 'never'),
      last: fc.integer({ min: 0, max: 60 }),
      idleMs: fc.integer({ min: 0, max: 2 * HOUR }),
    }),
    { selector: ({ task }) => task, maxLength: 12 },
  )
  // What the database can say: without a group there is neither a result nor a number.
  .map((list) =>
    list.map((one): Candidate => (one.groups === 0 ? { ...one, result: 'none', last: 0 } : one)),
  );
const chance = (seed: number) => createChance('test', seed);

describe('the next task', () => {
  test('is one that exists, of which no group is under way', () => {
    fc.assert(
      fc.property(candidates, fc.nat(), (list, seed) => {
        const chosen = chooseTask(list, 60, chance(seed));
        if (!chosen) return;
        expect(list.find(({ task }) => task === chosen.task)?.open).toBe(0);
      }),
    );
  });

  test('is a new one where there is any: those of people first, each in the order in which they came', () => {
    fc.assert(
      fc.property(candidates, fc.nat(), (list, seed) => {
        const fresh = list.filter(({ open, groups }) => open === 0 && groups === 0);
        const chosen = chooseTask(list, 60, chance(seed));
        expect(chosen?.why === 'new').toBe(fresh.length > 0);
        if (fresh.length === 0) return;
        const found = list.find(({ task }) => task === chosen?.task);
        const before = fresh.filter(
          ({ origin, seq }) =>
            (origin === 'attempt' && found?.origin === 'file') ||
            (origin === found?.origin && seq < (found?.seq ?? 0)),
        );
        expect(before).toEqual([]);
      }),
    );
  });

  test('does not depend on the order in which tasks are named, and is the same for the same seed', () => {
    fc.assert(
      fc.property(
        candidates.map((list) => list.map((one, at) => ({ ...one, seq: at + 1 }))),
        fc.nat(),
        (list, seed) => {
          const turned = chooseTask([...list].reverse(), 60, chance(seed));
          expect(turned).toEqual(chooseTask(list, 60, chance(seed)));
        },
      ),
    );
  });

  test('is none only where all are under way, or taught nothing and rest', () => {
    fc.assert(
      fc.property(candidates, fc.nat(), (list, seed) => {
        if (chooseTask(list, 60, chance(seed))) return;
        for (const { open, groups, result, idleMs } of list) {
          if (open > 0) continue;
          expect(groups).toBeGreaterThan(0);
          expect(result).not.toBe('mixed');
          expect(idleMs).toBeLessThan(HOUR);
        }
      }),
    );
  });

  test('is each with mixed outcomes in turn, and rarely one that was always or never solved', () => {
    const state = new Map<string, Candidate>();
    for (let at = 0; at < 20; at++) {
      const result = at < 4 ? 'mixed' : at % 2 === 0 ? 'always' : 'never';
      const name = `${result}-${at}`;
      state.set(name, candidate(name, { seq: at + 1, groups: 1, result, last: at + 1 }));
    }
    const rounds = 4_000;
    const counts = new Map<string, number>();
    let rare = 0;
    for (let made = 20; made < 20 + rounds; made++) {
      const chosen = chooseTask([...state.values()], made, chance(made));
      const before = state.get(chosen?.task ?? '');
      if (!chosen || !before) throw new Error('nothing was chosen');
      counts.set(chosen.task, (counts.get(chosen.task) ?? 0) + 1);
      if (chosen.why !== 'mixed') rare += 1;
      state.set(chosen.task, { ...before, groups: before.groups + 1, last: made + 1 });
    }
    expect(rare).toBeGreaterThan(0);
    expect(rare / rounds).toBeLessThan(RARE_SHARE * 1.5);
    const mixed = [...counts]
      .filter(([task]) => task.startsWith('mixed'))
      .map(([, count]) => count);
    expect(mixed).toHaveLength(4);
    expect(Math.max(...mixed) - Math.min(...mixed)).toBeLessThanOrEqual(1);
  });

  test('that taught nothing comes back after a rest, which grows each time, or after an hour', () => {
    const never = (over: Partial<Candidate>) =>
      chooseTask(
        [candidate('a', { groups: 1, result: 'never', last: 10, ...over })],
        20,
        chance(1),
      );
    expect(never({ last: 13 })).toBeUndefined();
    expect(never({ last: 12 })).toEqual({ task: 'a', why: 'never solved' });
    expect(never({ last: 12, groups: 2 })).toBeUndefined();
    expect(never({ last: 20, idleMs: HOUR })).toEqual({ task: 'a', why: 'never solved' });
    expect(never({ last: 12, result: 'none' })).toEqual({ task: 'a', why: 'always invalid' });
  });
});
