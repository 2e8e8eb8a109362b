import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bootstrapMean,
  meanShare,
  pairedDifference,
  passAtK,
  type Tally,
  wilson,
} from '../../../src/core/evaluation/statistics.ts';

/** Values named "scipy" were computed once with scipy 1.17.1, or with Python's math.comb. */

const tallyOf = fc
  .integer({ min: 1, max: 12 })
  .chain((attempts) =>
    fc.integer({ min: 0, max: attempts }).map((solved): Tally => ({ solved, attempts })),
  );

describe('pass@k', () => {
  it.each([
    [10, 3, 1, 0.3],
    [10, 3, 5, 0.9166666666666666],
    [8, 1, 4, 0.5],
    [200, 13, 100, 0.9999194971988055],
    [5, 5, 3, 1],
    [5, 0, 5, 0],
  ])('of %i attempts with %i solved and k = %i is %d (1 − C(n−c, k)/C(n, k))', (n, c, k, value) => {
    expect(passAtK({ attempts: n, solved: c }, k)).toBeCloseTo(value, 12);
  });

  it('is the share of sets of k attempts that hold a solved one', () => {
    fc.assert(
      fc.property(tallyOf, fc.integer({ min: 1, max: 12 }), ({ attempts, solved }, k) => {
        fc.pre(k <= attempts);
        let sets = 0;
        let lucky = 0;
        for (let set = 0; set < 2 ** attempts; set++) {
          const members = [...Array(attempts).keys()].filter((at) => (set >> at) & 1);
          if (members.length !== k) continue;
          sets += 1;
          if (members.some((at) => at < solved)) lucky += 1;
        }
        expect(passAtK({ attempts, solved }, k)).toBeCloseTo(lucky / sets, 10);
      }),
      { numRuns: 60 },
    );
  });

  it('needs k attempts', () => {
    expect(() => passAtK({ attempts: 2, solved: 1 }, 3)).toThrow('pass@3 needs 3 attempts');
  });
});

describe("Wilson's interval", () => {
  it.each([
    [41, 100, 0.31867313021136523, 0.5079856994658922],
    [0, 20, 0, 0.16112515805281935],
    [20, 20, 0.8388748419471808, 1],
    [1, 3, 0.06149194472039626, 0.7923403991979523],
    [164, 400, 0.36287947761947204, 0.45883273536070135],
  ])('of %i in %i is as scipy says', (yes, n, low, high) => {
    const estimate = wilson(yes, n);
    expect(estimate.value).toBe(yes / n);
    expect(estimate.low).toBeCloseTo(low, 10);
    expect(estimate.high).toBeCloseTo(high, 10);
  });

  it('of nothing says nothing', () => {
    expect(wilson(0, 0)).toEqual({ value: Number.NaN, low: 0, high: 1 });
  });
});

const SHARES = [
  0, 0.25, 0.25, 0.5, 1, 1, 0.75, 0, 0, 0.5, 0.25, 1, 0, 0, 0.75, 0.5, 0.25, 0, 1, 0.5,
];

describe('the bootstrap over tasks', () => {
  it('gives the interval that scipy gives, within its own noise', () => {
    const { value, low, high } = bootstrapMean(SHARES, 1);
    expect(value).toBeCloseTo(0.425, 12);
    expect(Math.abs(low - 0.2625)).toBeLessThanOrEqual(0.0125);
    expect(Math.abs(high - 0.5875)).toBeLessThanOrEqual(0.0125);
  });

  it('is the same for the same seed', () => {
    expect(bootstrapMean(SHARES, 7, 50)).toEqual(bootstrapMean(SHARES, 7, 50));
    expect(bootstrapMean(SHARES, 7, 50)).not.toEqual(bootstrapMean(SHARES, 8, 50));
  });

  it('covers the true mean about as often as it says', () => {
    // 60 tasks of different difficulty with four attempts each.
    let covered = 0;
    const worlds = 300;
    let state = 1;
    const random = (): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    for (let world = 0; world < worlds; world++) {
      const shares = Array.from({ length: 60 }, () => {
        const chance = random() ** 2;
        return [1, 2, 3, 4].filter(() => random() < chance).length / 4;
      });
      const { low, high } = bootstrapMean(shares, world, 1000);
      if (low <= 1 / 3 && 1 / 3 <= high) covered += 1;
    }
    expect(covered / worlds).toBeGreaterThan(0.9);
    expect(covered / worlds).toBeLessThan(0.985);
  });

  it('holds the mean, inside of the values', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }), (all) => {
        const { value, low, high } = bootstrapMean(all, 3, 200);
        expect(low).toBeLessThanOrEqual(high);
        expect(low).toBeGreaterThanOrEqual(Math.min(...all) - 1e-9);
        expect(high).toBeLessThanOrEqual(Math.max(...all) + 1e-9);
        expect(value).toBeGreaterThanOrEqual(Math.min(...all) - 1e-9);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the mean of shares', () => {
  it('of yes-or-no results has an interval of Wilson, never of no width', () => {
    expect(meanShare([1, 0, 0, 1], 0)).toEqual(wilson(2, 4));
    expect(meanShare([0, 0, 0], 0).high).toBeGreaterThan(0.5);
  });

  it('of other shares has one of the bootstrap', () => {
    expect(meanShare(SHARES, 4)).toEqual(bootstrapMean(SHARES, 4));
  });
});

