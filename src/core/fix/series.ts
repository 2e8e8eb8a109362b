import type { TrajectorySink } from '../trajectories/schema.ts';
import { type AttemptReport, type AttemptSetup, runAttempt } from './attempt.ts';
import type { FixListener } from './events.ts';
import { newId } from './ids.ts';

/** Where the record of one attempt goes; closed when the attempt is over. */
export type OpenSink = (attemptId: string) => Promise<TrajectorySink & { close(): Promise<void> }>;

export interface SeriesOptions {
  readonly attempts: number;
  /** Attempts that were made at the task before; numbers and seeds go on from there. */
  readonly made: number;
  readonly parallel: number;
  readonly openSink: OpenSink;
  readonly signal: AbortSignal;
  readonly listener?: FixListener;
}

export interface SeriesReport {
  /** In the order in which they ended. */
  readonly attempts: readonly AttemptReport[];
  readonly best?: AttemptReport;
}

/**
 * Attempts at one task, some at a time, until one is solved or all are made. Those still running
 * when one is solved are cancelled: somebody is waiting for the patch.
 */
export async function runSeries(
  base: Omit<AttemptSetup, 'attemptId' | 'seed'>,
  options: SeriesOptions,
): Promise<SeriesReport> {
  const { listener, openSink } = options;
  const [target = ''] = base.targets;
  const enough = new AbortController();
  const signal = AbortSignal.any([options.signal, enough.signal]);
  const ended: AttemptReport[] = [];
  let started = 0;

  const worker = async (): Promise<void> => {
    while (started < options.attempts && !signal.aborted) {
      started += 1;
      const number = options.made + started;
      const attemptId = newId();
      const where = { target, attemptId, number };
      const sink = await openSink(attemptId);
      listener?.({ kind: 'attempt-start', ...where });
      try {
        const report = await runAttempt(
          { ...base, attemptId, seed: number - 1 },
          {
            sink,
            signal,
            listener: (event) => listener?.({ kind: 'attempt', ...where, event }),
            onGrading: () => listener?.({ kind: 'grading', ...where }),
          },
        );
        // Ended by the result of another one: it says nothing about the task.
        if (report.end.kind === 'cancelled' && enough.signal.aborted && !options.signal.aborted) {
          listener?.({ kind: 'attempt-dropped', ...where });
          continue;
        }
        ended.push(report);
        if (report.recordProblem) listener?.({ kind: 'warning', text: report.recordProblem });
        const { row, totals, durationMs } = report;
        listener?.({ kind: 'attempt-end', ...where, row, turns: totals.turns, durationMs });
        if (row.outcome === 'solved') enough.abort(new Error('another attempt has solved it'));
        // What broke once outside of the policy's control breaks again: do not burn the other attempts.
        if (report.end.kind === 'infrastructure') enough.abort(new Error(row.reason));
      } finally {
        await sink.close();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.parallel, options.attempts) }, worker));
  return { attempts: ended, best: bestOf(ended) };
}

/** A solved one with the smallest patch; else one that needs its changes to tests; else none. */
export function bestOf(reports: readonly AttemptReport[]): AttemptReport | undefined {
  for (const outcome of ['solved', 'solved_with_test_changes'] as const) {
    const candidates = reports.filter((report) => report.row.outcome === outcome);
    const [best] = candidates.sort((a, b) => changedLines(a.patch) - changedLines(b.patch));
    if (best) return best;
  }
  return undefined;
}

export function changedLines(patch: string): number {
  return patch.split('\n').filter((line) => /^[+-](?![+-]{2} )/.test(line)).length;
}
