import type { CollectionError, TestResult } from '../frameworks/framework.ts';
import { makeBaseline } from '../grading/baseline.ts';
import type { BaselineOutcome } from '../grading/types.ts';
import type { FixListener } from './events.ts';
import { type PreparedProject, type PrepareProblem, problem } from './prepare.ts';

/** The tests of a workspace, run in the sandbox on its snapshot. */
export type TestsOutcome =
  | {
      readonly kind: 'ran';
      /** For `FixOptions.baselines`, when the tests ran more than once. */
      readonly baselines: ReadonlyMap<PreparedProject, BaselineOutcome>;
      readonly results: readonly TestResult[];
      /** Failed in every run. */
      readonly failing: readonly TestResult[];
      readonly passing: number;
      readonly flaky: readonly string[];
      readonly collectionErrors: readonly Omit<CollectionError, 'place'>[];
    }
  | PrepareProblem
  | { readonly kind: 'cancelled' };

export const NO_TESTS: PrepareProblem = problem(
  'no-tests',
  'The test run found no tests.',
  'Name the folder that holds them, or pass the command: --command "…".',
);

/**
 * Runs all tests of all projects; that there are none is not a problem here.
 *
 * @param options.runs 1 to know how things stand; 2 (each on a fresh layer) to work on what fails
 */
export async function runAllTests(
  projects: readonly PreparedProject[],
  options: {
    readonly runs: 1 | 2;
    readonly signal: AbortSignal;
    readonly listener?: FixListener;
  },
): Promise<TestsOutcome> {
  const { runs, signal, listener } = options;
  const baselines = new Map<PreparedProject, BaselineOutcome>();
  const results: TestResult[] = [];
  const failing: TestResult[] = [];
  const flaky: string[] = [];
  const collectionErrors: Omit<CollectionError, 'place'>[] = [];
  let passing = 0;
  for (const project of projects) {
    listener?.({ kind: 'progress', text: `Running the tests: ${project.detail}` });
    const outcome = await makeBaseline(project.setup, { signal, runs });
    if (outcome.kind === 'cancelled') return outcome;
    if (outcome.kind === 'environment') {
      return problem('environment', outcome.reason, outcome.remedy);
    }
    baselines.set(project, outcome);
    if (outcome.kind === 'no-tests') continue;
    const { baseline } = outcome;
    results.push(...baseline.results);
    failing.push(...baseline.failing);
    flaky.push(...baseline.flaky);
    collectionErrors.push(...baseline.collectionErrors);
    passing += baseline.passing.length;
  }
  return { kind: 'ran', baselines, results, failing, passing, flaky, collectionErrors };
}