/** A pair with the given difference in eighths. */
const pair = (eighths: number): readonly [Tally, Tally] => [
  { solved: Math.max(0, -eighths), attempts: 8 },
  { solved: Math.max(0, eighths), attempts: 8 },
];
const once = (first: number, second: number): readonly [Tally, Tally] => [
  { solved: first, attempts: 1 },
  { solved: second, attempts: 1 },
];

describe('the paired difference', () => {
  it('is second minus first, with the p of all sign patterns as scipy counts them', () => {
    const result = pairedDifference([2, -1, 4, 0, 6, 1, -2, 3, 4, 2].map(pair), 0);
    expect(result).toMatchObject({ tasks: 10, better: 7, worse: 2, exact: true });
    expect(result.value).toBeCloseTo(0.2375, 12);
    expect(result.p).toBeCloseTo(0.0546875, 12);
  });

  it('with one attempt per task is the exact test of McNemar', () => {
    const pairs = [
      ...Array.from({ length: 9 }, () => once(0, 1)),
      ...Array.from({ length: 3 }, () => once(1, 0)),
      ...Array.from({ length: 30 }, () => once(1, 1)),
    ];
    const result = pairedDifference(pairs, 0);
    expect(result.p).toBeCloseTo(0.14599609375, 12);
    expect(result.value).toBeCloseTo(6 / 42, 12);
    expect(pairedDifference([once(0, 1)], 0).p).toBe(1);
  });

  it('pairs tasks with different numbers of attempts', () => {
    // 1/3 against 1/2, and back: alike, so every pattern is as far from 0.
    const third: Tally = { solved: 1, attempts: 3 };
    const half: Tally = { solved: 1, attempts: 2 };
    const result = pairedDifference(
      [
        [third, half],
        [half, third],
      ],
      0,
    );
    expect(result).toMatchObject({ better: 1, worse: 1, p: 1 });
    expect(result.value).toBeCloseTo(0, 12);
  });

  it('is turned around when the policies are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(tallyOf, tallyOf), { minLength: 1, maxLength: 12 }),
        (pairs) => {
          const there = pairedDifference(pairs, 5);
          const back = pairedDifference(
            pairs.map(([a, b]) => [b, a] as const),
            5,
          );
          expect(back.value).toBeCloseTo(-there.value, 12);
          expect(back.low).toBeCloseTo(-there.high, 10);
          expect(back.p).toBeCloseTo(there.p, 10);
          expect(there.p).toBeGreaterThan(0);
          expect(there.p).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('draws sign patterns where they are too many to count, and comes to the same', () => {
    // Denominators without much in common make the exact test too large.
    const odd = [101, 103, 107, 109, 113, 127].map((attempts, at): readonly [Tally, Tally] => [
      { solved: at % 3, attempts },
      { solved: 40, attempts },
    ]);
    const drawn = pairedDifference(odd, 0);
    expect(drawn.exact).toBe(false);
    // All six have one sign: 2 of 64 patterns are as far.
    expect(drawn.p).toBeGreaterThan(0.025);
    expect(drawn.p).toBeLessThan(0.038);
  });
});
