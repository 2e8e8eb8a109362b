/**
 * Looking ahead in a text, with a bound on the work: many calls that never end would otherwise each
 * be searched to the end of the text. Real replies use a small part of it.
 */
export interface Lookahead {
  /** As `indexOf`; -1 as well when the bound is reached. */
  find(needle: string, from: number): number;
  /** Accounts for `count` characters read by other means. */
  spend(count: number): void;
  readonly exhausted: boolean;
}

export function createLookahead(text: string): Lookahead {
  let fuel = 20 * text.length + 10_000;
  return {
    find(needle, from) {
      if (fuel <= 0) return -1;
      const at = text.indexOf(needle, from);
      fuel -= (at < 0 ? text.length : at) - from + 1;
      return at;
    },
    spend(count) {
      fuel -= count;
    },
    get exhausted() {
      return fuel <= 0;
    },
  };
}
