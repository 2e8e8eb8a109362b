import { performance } from 'node:perf_hooks';
import { type LoopResult, runLoop } from '../../agent/loop.ts';
import { type AttemptEnd, outcomeOf, type Verdict } from '../../agent/outcomes.ts';
import type { Redactor } from '../../agent/redactor.ts';
import type { TaskAttempt, TaskRequest, TaskRunner } from '../../evaluation/task-runner.ts';
import { openingMessages } from '../../fix/opening.ts';
import { attemptTools } from '../../fix/tools.ts';
import type { TestRun } from '../../frameworks/framework.ts';
import { nodeTest } from '../../frameworks/node-test/node-test.ts';
import { runTests, type TestRequest } from '../../frameworks/run.ts';
import { isFailing } from '../../frameworks/status.ts';
import { judge } from '../../grading/grade.ts';
import { editPatch } from '../edit-patch.ts';
import type { Task } from '../task.ts';
import type { FileTree } from '../tree.ts';
import { viewOf } from '../views.ts';
import type { MemoryTree } from './memory-files.ts';
import { createMemorySession, type TestRuns } from './memory-session.ts';

/** One run of the tests of a generated task. */
const TEST_TIMEOUT_MS = 5_000;

/** Generated files hold no secrets. */
const NO_REDACTION: Redactor = {
  redact: async (text) => text,
  holdsSecret: async () => false,
};

export interface Rehearsal extends TaskAttempt {
  readonly messages: LoopResult['messages'];
}

/** Attempts at generated tasks without sandbox processes; `rehearse` with its texts left out. */
export function rehearsalRunner(testRuns: TestRuns): TaskRunner {
  return (request) => rehearse(request, testRuns);
}

/**
 * One attempt at a generated task: the real loop, tools and texts over files in memory. Acts on the
 * `agent` view and grades on the `grading` view. The same transcript and outcome as in a sandbox
 * (test/integration/core/tasks/rehearsal.test.ts), thousands in the time of a few.
 */
export async function rehearse(request: TaskRequest, testRuns: TestRuns): Promise<Rehearsal> {
  const { task, tree, policy, seed, budgets, rules, sink, signal } = request;
  const began = performance.now();
  const files = memoryOf(viewOf(task, tree, 'agent'));
  const session = createMemorySession(files, testRuns);
  const opening = await openRehearsal(task, tree, testRuns);
  if (opening.kind === 'different') {
    throw new Error(`Task ${task.id} does not fail as it says when it is rehearsed.`);
  }
  const setup = {
    framework: nodeTest,
    program: 'node',
    projectPath: '',
    timeoutMs: TEST_TIMEOUT_MS,
  };
  const loop = await runLoop({
    policy,
    tools: attemptTools(session, setup, opening.targets),
    messages: opening.messages,
    budgets,
    rules,
    seed,
    redactor: NO_REDACTION,
    sink,
    signal,
  });
  const verdict =
    loop.end.kind === 'submitted' ? await grade(task, tree, files, testRuns) : undefined;
  return {
    row: outcomeOf(loop.end, verdict),
    end: loop.end satisfies AttemptEnd,
    totals: loop.totals,
    ...loop.effort,
    patch: patchOf(viewOf(task, tree, 'agent'), files),
    durationMs: performance.now() - began,
    messages: loop.messages,
  };
}

export type OpenedRehearsal = Opened | { readonly kind: 'different' };

interface Opened {
  readonly kind: 'opened';
  readonly messages: LoopResult['messages'];
  /** Those that the agent may see. */
  readonly targets: readonly string[];
}

/** What an attempt at the task starts from; `different`: its tests do not fail as the task says. */
export async function openRehearsal(
  task: Task,
  tree: FileTree,
  testRuns: TestRuns,
): Promise<OpenedRehearsal> {
  const files = memoryOf(viewOf(task, tree, 'agent'));
  const visible = new Set(task.visible);
  const wanted = new Set(task.targets.filter((id) => visible.has(id)));
  const run = await runAll(files, testRuns, []);
  const failing = run.kind === 'ran' ? run.results.filter(isFailing) : [];
  const targets = failing.map(({ id }) => id);
  if (targets.length !== wanted.size || targets.some((id) => !wanted.has(id))) {
    return { kind: 'different' };
  }
  const reader = { readText: async (path: string) => files.get(path)?.toString('utf8') };
  const messages = await openingMessages({ tree: reader, failing, redactor: NO_REDACTION });
  return { kind: 'opened', messages, targets };
}

/** The files that the agent changed, with the tests as grading has them. */
async function grade(
  task: Task,
  tree: FileTree,
  files: MemoryTree,
  testRuns: TestRuns,
): Promise<Verdict> {
  const graded = memoryOf(viewOf(task, tree, 'grading'));
  const before = memoryOf(viewOf(task, tree, 'agent'));
  let changed = false;
  for (const path of new Set([...files.keys(), ...before.keys()])) {
    const now = files.get(path);
    if (now !== undefined && before.get(path)?.equals(now)) continue;
    const { isTestFile, isSteeringFile } = nodeTest.steering;
    if (isTestFile(path) || isSteeringFile(path) || path === 'package.json') continue;
    changed = true;
    if (now) graded.set(path, now);
    else graded.delete(path);
  }
  if (!changed) return 'failed';
  const run = await runAll(graded, testRuns, []);
  return judge(run, task.targets, task.passing, undefined).passed ? 'passed' : 'failed';
}

function runAll(
  files: MemoryTree,
  testRuns: TestRuns,
  tests: TestRequest['tests'],
): Promise<TestRun> {
  return runTests(
    createMemorySession(files, testRuns),
    nodeTest,
    { program: 'node', projectPath: '', tests },
    { timeoutMs: TEST_TIMEOUT_MS },
  );
}

function memoryOf(tree: FileTree): MemoryTree {
  return new Map([...tree].map(([path, { content }]) => [path, content]));
}

function patchOf(before: FileTree, files: MemoryTree): string {
  return [...files]
    .map(([path, now]) => {
      const old = before.get(path)?.content.toString('utf8') ?? '';
      return editPatch(path, old, now.toString('utf8'));
    })
    .join('');
}
