import type { FailureBlock, TestReport } from './failures.ts';
import type { Candidate } from './rank.ts';

/** What failed tries say: a factor per place, line, and kind of edit in a line. */
export interface Learnt {
  /** The score of an edit after all that was tried. */
  weigh(candidate: Candidate): number;
  /**
   * A try that did not help. Where edits change the failure, more of them are worth trying.
   *
   * @returns how far it helped: tests that pass now, and half a one for each that fails further down
   */
  failed(candidate: Candidate, before: readonly FailureBlock[], report: TestReport): number;
  /** An endless loop costs as much as many other tries: its line and its kind are left for last. */
  slow(candidate: Candidate): void;
}

const LEAST = 0.2;
const MOST = 2.5;

export function createLearnt(): Learnt {
  const factors = new Map<string, number>();
  const factor = (key: string): number => factors.get(key) ?? 1;
  const adjust = (key: string, by: number): void => {
    factors.set(key, Math.min(MOST, Math.max(LEAST, factor(key) * by)));
  };
  return {
    weigh: (candidate) =>
      candidate.score *
      factor(candidate.place) *
      factor(lineOf(candidate)) *
      factor(kindOf(candidate)),
    failed(candidate, before, report) {
      const { broke, changed, progress } = compare(before, report);
      adjust(candidate.place, changed && !broke ? 1.06 : 0.985);
      adjust(lineOf(candidate), broke ? 1 : changed ? 1.12 : 0.9);
      if (progress > 0) {
        adjust(candidate.place, 1.2);
        adjust(lineOf(candidate), 1.2);
      }
      return progress;
    },
    slow(candidate) {
      for (const key of [lineOf(candidate), kindOf(candidate)]) factors.set(key, factor(key) * 0.3);
    },
  };
}

const lineOf = ({ path, edit }: Candidate): string => `${path}:${edit.line}`;

const kindOf = (candidate: Candidate): string => `${lineOf(candidate)}:${candidate.edit.operator}`;

interface Comparison {
  /** A file cannot even be loaded. */
  readonly broke: boolean;
  readonly changed: boolean;
  readonly progress: number;
}

function compare(failures: readonly FailureBlock[], report: TestReport): Comparison {
  const before = new Map(failures.map((failure) => [failure.id, failure]));
  const broke = report.failures.some((failure) => failure.kind === 'file');
  let progress = 0;
  let changed = before.size !== report.failures.length;
  if (changed && !broke) progress += before.size - report.failures.length;
  for (const failure of report.failures) {
    const old = before.get(failure.id);
    if (old === undefined || broke) continue;
    if (signature(old) !== signature(failure)) changed = true;
    const [was, is] = [old.at, failure.at];
    if (was !== undefined && is?.file === was.file && is.line > was.line) progress += 0.5;
  }
  return { broke, changed, progress };
}

function signature(failure: FailureBlock): string {
  return JSON.stringify([failure.expected, failure.actual, failure.message, failure.at?.line]);
}
