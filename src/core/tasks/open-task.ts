import type { SessionEnvironment } from '../environments/build.ts';
import type { PrepareProblem } from '../fix/prepare.ts';
import { prepareWorkspace, problem } from '../fix/prepare.ts';
import { makeBaseline } from '../grading/baseline.ts';
import type { Baseline, GradeSetup } from '../grading/types.ts';
import type { SandboxProvider } from '../sandbox/sandbox.ts';
import type { Task } from './task.ts';
import { type FileTree, writeTree } from './tree.ts';
import { type TaskView, viewOf } from './views.ts';

export interface OpenTaskOptions {
  readonly provider: SandboxProvider;
  readonly stateDir: string;
  /** An empty folder; the view's files are written into it and stay. */
  readonly folder: string;
  readonly testTimeoutMs: number;
  /** Docker: where the task's packages are installed. */
  readonly environment?: SessionEnvironment | undefined;
  /** Runs of all tests that must agree; see `makeBaseline`. */
  readonly runs?: number;
  readonly signal: AbortSignal;
}

export interface OpenedTask {
  readonly kind: 'opened';
  readonly setup: GradeSetup;
  readonly baseline: Baseline;
}

/**
 * A task made ready to work on (`agent`) or to grade (`grading`), with its tests run: a patch made
 * on the first is graded on the second, with `targets: task.targets`. It is a problem when the
 * tests do not fail and pass here as the task says.
 */
export async function openTask(
  task: Task,
  tree: FileTree,
  view: Exclude<TaskView, 'original'>,
  options: OpenTaskOptions,
): Promise<OpenedTask | PrepareProblem> {
  const { folder, provider, stateDir, testTimeoutMs, environment, runs, signal } = options;
  await writeTree(folder, viewOf(task, tree, view));
  const prepared = await prepareWorkspace({
    path: folder,
    provider,
    stateDir,
    include: [],
    testTimeoutMs,
    environment,
    signal,
  });
  if (prepared.kind === 'problem') return prepared;
  const project = prepared.projects.find(
    ({ setup }) => setup.framework.id === task.framework && setup.projectPath === task.projectPath,
  );
  if (project === undefined) {
    return differsHere(task, `${task.framework} was not found in its files`);
  }
  const outcome = await makeBaseline(project.setup, { signal, runs });
  if (outcome.kind === 'cancelled') signal.throwIfAborted();
  if (outcome.kind === 'environment') return problem('environment', outcome.reason, outcome.remedy);
  if (outcome.kind !== 'baseline') return differsHere(task, 'no test was found');
  const { baseline } = outcome;
  const failing = new Set(baseline.failing.map(({ id }) => id));
  const passing = new Set(baseline.passing);
  const expected = new Set(view === 'agent' ? task.visible : [...task.visible, ...task.hidden]);
  const different = [
    ...task.targets.filter((id) => expected.has(id) && !failing.has(id)),
    ...task.passing.filter((id) => expected.has(id) && !passing.has(id)),
  ];
  if (different.length > 0) {
    return differsHere(task, `${different.slice(0, 3).join(', ')} did something else than before`);
  }
  return { kind: 'opened', setup: project.setup, baseline };
}

function differsHere(task: Task, what: string): PrepareProblem {
  const { tool, range, detail, lockFiles } = task.environment;
  const needs = [`${tool} ${range || detail}`.trim(), ...lockFiles].join(', ');
  return problem(
    'environment',
    `Task ${task.id.slice(0, 12)} does not behave here as when it was made: ${what}.`,
    `It needs: ${needs}.`,
  );
}
