import { readGuidance } from '../agent/guidance.ts';
import type { Redactor } from '../agent/redactor.ts';
import type { TestResult } from '../frameworks/framework.ts';
import { makeBaseline } from '../grading/baseline.ts';
import type { Baseline, GradeReport } from '../grading/types.ts';
import type { Policy } from '../policies/policy.ts';
import type { Budgets } from '../trajectories/schema.ts';
import type { AttemptReport } from './attempt.ts';
import { defaultBudgets } from './budgets.ts';
import type { FixListener } from './events.ts';
import { newId, taskIdOf } from './ids.ts';
import { checkParity } from './parity.ts';
import { type PreparedProject, type PrepareProblem, problem } from './prepare.ts';
import { selectTargets } from './select.ts';
import { type OpenSink, runSeries } from './series.ts';
import { type SolvedPatch, targetPasses, verifyTogether } from './stack.ts';

export interface FixOptions {
  readonly projects: readonly PreparedProject[];
  /** Ids, files or names; empty: every failing test. */
  readonly tests: readonly string[];
  readonly policy: Policy;
  readonly budgets?: Partial<Budgets>;
  /** Attempts at one target at most; the first solved one ends the series. */
  readonly attempts: number;
  /** Attempts at the same time. */
  readonly parallel: number;
  readonly hint?: string;
  /** Compare with the user's own environment before any attempt. */
  readonly parity: boolean;
  /** The host's variables, for the parity check. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly redactor: Redactor;
  readonly openSink: OpenSink;
  readonly signal: AbortSignal;
  readonly listener?: FixListener;
}

export interface TargetReport {
  readonly target: TestResult;
  readonly framework: string;
  readonly attempts: readonly AttemptReport[];
  /** The attempt whose patch was taken, or the nearest one that was not (`row` tells). */
  readonly best?: AttemptReport;
  /** Solved without an attempt of its own, by the patch for this earlier target. */
  readonly solvedBy?: string;
}

export interface FixReport {
  readonly targets: readonly TargetReport[];
  /** All accepted patches together; empty if there are none. */
  readonly patch: string;
  /** The patches together, graded once more, one report per project. */
  readonly verification: readonly GradeReport[];
  /** Solved alone and together. */
  readonly solved: readonly string[];
  readonly unsolved: readonly { readonly id: string; readonly reason: string }[];
  readonly flaky: readonly string[];
  readonly cancelled: boolean;
}

export type FixOutcome =
  | { readonly kind: 'done'; readonly report: FixReport }
  | { readonly kind: 'nothing-to-do'; readonly reason: string }
  | { readonly kind: 'cancelled' }
  | PrepareProblem;

/** What was found and done in one project. */
interface ProjectResult {
  readonly kind: 'project';
  readonly tests: number;
  readonly passing: number;
  readonly targets: readonly TargetReport[];
  readonly patches: readonly SolvedPatch[];
  readonly flaky: readonly string[];
  /** Why the tests that the user named are not here. */
  readonly unknown?: PrepareProblem;
}

/**
 * The whole job: find what fails, make attempts at each failing test, take the best verified patch
 * of each, and verify all of them together. Changes nothing of the user's.
 */
export async function fixFailingTests(options: FixOptions): Promise<FixOutcome> {
  const results: ProjectResult[] = [];
  for (const project of options.projects) {
    const result = await fixProject(project, options);
    if (result.kind !== 'project') return result;
    results.push(result);
  }
  const targets = results.flatMap((result) => result.targets);
  const flaky = results.flatMap((result) => result.flaky);
  if (targets.length === 0) return nothingToFix(results, flaky, options.tests.length > 0);

  const patches = results.flatMap((result) => result.patches);
  options.listener?.({ kind: 'verifying', targets: patches.flatMap((entry) => entry.targets) });
  const together = await verifyTogether(patches, options.signal);
  const solved = new Set(together.solved);
  const unsolved = targets
    .filter(({ target }) => !solved.has(target.id))
    .map((report) => ({
      id: report.target.id,
      reason: together.problems.get(report.target.id) ?? whyNot(report),
    }));
  const cancelled = options.signal.aborted;
  const { patch, verification } = together;
  return {
    kind: 'done',
    report: { targets, patch, verification, solved: [...solved], unsolved, flaky, cancelled },
  };
}

