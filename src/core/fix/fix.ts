import { readGuidance } from '../agent/guidance.ts';
import type { Redactor } from '../agent/redactor.ts';
import type { TestResult } from '../frameworks/framework.ts';
import { makeBaseline } from '../grading/baseline.ts';
import type { Baseline, BaselineOutcome, GradeReport } from '../grading/types.ts';
import type { Policy } from '../policies/policy.ts';
import type { Budgets } from '../trajectories/schema.ts';
import { defaultBudgets } from './budgets.ts';
import type { FixListener } from './events.ts';
import { newId, taskIdOf } from './ids.ts';
import { firstLine, notLoadable } from './not-loadable.ts';
import { checkParity } from './parity.ts';
import { type PreparedProject, type PrepareProblem, problem } from './prepare.ts';
import { runRounds, type TargetReport, type TargetSetup } from './rounds.ts';
import { NO_TESTS } from './run-all-tests.ts';
import { isNamed, selectTargets } from './select.ts';
import type { OpenSink } from './series.ts';
import { type SolvedPatch, verifyTogether } from './stack.ts';
import { otherPolicies, whyNotSuited } from './suited.ts';
import { warmProjects } from './warm-projects.ts';

export interface FixOptions {
  readonly projects: readonly PreparedProject[];
  /** Where the tests were run already, on the same snapshot and more than once: not run again. */
  readonly baselines?: ReadonlyMap<PreparedProject, BaselineOutcome>;
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

export interface FixReport {
  readonly targets: readonly TargetReport[];
  /** All accepted patches together; empty if there are none. */
  readonly patch: string;
  /** The patches together, graded once more, one report per project. */
  readonly verification: readonly GradeReport[];
  /** Solved alone and together. */
  readonly solved: readonly string[];
  readonly unsolved: readonly Unsolved[];
  readonly flaky: readonly string[];
}

export interface Unsolved {
  /** A test, or a test file that cannot be loaded. */
  readonly id: string;
  readonly reason: string;
  readonly remedy?: string;
}

export type FixOutcome =
  | { readonly kind: 'done'; readonly report: FixReport }
  /** `green`: nothing fails; else what fails cannot be worked on. */
  | { readonly kind: 'nothing-to-do'; readonly reason: string; readonly green: boolean }
  /** `solved`: by attempts that had ended, each verified alone; their patches are in the records. */
  | {
      readonly kind: 'cancelled';
      readonly solved: readonly { readonly id: string; readonly attemptId: string }[];
    }
  | PrepareProblem;

/** What was found and done in one project. */
interface ProjectResult {
  readonly kind: 'project';
  readonly tests: number;
  readonly passing: number;
  readonly targets: readonly TargetReport[];
  readonly patches: readonly SolvedPatch[];
  readonly flaky: readonly string[];
  readonly collectionErrors: Baseline['collectionErrors'];
  /** Why the tests that the user named are not here. */
  readonly unknown?: PrepareProblem;
}

/**
 * The whole job: find what fails, make attempts at each failing test, take the best verified patch
 * of each, and verify all of them together. Changes nothing of the user's.
 */
export async function fixFailingTests(options: FixOptions): Promise<FixOutcome> {
  const { close, ...warm } = warmProjects(options);
  try {
    return await fixProjects({ ...options, ...warm });
  } finally {
    await close();
  }
}

async function fixProjects(options: FixOptions): Promise<FixOutcome> {
  const results: ProjectResult[] = [];
  const baselines = await baselinesFor(options);
  for (const project of options.projects) {
    const result = await fixProject(project, { ...options, baselines });
    if (result.kind === 'cancelled') return cancelledWith(results);
    if (result.kind !== 'project') return result;
    results.push(result);
  }
  const targets = results.flatMap((result) => result.targets);
  const flaky = results.flatMap((result) => result.flaky);
  if (targets.length === 0) return nothingToFix(results, flaky, options);

  if (options.signal.aborted) return cancelledWith(results);

  const patches = results.flatMap((result) => result.patches);
  options.listener?.({ kind: 'verifying', targets: patches.flatMap((entry) => entry.targets) });
  const together = await verifyTogether(patches, options.signal);
  if (options.signal.aborted) return cancelledWith(results);
  const solved = new Set(together.solved);
  const unsolved = targets
    .filter(({ target }) => !solved.has(target.id))
    .map((report): Unsolved => {
      const { id } = report.target;
      const reason = together.problems.get(id);
      return reason === undefined ? { id, ...whyNot(report) } : { id, reason };
    });
  // Who asks for everything that fails must not read that all is well.
  if (options.tests.length === 0) {
    for (const { file, message } of results.flatMap((result) => result.collectionErrors)) {
      unsolved.push({ id: file, reason: `could not be loaded: ${firstLine(message)}` });
    }
  }
  const { patch, verification } = together;
  return {
    kind: 'done',
    report: { targets, patch, verification, solved: [...solved], unsolved, flaky },
  };
}

/** With names and several projects, all must be known first: a name may be another project's. */
async function baselinesFor(options: FixOptions): Promise<FixOptions['baselines']> {
  if (options.baselines || options.tests.length === 0 || options.projects.length === 1) {
    return options.baselines;
  }
  const baselines = new Map<PreparedProject, BaselineOutcome>();
  for (const project of options.projects) {
    baselines.set(project, await baselineOf(project, options));
  }
  return baselines;
}

/** The names that this project is asked for: those that only another one knows are left out. */
function namesFor(project: PreparedProject, baseline: Baseline, options: FixOptions) {
  const others = [...(options.baselines ?? [])].flatMap(([other, outcome]) =>
    other !== project && outcome.kind === 'baseline' ? [outcome.baseline] : [],
  );
  return options.tests.filter(
    (name) => isNamed(baseline, name) || !others.some((other) => isNamed(other, name)),
  );
}

function cancelledWith(results: readonly ProjectResult[]): FixOutcome {
  const solved = results
    .flatMap((result) => result.targets)
    .flatMap(({ target, best }) =>
      best?.row.outcome === 'solved' ? [{ id: target.id, attemptId: best.attemptId }] : [],
    );
  return { kind: 'cancelled', solved };
}

async function fixProject(
  project: PreparedProject,
  options: FixOptions,
): Promise<ProjectResult | PrepareProblem | { kind: 'cancelled' }> {
  const { listener, signal } = options;
  const outcome = options.baselines?.get(project) ?? (await baselineOf(project, options));
  if (outcome.kind === 'cancelled') return outcome;
  if (outcome.kind === 'environment') return problem('environment', outcome.reason, outcome.remedy);
  const nothing = {
    kind: 'project',
    tests: 0,
    passing: 0,
    targets: [],
    patches: [],
    flaky: [],
    collectionErrors: [],
  } as const;
  if (outcome.kind === 'no-tests') return nothing;

  const { baseline } = outcome;
  const counts = {
    tests: baseline.results.length,
    passing: baseline.passing.length,
    flaky: baseline.flaky,
    collectionErrors: baseline.collectionErrors,
  };
  const names = namesFor(project, baseline, options);
  if (names.length === 0 && options.tests.length > 0) return { ...nothing, ...counts };
  const chosen = selectTargets(baseline, names);
  if (chosen.kind === 'unknown') return { ...nothing, ...counts, unknown: chosen.problem };
  if (chosen.targets.length === 0) return { ...nothing, ...counts };
  for (const { file, message } of baseline.collectionErrors) {
    listener?.({
      kind: 'warning',
      text: `${file} could not be loaded: ${firstLine(message)}`,
    });
  }
  listener?.({ kind: 'failing', tests: chosen.targets });

  if (options.parity) {
    // This runs outside of the sandbox, so it is said; for a stranger's repository leave it out.
    const text =
      'Running them once in your own environment, to compare (--no-parity leaves it out)';
    listener?.({ kind: 'progress', text });
  }
  const parity = options.parity
    ? await checkParity(project, chosen.targets, options.environment, signal)
    : { warnings: [], onlyInSandbox: [] };
  for (const warning of parity.warnings) listener?.({ kind: 'warning', ...warning });
  const skipped = new Map(parity.onlyInSandbox.map((entry) => [entry.id, entry]));
  for (const { id, reason, remedy } of skipped.values()) {
    if (skipped.size < chosen.targets.length)
      listener?.({ kind: 'warning', text: `${id} is left out: it ${reason}.`, remedy });
  }
  if (skipped.size === chosen.targets.length) {
    const [first] = skipped.values();
    const names = [...skipped.keys()].join(', ');
    return problem('environment', `${names}: ${first?.reason}.`, first?.remedy ?? '');
  }

  const guidance = await readGuidance(project.workspace);
  const open = chosen.targets
    .filter((target) => !skipped.has(target.id))
    .map((target) => ({
      target,
      setup: attemptBase(options, project, baseline, target, guidance),
    }));
  const suited = await onlySuited(open, skipped, options);
  const rounds = await runRounds(suited, options);
  const left = chosen.targets
    .filter((target) => skipped.has(target.id))
    .map(
      (target): TargetReport => ({
        target,
        framework: project.setup.framework.id,
        attempts: [],
        skipped: skipped.get(target.id),
      }),
    );
  return {
    kind: 'project',
    ...counts,
    targets: [...rounds.targets, ...left],
    patches: rounds.patches,
  };
}

/** Several times, each time on a fresh layer. */
function baselineOf(
  { setup, detail, reward }: PreparedProject,
  { listener, signal }: Pick<FixOptions, 'listener' | 'signal'>,
): Promise<BaselineOutcome> {
  listener?.({
    kind: 'progress',
    text: `Running the ${reward === undefined ? 'tests' : 'reward'}: ${detail}`,
  });
  return makeBaseline(setup, { signal, runs: reward === undefined ? 2 : REWARD_RUNS });
}

/** A reward is admitted like a task: repeats must agree. */
const REWARD_RUNS = 3;

/** Attempts are not spent on what the policy is not made for; why not is said before any begins. */
async function onlySuited(
  open: readonly { readonly target: TestResult; readonly setup: TargetSetup }[],
  skipped: Map<string, { readonly id: string; readonly reason: string; readonly remedy: string }>,
  { policy, signal, listener }: FixOptions,
): Promise<typeof open> {
  const suited: (typeof open)[number][] = [];
  const reasons = new Map<string, string[]>();
  for (const entry of open) {
    const reason = await whyNotSuited(policy, entry.setup);
    const { id } = entry.target;
    if (reason === undefined) suited.push(entry);
    else reasons.set(reason, [...(reasons.get(reason) ?? []), id]);
  }
  const remedy = reasons.size > 0 ? await otherPolicies(signal) : '';
  for (const [reason, ids] of reasons) {
    for (const id of ids) skipped.set(id, { id, reason, remedy });
    listener?.({ kind: 'warning', text: `${ids.join(', ')}: ${reason}.`, remedy });
  }
  return suited;
}

function attemptBase(
  options: FixOptions,
  project: PreparedProject,
  baseline: Baseline,
  target: TestResult,
  guidance: string | undefined,
): TargetSetup {
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
    rules: 'lenient',
    redactor,
    hint,
    guidance,
  };
}

