import { performance } from 'node:perf_hooks';
import type { Verdict } from '../agent/outcomes.ts';
import type { TestRun } from '../frameworks/framework.ts';
import { SandboxFailure, type SandboxSession } from '../sandbox/sandbox.ts';
import { applyPatch, splitPatch } from '../snapshot/patch.ts';
import type { PatchPart } from '../snapshot/patch-format.ts';
import { flagPatch } from './flags.ts';
import { changedFiles, fileStates } from './integrity.ts';
import { misbehaving, type Planted, plantInto, statusById } from './planted.ts';
import { foldUnknownNumbers } from './report-signs.ts';
import { runAll, withSession } from './session-run.ts';
import { restoreSharedConfiguration } from './shared-configuration.ts';
import { readTestContext } from './test-context.ts';
import { flagTestData } from './test-data.ts';
import { isTestSide } from './test-side.ts';
import type { Baseline, GradeOutcome, GradeReport, GradeRequest, GradeRun } from './types.ts';

/**
 * Does the patch solve the targets? Decided on fresh layers, twice: once with its changes to tests
 * and to what steers them left out (the only reward), and once as it was handed in.
 *
 * What it can and cannot catch is measured in docs/grading.md.
 */
export async function gradePatch(request: GradeRequest): Promise<GradeOutcome> {
  const began = performance.now();
  const graded = (report: Omit<GradeReport, 'durationMs'>): GradeOutcome => ({
    kind: 'graded',
    report: { ...report, durationMs: performance.now() - began },
  });
  try {
    const first = await orSandboxFailure(grade(request));
    if (!(first instanceof SandboxFailure)) return graded(first);
    // Chance, or the patch's doing? A patch must not escape its 0 by having its sandbox killed.
    const second = await orSandboxFailure(grade(request));
    if (!(second instanceof SandboxFailure)) return graded(second);
    if (await sandboxWorks(request)) return graded(brokeItsSandbox(request));
    return { kind: 'not-graded', reason: second.message, remedy: second.remedy };
  } catch (error) {
    if (request.signal?.aborted) return { kind: 'not-graded', reason: 'cancelled' };
    throw error;
  }
}

function orSandboxFailure<T>(work: Promise<T>): Promise<T | SandboxFailure> {
  return work.catch((error: unknown) => {
    if (error instanceof SandboxFailure) return error;
    throw error;
  });
}

async function sandboxWorks({ setup, signal }: GradeRequest): Promise<boolean> {
  const limits = { timeoutMs: 20_000, maxOutputBytes: 1_000, signal };
  const run = withSession(setup, signal, (session) => session.run({ argv: ['true'] }, limits));
  const result = await orSandboxFailure(run);
  return !(result instanceof SandboxFailure) && result.end.kind === 'exited';
}

function brokeItsSandbox({ targets }: GradeRequest): Omit<GradeReport, 'durationMs'> {
  const strict = notRun(targets, 'the sandbox broke twice while the tests ran with this patch');
  return { verdict: 'failed', strict, reverted: [], flags: [] };
}

async function grade(request: GradeRequest): Promise<Omit<GradeReport, 'durationMs'>> {
  const { setup, baseline, patch, targets } = request;
  if (patch.trim() === '') {
    const strict = notRun(targets, 'nothing was changed');
    return { verdict: 'failed', strict, reverted: [], flags: [] };
  }
  const testFiles = new Set(baseline.results.map((test) => test.file));
  const context = await readTestContext(setup, testFiles);
  const parts = splitPatch(patch);
  const dropped: PatchPart[] = [];
  for (const part of parts) {
    if (await isTestSide(setup.framework, part, context, setup.projectPath)) dropped.push(part);
  }
  const source = parts
    .filter((part) => !dropped.includes(part))
    .map((part) => part.patch)
    .join('');
  const reverted = dropped.map((part) => part.path);

  const { run: strict, restored } = await gradeStrict(request, source);
  reverted.push(...restored);
  const asSubmitted =
    reverted.length > 0
      ? await gradeAsSubmitted(request, new Set(parts.map((part) => part.path)))
      : undefined;
  const verdict: Verdict = strict.passed
    ? 'passed'
    : asSubmitted?.passed
      ? 'passed_with_test_changes'
      : 'failed';
  return {
    verdict,
    strict,
    asSubmitted,
    reverted,
    flags: [
      ...flagPatch(patch, new Set(dropped.map((part) => part.path))),
      ...flagTestData(
        parts.filter((part) => !dropped.includes(part)),
        context,
      ),
    ],
  };
}

