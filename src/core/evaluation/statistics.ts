import { createRandom } from '../policies/edit-search/random.ts';

/** A share or a difference with the bounds of its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** What several attempts at one task gave. */
export interface Tally {
  readonly solved: number;
  readonly attempts: number;
}

/** Resamples of a bootstrap, and sign patterns where they are too many to count. */
const RESAMPLES = 10_000;
const Z_95 = 1.959963984540054;

/**
 * Chance that at least one of `k` attempts is solved, from `n` attempts of which `c` were: 1 −
 * C(n−c, k)/C(n, k), without bias for k ≤ n (Chen et al. 2021, arXiv:2107.03374, section 2.1).
 * Multiplied out, since the binomials overflow. Throws for k > n.
 */
export function passAtK({ attempts: n, solved: c }: Tally, k: number): number {
  if (k > n) throw new RangeError(`pass@${k} needs ${k} attempts, there are ${n}`);
  let allFail = 1;
  for (let i = 0; i < k; i++) allFail *= Math.max(0, n - c - i) / (n - i);
  return 1 - allFail;
}

/**
 * Share of independent yes-or-no results with Wilson's score interval (Wilson 1927, JASA 22:209;
 * Brown, Cai and DasGupta 2001, Statistical Science 16:101). Also right at 0 and at n.
 */
export function wilson(yes: number, n: number): Estimate {
  if (n === 0) return { value: Number.NaN, low: 0, high: 1 };
  const share = yes / n;
  const z2 = Z_95 ** 2;
  const centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z_95 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n ** 2));
  return {
    value: share,
    low: yes === 0 ? 0 : centre - half,
    high: yes === n ? 1 : centre + half,
  };
}

/**
 * Mean over tasks with the percentile interval of a bootstrap that draws whole tasks: attempts at
 * one task are alike, so only tasks count as independent (Efron and Tibshirani 1993, chapter 13;
 * Field and Welsh 2007, JRSS B 69:369, for clusters). The same seed gives the same interval.
 */
export function bootstrapMean(
  values: readonly number[],
  seed: number,
  resamples: number = RESAMPLES,
): Estimate {
  const n = values.length;
  const value = mean(values);
  if (n === 0) return { value, low: Number.NaN, high: Number.NaN };
  const random = createRandom(seed);
  const means = new Float64Array(resamples);
  for (let round = 0; round < resamples; round++) {
    let sum = 0;
    for (let draw = 0; draw < n; draw++) sum += values[Math.floor(random() * n)] ?? 0;
    means[round] = sum / n;
  }
  means.sort();
  return { value, low: quantile(means, 0.025), high: quantile(means, 0.975) };
}

/**
 * Mean of shares, one per task, each from 0 to 1. Where all are 0 or 1, as with one attempt per
 * task, they are yes-or-no results: Wilson's interval. Otherwise the bootstrap.
 */
export function meanShare(shares: readonly number[], seed: number): Estimate {
  const yes = shares.filter((share) => share === 1).length;
  const no = shares.filter((share) => share === 0).length;
  return yes + no === shares.length ? wilson(yes, shares.length) : bootstrapMean(shares, seed);
}

/** Two policies at the same tasks. */
export interface PairedDifference extends Estimate {
  readonly tasks: number;
  /** Tasks at which the second policy was better, and worse. */
  readonly better: number;
  readonly worse: number;
  /** Two-sided, of a sign-flip test. */
  readonly p: number;
  /** All sign patterns were counted; otherwise seeded ones were drawn. */
  readonly exact: boolean;
}

/**
 * How much more the second policy solves than the first, paired by task: the mean difference of
 * their shares with its bootstrap interval over tasks, and a sign-flip permutation test (Fisher
 * 1935, The Design of Experiments, section 21). If the two are alike at every task, either sign of
 * each difference is as likely; with one attempt per task this is McNemar's exact test.
 */
export function pairedDifference(
  pairs: readonly (readonly [first: Tally, second: Tally])[],
  seed: number,
): PairedDifference {
  const differences = pairs.map(
    ([first, second]) => second.solved / second.attempts - first.solved / first.attempts,
  );
  const unit = commonDenominator(pairs.flat().map(({ attempts }) => attempts));
  const whole = differences.map((difference) => Math.round(Math.abs(difference) * unit));
  const exact = whole.length * sum(whole) <= MOST_STEPS;
  return {
    ...bootstrapMean(differences, seed),
    tasks: pairs.length,
    better: differences.filter((difference) => difference > 0).length,
    worse: differences.filter((difference) => difference < 0).length,
    p: exact
      ? exactSignFlip(whole, Math.round(Math.abs(sum(differences)) * unit))
      : drawnSignFlip(differences, seed),
    exact,
  };
}

/** Steps of the exact test, a second or so. */
const MOST_STEPS = 3e8;

/**
 * Chance that the sum of `sizes` with random signs is as far from 0 as `observed`. The
 * distribution of the sum is built up size by size, so all 2^n patterns count.
 */
function exactSignFlip(sizes: readonly number[], observed: number): number {
  const total = sum(sizes);
  // chance[j]: of a sum of j − total.
  let chance = new Float64Array(2 * total + 1);
  chance[total] = 1;
  let reach = 0;
  for (const size of sizes) {
    if (size === 0) continue;
    const next = new Float64Array(2 * total + 1);
    for (let at = total - reach; at <= total + reach; at++) {
      const half = (chance[at] ?? 0) / 2;
      if (half === 0) continue;
      next[at - size] = (next[at - size] ?? 0) + half;
      next[at + size] = (next[at + size] ?? 0) + half;
    }
    chance = next;
    reach += size;
  }
  let p = 0;
  for (const [at, share] of chance.entries()) if (Math.abs(at - total) >= observed) p += share;
  return Math.min(1, p);
}

/** The same by drawing, with the observed pattern as one of the draws (Phipson and Smyth 2010). */
function drawnSignFlip(differences: readonly number[], seed: number): number {
  const random = createRandom(seed);
  const observed = Math.abs(sum(differences)) - 1e-9;
  let asFar = 1;
  for (let round = 0; round < RESAMPLES; round++) {
    let flipped = 0;
    for (const difference of differences) flipped += random() < 0.5 ? difference : -difference;
    if (Math.abs(flipped) >= observed) asFar += 1;
  }
  return asFar / (RESAMPLES + 1);
}

function commonDenominator(numbers: readonly number[]): number {
  return [...new Set(numbers)].reduce((lcm, number) => (lcm / divisor(lcm, number)) * number, 1);
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Of sorted values, between neighbours by their distance (type 7, as numpy and R do). */
function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
