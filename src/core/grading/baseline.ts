import { performance } from 'node:perf_hooks';
import type { TestResult, TestRun } from '../frameworks/framework.ts';
import { isFailing } from '../frameworks/status.ts';
import { SandboxFailure } from '../sandbox/sandbox.ts';
import { changedFiles, fileStates } from './integrity.ts';
import { misbehaving, plantInto, statusById } from './planted.ts';
import { runAll, withSession } from './session-run.ts';
import type { Baseline, BaselineOutcome, GradeSetup } from './types.ts';

export interface BaselineOptions {
  readonly signal?: AbortSignal;
  /** Runs of the whole suite, each on a fresh layer: what differs between them is flaky. */
  readonly runs?: number;
}

/**
 * The state before any change. The last of several runs also carries the planted tests, to see
 * where they can be used; they come after the file's own tests and leave those alone.
 */
export async function makeBaseline(
  setup: GradeSetup,
  options: BaselineOptions = {},
): Promise<BaselineOutcome> {
  const { signal, runs = 2 } = options;
  const began = performance.now();
  try {
    const first = await withSession(setup, signal, (session) => runAll(session, setup, signal));
    const usable = usableRun(first.run, setup);
    if (usable.kind !== 'usable') return usable.outcome;
    const all = [usable.results];
    let canaryFiles: readonly string[] = [];
    let selfChanging: readonly string[] = [];
    for (let index = 1; index < runs; index++) {
      const again = await repeat(setup, usable.results, index === runs - 1, signal);
      if (again.kind !== 'usable') return again.outcome;
      all.push(again.results);
      ({ canaryFiles, selfChanging } = again);
    }
    const { collectionErrors } = usable;
    const durationMs = performance.now() - began;
    return {
      kind: 'baseline',
      baseline: { ...compareRuns(all), collectionErrors, canaryFiles, selfChanging, durationMs },
    };
  } catch (error) {
    if (signal?.aborted) return { kind: 'cancelled' };
    if (!(error instanceof SandboxFailure)) throw error;
    const remedy = error.remedy ?? 'See what is missing with: prime-agent doctor';
    return { kind: 'environment', reason: error.message, remedy, log: '' };
  }
}

interface UsableRun {
  readonly kind: 'usable';
  readonly results: readonly TestResult[];
  readonly collectionErrors: Baseline['collectionErrors'];
}

type NotUsable = { readonly kind: 'not-usable'; readonly outcome: BaselineOutcome };

async function repeat(
  setup: GradeSetup,
  results: readonly TestResult[],
  withCanaries: boolean,
  signal: AbortSignal | undefined,
): Promise<(UsableRun & Required<Pick<Baseline, 'canaryFiles' | 'selfChanging'>>) | NotUsable> {
  return withSession(setup, signal, async (session) => {
    const plant = setup.framework.plantCanaries;
    const files = [...new Set(results.filter(isFailing).map((test) => test.file))];
    const planted = plant && withCanaries ? await plantInto(session, plant, files) : undefined;
    const testFiles = [...new Set(results.map((test) => test.file))];
    const before = await fileStates(session, testFiles);
    const usable = usableRun((await runAll(session, setup, signal)).run, setup);
    if (usable.kind !== 'usable') return usable;
    const selfChanging = changedFiles(before, await fileStates(session, testFiles));
    if (!planted) return { ...usable, canaryFiles: [], selfChanging };
    const ids = new Set([...planted.mustPass, ...planted.mustFail]);
    const canaryFiles = planted.files.filter(
      (file) => misbehaving(ofFile(planted, file), usable.results).length === 0,
    );
    return {
      ...usable,
      results: usable.results.filter((test) => !ids.has(test.id)),
      canaryFiles,
      selfChanging,
    };
  });
}

function ofFile<
  P extends { readonly mustPass: readonly string[]; readonly mustFail: readonly string[] },
>(planted: P, file: string): P {
  const here = (id: string): boolean => id.startsWith(`${file}::`);
  return {
    ...planted,
    mustPass: planted.mustPass.filter(here),
    mustFail: planted.mustFail.filter(here),
  };
}

function usableRun(run: TestRun, { framework }: GradeSetup): UsableRun | NotUsable {
  const environment = (reason: string, remedy: string, log: string): NotUsable => ({
    kind: 'not-usable',
    outcome: { kind: 'environment', reason, remedy, log },
  });
  switch (run.kind) {
    case 'cancelled':
      return { kind: 'not-usable', outcome: { kind: 'cancelled' } };
    case 'timeout': {
      if (framework.timeoutIsResult) {
        return { kind: 'usable', results: run.results, collectionErrors: [] };
      }
      const seconds = Math.round(run.durationMs / 1000);
      return environment(
        `The tests did not end within ${seconds} s.`,
        'Give them more time with --test-timeout SECONDS.',
        run.log,
      );
    }
    case 'crashed':
      return environment(
        `The test run broke: ${run.reason}`,
        `The last it printed:\n${run.log.trim().slice(-1500)}`,
        run.log,
      );
    case 'ran':
      if (run.results.length === 0 && run.collectionErrors.length === 0) {
        return {
          kind: 'not-usable',
          outcome: { kind: 'no-tests', reason: 'the run found no tests' },
        };
      }
      return { kind: 'usable', results: run.results, collectionErrors: run.collectionErrors };
  }
}

/** Pure part: what all runs agree on. */
export function compareRuns(
  runs: readonly (readonly TestResult[])[],
): Pick<Baseline, 'results' | 'failing' | 'passing' | 'flaky'> {
  const [first = [], ...others] = runs;
  const statuses = others.map(statusById);
  const failing: TestResult[] = [];
  const passing: string[] = [];
  const flaky: string[] = [];
  const own = statusById(first);
  for (const test of first) {
    if (own.get(test.id) !== test.status) continue;
    const failed = isFailing(test);
    const agree = statuses.every((status) => {
      const other = status.get(test.id);
      return failed ? other === 'failed' || other === 'error' : other === test.status;
    });
    if (!agree) flaky.push(test.id);
    else if (failed) failing.push(test);
    else if (test.status === 'passed') passing.push(test.id);
  }
  return { results: first, failing, passing, flaky };
}
