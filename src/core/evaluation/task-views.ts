import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redactor } from '../agent/redactor.ts';
import type { SessionEnvironment } from '../environments/build.ts';
import { type AttemptDeps, type AttemptReport, runAttempt } from '../fix/attempt.ts';
import type { PrepareProblem } from '../fix/prepare.ts';
import type { Policy } from '../policies/policy.ts';
import { hostRedactor } from '../redaction/host.ts';
import type { SandboxProvider } from '../sandbox/sandbox.ts';
import { type OpenedTask, openTask } from '../tasks/open-task.ts';
import type { Task } from '../tasks/task.ts';
import type { FileTree } from '../tasks/tree.ts';
import type { Budgets } from '../trajectories/schema.ts';

/** A task that can be worked on: where it is acted, and where it is graded. */
export interface TaskViews {
  readonly kind: 'views';
  readonly agent: OpenedTask;
  readonly grading: OpenedTask;
  /** What the agent can see, and so make pass. */
  readonly targets: readonly string[];
  /** What a solution makes pass. */
  readonly gradedTargets: readonly string[];
  readonly redactor: Redactor;
}

export interface ViewOptions {
  readonly provider: SandboxProvider;
  readonly testTimeoutMs: number;
  /** The host's, for the redactor. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Docker: where the task's packages are installed. */
  readonly packages?: SessionEnvironment | undefined;
}

/** One view of a task, in a folder of its own inside of `folder`. */
export async function openTaskView(
  task: Task,
  tree: FileTree,
  view: 'agent' | 'grading',
  folder: string,
  { provider, testTimeoutMs, packages }: Omit<ViewOptions, 'environment'>,
  signal: AbortSignal,
): Promise<OpenedTask | PrepareProblem> {
  const place = join(folder, view);
  await mkdir(place);
  // Snapshots go with the task, instead of filling the user's store.
  const stateDir = join(folder, 'state');
  const given = { provider, stateDir, folder: place, testTimeoutMs, signal };
  return openTask(task, tree, view, { ...given, environment: packages });
}

/** Both views of a task in one folder. */
export async function openTaskViews(
  task: Task,
  tree: FileTree,
  folder: string,
  options: ViewOptions,
  signal: AbortSignal,
): Promise<TaskViews | PrepareProblem> {
  const agent = await openTaskView(task, tree, 'agent', folder, options, signal);
  if (agent.kind === 'problem') return agent;
  const grading = await openTaskView(task, tree, 'grading', folder, options, signal);
  if (grading.kind === 'problem') return grading;
  const { environment } = options;
  const redactor = await hostRedactor({
    workspacePath: join(folder, 'agent'),
    files: [...tree.keys()],
    environment,
  });
  const visible = new Set(task.visible);
  const targets = task.targets.filter((id) => visible.has(id));
  return { kind: 'views', agent, grading, targets, gradedTargets: task.targets, redactor };
}

export interface ViewAttempt {
  readonly attemptId: string;
  readonly seriesId: string;
  readonly taskId: string;
  readonly policy: Policy;
  readonly budgets: Budgets;
  readonly rules: 'strict' | 'lenient';
  readonly seed: number;
}

/** One attempt: acts on one view, is graded on the other. Never rejects, as `runAttempt`. */
export function attemptInViews(
  { agent, grading, targets, gradedTargets, redactor }: TaskViews,
  attempt: ViewAttempt,
  deps: AttemptDeps,
): Promise<AttemptReport> {
  const { setup, baseline } = grading;
  return runAttempt(
    {
      ...attempt,
      workspaceName: 'task',
      targets,
      grade: agent.setup,
      baseline: agent.baseline,
      grading: { setup, baseline, targets: gradedTargets },
      redactor,
    },
    deps,
  );
}