async function fixProject(
  project: PreparedProject,
  options: FixOptions,
): Promise<ProjectResult | PrepareProblem | { kind: 'cancelled' }> {
  const { listener, signal } = options;
  listener?.({ kind: 'progress', text: `Running the tests: ${project.detail}` });
  const outcome = await makeBaseline(project.setup, { signal });
  if (outcome.kind === 'cancelled') return outcome;
  if (outcome.kind === 'environment') return problem('environment', outcome.reason, outcome.remedy);
  const nothing = {
    kind: 'project',
    tests: 0,
    passing: 0,
    targets: [],
    patches: [],
    flaky: [],
  } as const;
  if (outcome.kind === 'no-tests') return nothing;

  const { baseline } = outcome;
  for (const { file, message } of baseline.collectionErrors) {
    listener?.({
      kind: 'warning',
      text: `${file} could not be loaded: ${message.split('\n', 1)[0]}`,
    });
  }
  const counts = {
    tests: baseline.results.length,
    passing: baseline.passing.length,
    flaky: baseline.flaky,
  };
  const chosen = selectTargets(baseline, options.tests);
  if (chosen.kind === 'unknown')
    return { ...nothing, ...counts, unknown: problem('usage', chosen.reason, chosen.remedy) };
  if (chosen.targets.length === 0) return { ...nothing, ...counts };
  listener?.({ kind: 'failing', tests: chosen.targets });

  const parity = options.parity
    ? await checkParity(project, chosen.targets, options.environment, signal)
    : ({ kind: 'parity', warnings: [] } as const);
  if (parity.kind === 'problem') return parity;
  for (const warning of parity.warnings) listener?.({ kind: 'warning', ...warning });

  const guidance = await readGuidance(project.workspace);
  const targets: TargetReport[] = [];
  const patches: SolvedPatch[] = [];
  for (const [index, target] of chosen.targets.entries()) {
    if (signal.aborted) break;
    listener?.({ kind: 'target', target: target.id, index, of: chosen.targets.length });
    const framework = project.setup.framework.id;
    const last = patches.at(-1);
    if (last && (await targetPasses(project.setup, patches, target.id, signal))) {
      // Two failing tests with one cause: the second needs no attempt of its own.
      patches[patches.length - 1] = { ...last, targets: [...last.targets, target.id] };
      targets.push({ target, framework, attempts: [], solvedBy: last.targets[0] });
      continue;
    }
    const series = await runSeries(
      attemptBase(options, project, baseline, target, guidance),
      options,
    );
    targets.push({ target, framework, ...series });
    if (series.best?.row.outcome === 'solved') {
      patches.push({
        setup: project.setup,
        baseline,
        patch: series.best.patch,
        targets: [target.id],
      });
    }
  }
  return { kind: 'project', ...counts, targets, patches };
}

function attemptBase(
  options: FixOptions,
  project: PreparedProject,
  baseline: Baseline,
  target: TestResult,
  guidance: string | undefined,
) {
  const { policy, redactor, hint } = options;
  return {
    seriesId: newId(),
    taskId: taskIdOf(project.setup, [target.id]),
    workspaceName: project.workspaceName,
    targets: [target.id],
    grade: project.setup,
    baseline,
    policy,
    budgets: { ...defaultBudgets(policy.description), ...options.budgets },
    rules: 'lenient' as const,
    redactor,
    hint,
    guidance,
  };
}

function nothingToFix(
  results: readonly ProjectResult[],
  flaky: readonly string[],
  named: boolean,
): FixOutcome {
  const unknown = results.find((result) => result.unknown)?.unknown;
  if (unknown && named) return unknown;
  const tests = results.reduce((sum, result) => sum + result.tests, 0);
  const passing = results.reduce((sum, result) => sum + result.passing, 0);
  if (tests === 0) {
    return problem(
      'no-tests',
      'The test run found no tests.',
      'Name the folder that holds them, or pass the command: --command "…".',
    );
  }
  const also = flaky.length > 0 ? ` Flaky, so not worked on: ${flaky.join(', ')}.` : '';
  return { kind: 'nothing-to-do', reason: `No test fails: ${passing} of ${tests} pass.${also}` };
}

function whyNot({ attempts, best }: TargetReport): string {
  if (best?.row.outcome === 'solved_with_test_changes')
    return 'solved only with changes to tests or configuration';
  const last = attempts.at(-1);
  return last ? last.row.reason : 'no attempt was made';
}
