import type { EndLine, HeaderLine, TurnLine } from './schema.ts';

/** A record, read back and put together. */
export interface Trajectory {
  readonly header: HeaderLine;
  readonly turns: readonly TurnLine[];
  /** undefined: the attempt was cut off, or is still going on. */
  readonly end: EndLine | undefined;
  /** The last line was incomplete and was left out. */
  readonly cut: boolean;
}