function nothingToFix(
  results: readonly ProjectResult[],
  flaky: readonly string[],
  { tests: wanted, projects }: Pick<FixOptions, 'tests' | 'projects'>,
): FixOutcome {
  const named = wanted.length > 0;
  const unknown = results.find((result) => result.unknown)?.unknown;
  if (unknown && named) return unknown;
  const tests = results.reduce((sum, result) => sum + result.tests, 0);
  const passing = results.reduce((sum, result) => sum + result.passing, 0);
  const errors = results.flatMap((result) => result.collectionErrors);
  if (errors.length > 0 && !named) return notLoadable(errors);
  if (tests === 0) return NO_TESTS;
  if (projects.some(({ reward }) => reward !== undefined)) {
    return flaky.length === 0 ? REWARD_IS_ONE : REWARD_DIFFERS;
  }
  const count = `${passing} of ${tests} pass.`;
  if (flaky.length === 0)
    return { kind: 'nothing-to-do', reason: `No test fails: ${count}`, green: true };
  return {
    kind: 'nothing-to-do',
    reason: `No test fails every time: ${count} Flaky, so not worked on: ${flaky.join(', ')}.`,
    green: false,
  };
}

const REWARD_IS_ONE: FixOutcome = {
  kind: 'nothing-to-do',
  reason: 'The reward of the unchanged code is already 1, so there is nothing to solve.',
  green: true,
};

const REWARD_DIFFERS: FixOutcome = problem(
  'usage',
  'Repeats on the unchanged code do not agree: the reward is sometimes 0 and sometimes 1.',
  'Take chance, time and order out of the reward, or fix its seeds.',
);

function whyNot({ attempts, best, skipped }: TargetReport): Omit<Unsolved, 'id'> {
  if (skipped) return { reason: skipped.reason, remedy: skipped.remedy };
  if (best?.row.outcome === 'solved_with_test_changes')
    return { reason: 'solved only with changes to tests or configuration' };
  const last = attempts.at(-1);
  if (!last) return { reason: 'no attempt was made' };
  const remedy = last.end.kind === 'infrastructure' ? last.end.remedy : undefined;
  return { reason: last.row.reason, remedy };
}
