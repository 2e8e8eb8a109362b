import { performance } from 'node:perf_hooks';
import type { AttemptListener } from '../agent/events.ts';
import { type LoopResult, runLoop } from '../agent/loop.ts';
import type { Message } from '../agent/messages.ts';
import { type AttemptEnd, type OutcomeRow, outcomeOf } from '../agent/outcomes.ts';
import type { Redactor } from '../agent/redactor.ts';
import { openTreeReader } from '../frameworks/inside-tree.ts';
import { gradePatch } from '../grading/grade.ts';
import type { Baseline, GradeReport, GradeSetup } from '../grading/types.ts';
import type { Policy } from '../policies/policy.ts';
import { SandboxFailure, type SandboxSession } from '../sandbox/sandbox.ts';
import { extractPatch } from '../snapshot/patch.ts';
import {
  type Budgets,
  type HeaderLine,
  TRAJECTORY_VERSION,
  type TrajectoryLine,
  type TrajectorySink,
} from '../trajectories/schema.ts';
import { openingMessages } from './opening.ts';
import { currentScaffoldHash } from './scaffold.ts';
import { attemptTools, runTestsLimit } from './tools.ts';
import { AGENT_VERSION } from './version.ts';

/** One attempt at one task: what it needs, apart from where it is recorded and followed. */
export interface AttemptSetup {
  readonly attemptId: string;
  readonly seriesId: string;
  readonly taskId: string;
  readonly workspaceName: string;
  readonly targets: readonly string[];
  readonly grade: GradeSetup;
  readonly baseline: Baseline;
  /** Where the patch is graded, when that is not where it was made (tests that the agent does not see). */
  readonly grading?: {
    readonly setup: GradeSetup;
    readonly baseline: Baseline;
    readonly targets: readonly string[];
  };
  readonly policy: Policy;
  readonly budgets: Budgets;
  readonly rules: 'strict' | 'lenient';
  readonly seed: number;
  readonly redactor: Redactor;
  readonly hint?: string;
  readonly guidance?: string;
}

export interface AttemptReport {
  readonly attemptId: string;
  readonly row: OutcomeRow;
  readonly end: AttemptEnd;
  /** Empty when nothing changed. */
  readonly patch: string;
  readonly summary: string;
  /** undefined: not submitted, or grading itself broke (the row says why). */
  readonly grade?: GradeReport;
  readonly totals: LoopResult['totals'];
  readonly effort: LoopResult['effort'];
  readonly durationMs: number;
  /** ISO 8601. */
  readonly endedAt: string;
  /** Why the record of this attempt is not complete, where it is not. */
  readonly recordProblem?: string;
}

export interface AttemptDeps {
  readonly sink: TrajectorySink;
  readonly signal: AbortSignal;
  readonly listener?: AttemptListener;
  /** The agent is done, grading begins. */
  readonly onGrading?: () => void;
  /** In place of `gradePatch`: what it said of an equal patch before counts as well. */
  readonly grade?: typeof gradePatch;
}

/**
 * Acts in a sandbox of its own, then grades the patch in fresh ones, and records both. Never rejects
 * for what a policy, a sandbox or a disk can do: such attempts come back as `invalid`.
 */
export async function runAttempt(setup: AttemptSetup, deps: AttemptDeps): Promise<AttemptReport> {
  const began = performance.now();
  const wanted = new Set(setup.targets);
  const messages = await openingMessages({
    ...setup,
    tree: openTreeReader(setup.grade.spec.base.tree),
    failing: setup.baseline.failing.filter((test) => wanted.has(test.id)),
  });
  const unrecorded = await record(deps.sink, headerLine(setup, messages));
  const acted: Acted = unrecorded
    ? { loop: notStarted(messages), end: { kind: 'infrastructure', reason: unrecorded }, patch: '' }
    : await act(setup, deps, messages);
  const { end, row, grade } = await judge(setup, deps, acted);

  const summary = await setup.redactor.redact(acted.loop.summary);
  const { totals, effort, leniencyUsed, localOnly } = acted.loop;
  const durationMs = Math.round(performance.now() - began);
  const endedAt = new Date().toISOString();
  const recordProblem = await record(deps.sink, {
    type: 'end',
    endedAt,
    end,
    outcome: row.outcome,
    reward: row.reward,
    reason: row.reason,
    patch: await setup.redactor.redact(acted.patch),
    summary,
    flags: (grade?.flags ?? []).map((flag) => `${flag.rule}: ${flag.file}`),
    leniencyUsed,
    localOnly,
    totals: { ...totals, durationMs },
  });
  const { attemptId } = setup;
  return {
    attemptId,
    row,
    end,
    patch: acted.patch,
    summary,
    grade,
    totals,
    effort,
    durationMs,
    endedAt,
    recordProblem,
  };
}

