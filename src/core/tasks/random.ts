import { createHash } from 'node:crypto';
import { createRandom } from '../policies/edit-search/random.ts';

/** Seeded choices. The same seed gives the same choices on every machine. */
export interface Chance {
  /** From 0 to below 1. */
  next(): number;
  /** Whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  pick<T>(options: readonly [T, ...T[]]): T;
  /** True with this likelihood, 0 to 1. */
  chance(likelihood: number): boolean;
  /** A new list in another order. */
  shuffle<T>(list: readonly T[]): T[];
}

/** A stream of its own for every purpose: `parts` name it, so that one cannot disturb another. */
export function createChance(...parts: readonly (string | number)[]): Chance {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  const next = createRandom(digest.readUInt32LE(0));
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    pick: (options) => options[int(0, options.length - 1)] ?? options[0],
    chance: (likelihood) => next() < likelihood,
    shuffle(list) {
      const copy = [...list];
      for (let at = copy.length - 1; at > 0; at--) {
        const other = int(0, at);
        const kept = copy[at];
        const moved = copy[other];
        if (kept === undefined || moved === undefined) continue;
        copy[at] = moved;
        copy[other] = kept;
      }
      return copy;
    },
  };
}