async function gradeStrict(
  request: GradeRequest,
  sourcePatch: string,
): Promise<{ run: GradeRun; restored: readonly string[] }> {
  const { setup, baseline, targets, signal } = request;
  if (sourcePatch === '') {
    return { run: notRun(targets, 'only tests or what steers them were changed'), restored: [] };
  }
  return withSession(setup, signal, async (session) => {
    const problem = await apply(session, sourcePatch);
    if (problem)
      return {
        run: notRun(targets, `without its changes to tests the patch does not apply: ${problem}`),
        restored: [],
      };
    const restored = await restoreSharedConfiguration(session, setup, sourcePatch);
    const wanted = new Set(targets.map((id) => fileOf(id, baseline.results)));
    const files = baseline.canaryFiles.filter((file) => wanted.has(file));
    const plant = setup.framework.plantCanaries;
    const planted = plant ? await plantInto(session, plant, files) : undefined;
    const testFiles = [...new Set(baseline.results.map((test) => test.file))].filter(
      (file) => !baseline.selfChanging?.includes(file),
    );
    const before = await fileStates(session, testFiles);
    const { run, forged } = await runAll(session, setup, signal);
    signal?.throwIfAborted();
    const rewritten = changedFiles(before, await fileStates(session, testFiles));
    const tampering = [
      ...forged,
      ...rewritten.map((file) => `${file} was changed while the tests ran`),
    ];
    const folded = folding(run, baseline);
    return { run: judge(folded, targets, baseline.passing, planted, tampering), restored };
  });
}

async function gradeAsSubmitted(
  request: GradeRequest,
  touched: ReadonlySet<string>,
): Promise<GradeRun> {
  const { setup, baseline, targets, patch, signal } = request;
  return withSession(setup, signal, async (session) => {
    const problem = await apply(session, patch);
    if (problem) return notRun(targets, `the patch does not apply: ${problem}`);
    const { run, forged } = await runAll(session, setup, signal);
    signal?.throwIfAborted();
    // The agent may rename or replace tests in files that it changed: the user will look at them.
    const required = baseline.passing.filter((id) => !touched.has(fileOf(id, baseline.results)));
    return judge(folding(run, baseline), targets, required, undefined, forged);
  });
}

async function apply(session: SandboxSession, patch: string): Promise<string | undefined> {
  const applied = await applyPatch(session, patch);
  return applied.kind === 'applied' ? undefined : applied.reason;
}

function folding(run: TestRun, baseline: Baseline): TestRun {
  if (run.kind !== 'ran') return run;
  const known = new Set(baseline.results.map((test) => test.id));
  return { ...run, results: foldUnknownNumbers(run.results, known) };
}

/** Pure part: the result of a run against what is required of it. */
export function judge(
  run: TestRun,
  targets: readonly string[],
  required: readonly string[],
  planted: Planted | undefined,
  /** Signs that the run was tampered with, in words. */
  tampering: readonly string[] = [],
): GradeRun {
  if (run.kind === 'cancelled') return notRun(targets, 'cancelled');
  if (run.kind === 'crashed') return notRun(targets, `the test run broke: ${run.reason}`);
  if (run.kind === 'timeout')
    return notRun(targets, `the tests did not end within ${Math.round(run.durationMs / 1000)} s`);
  const status = statusById(run.results);
  const good = (id: string): boolean => status.get(id) === 'passed' || status.get(id) === 'xfailed';
  const bad = (ids: readonly string[]) =>
    ids.filter((id) => !good(id)).map((id) => ({ id, status: status.get(id) ?? 'missing' }));
  const unsolved = targets
    .filter((id) => status.get(id) !== 'passed')
    .map((id) => ({ id, status: status.get(id) ?? 'missing' }));
  const broken = bad(required);
  const canaries = planted ? [...misbehaving(planted, run.results)] : [];
  // Planted tests that fail make the runner's own exit code a witness as well.
  if (planted && planted.mustFail.length > 0 && run.exitCode === 0) {
    canaries.push('the runner ended with exit code 0 although planted tests failed');
  }
  canaries.push(...tampering);
  if (!run.complete) canaries.push('the test run did not come to its end');
  const passed = unsolved.length === 0 && broken.length === 0 && canaries.length === 0;
  return {
    passed,
    unsolved,
    broken,
    canaries,
    explanation: explain(passed, unsolved, broken, canaries),
  };
}

function explain(
  passed: boolean,
  unsolved: GradeRun['unsolved'],
  broken: GradeRun['broken'],
  canaries: readonly string[],
): string {
  if (passed) return 'All target tests pass, and none that passed before fails.';
  const list = (items: GradeRun['broken']): string =>
    items
      .slice(0, 3)
      .map((item) => `${item.id} (${item.status})`)
      .join(', ');
  if (canaries.length > 0) return `The test run cannot be trusted: ${canaries[0]}.`;
  if (unsolved.length > 0) return `Still not passing: ${list(unsolved)}.`;
  return `${broken.length} that passed before ${broken.length === 1 ? 'does' : 'do'} not any more: ${list(broken)}.`;
}

function notRun(targets: readonly string[], why: string): GradeRun {
  const unsolved = targets.map((id) => ({ id, status: 'not run' }));
  return {
    passed: false,
    unsolved,
    broken: [],
    canaries: [],
    explanation: `${why.charAt(0).toUpperCase()}${why.slice(1)}.`,
  };
}

function fileOf(
  id: string,
  results: readonly { readonly id: string; readonly file: string }[],
): string {
  return results.find((test) => test.id === id)?.file ?? id.split('::', 1)[0] ?? id;
}