/** A full disk must not take a verified patch with it: why the line is not on disk, or nothing. */
async function record(sink: TrajectorySink, line: TrajectoryLine): Promise<string | undefined> {
  try {
    await sink.append(line);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Judged {
  readonly end: AttemptEnd;
  readonly row: OutcomeRow;
  readonly grade?: GradeReport;
}

async function judge(setup: AttemptSetup, deps: AttemptDeps, acted: Acted): Promise<Judged> {
  const { end, patch } = acted;
  if (end.kind !== 'submitted') return { end, row: outcomeOf(end, undefined) };
  if (acted.unusable) return { end, row: { ...outcomeOf(end, 'failed'), reason: acted.unusable } };
  deps.onGrading?.();
  const where = setup.grading ?? { ...setup, setup: setup.grade };
  const { baseline, targets } = where;
  const graded = await (deps.grade ?? gradePatch)({
    setup: where.setup,
    baseline,
    targets,
    patch,
    signal: deps.signal,
  });
  if (graded.kind === 'graded') {
    const { report } = graded;
    const row = outcomeOf(end, report.verdict);
    const failed = report.verdict === 'failed';
    return {
      end,
      grade: report,
      row: failed ? { ...row, reason: report.strict.explanation } : row,
    };
  }
  const broken: AttemptEnd = deps.signal.aborted
    ? { kind: 'cancelled' }
    : { kind: 'infrastructure', reason: graded.reason, remedy: graded.remedy };
  return { end: broken, row: outcomeOf(broken, undefined) };
}

interface Acted {
  readonly loop: LoopResult;
  readonly end: AttemptEnd;
  readonly patch: string;
  /** Why what was submitted cannot be graded, by the attempt's own fault. */
  readonly unusable?: string;
}

async function act(
  setup: AttemptSetup,
  deps: AttemptDeps,
  messages: readonly Message[],
): Promise<Acted> {
  const { policy, budgets, rules, seed, redactor, grade } = setup;
  const { sink, signal, listener } = deps;
  let session: SandboxSession | undefined;
  let loop: LoopResult | undefined;
  try {
    session = await grade.provider.open(grade.spec, signal);
    const timeoutMs = runTestsLimit(setup.baseline.durationMs, grade.timeoutMs);
    const tools = attemptTools(session, { ...grade, timeoutMs }, setup.targets);
    loop = await runLoop({
      policy,
      tools,
      messages,
      budgets,
      rules,
      seed,
      redactor,
      sink,
      signal,
      listener,
    });
    if (loop.end.kind === 'cancelled') return { loop, end: loop.end, patch: '' };
    const extracted = await extractPatch(session, grade.spec.base, { signal });
    if (extracted.kind === 'patch') return { loop, end: loop.end, patch: extracted.patch };
    return { loop, end: loop.end, patch: '', unusable: extracted.reason };
  } catch (error) {
    return { loop: loop ?? notStarted(messages), end: failureOf(error, signal), patch: '' };
  } finally {
    await session?.close();
  }
}

function failureOf(error: unknown, signal: AbortSignal): AttemptEnd {
  if (signal.aborted) return { kind: 'cancelled' };
  const reason = error instanceof Error ? error.message : String(error);
  const remedy = error instanceof SandboxFailure ? error.remedy : undefined;
  return { kind: 'infrastructure', reason, remedy };
}

function notStarted(messages: readonly Message[]): LoopResult {
  return {
    end: { kind: 'infrastructure', reason: 'the attempt did not start' },
    messages,
    summary: '',
    leniencyUsed: false,
    localOnly: false,
    totals: { turns: 0, promptTokens: 0, completionTokens: 0 },
    effort: { edits: 0, testRuns: 0, tries: 0 },
  };
}

function headerLine(setup: AttemptSetup, messages: readonly Message[]): HeaderLine {
  const { grade, policy } = setup;
  return {
    type: 'header',
    version: TRAJECTORY_VERSION,
    attemptId: setup.attemptId,
    seriesId: setup.seriesId,
    startedAt: new Date().toISOString(),
    agent: { name: 'prime-agent', version: AGENT_VERSION },
    policy: policy.description,
    scaffoldHash: currentScaffoldHash(),
    rules: setup.rules,
    seed: setup.seed,
    sandbox: grade.provider.kind,
    budgets: setup.budgets,
    task: {
      id: setup.taskId,
      framework: grade.framework.id,
      targets: [...setup.targets],
      snapshotId: grade.spec.base.id,
      workspaceName: setup.workspaceName,
    },
    messages: structuredClone(messages) as HeaderLine['messages'],
  };
}
