import type { LoopTotals } from '../agent/loop.ts';
import type { AttemptEnd, OutcomeRow } from '../agent/outcomes.ts';
import type { Effort } from '../agent/tries.ts';
import type { Policy } from '../policies/policy.ts';
import type { Task } from '../tasks/task.ts';
import type { FileTree } from '../tasks/tree.ts';
import type { Budgets, TrajectorySink } from '../trajectories/schema.ts';

/** One attempt at one task, in whatever world the runner has. */
export interface TaskRequest {
  readonly task: Task;
  /** The original files, of `task.tree`. */
  readonly tree: FileTree;
  readonly policy: Policy;
  readonly seed: number;
  readonly budgets: Budgets;
  readonly rules: 'strict' | 'lenient';
  readonly sink: TrajectorySink;
  readonly signal: AbortSignal;
}

/** `edits`, `testRuns` and `tries` as the loop counts them (`LoopResult.effort`). */
export interface TaskAttempt extends Effort {
  readonly row: OutcomeRow;
  readonly end: AttemptEnd;
  readonly totals: LoopTotals;
  /** Empty when nothing changed. */
  readonly patch: string;
  readonly durationMs: number;
}

/**
 * The world that attempts run in: acts on the task's `agent` view, grades on its `grading` view with
 * `task.targets`. Never rejects for what a policy, a sandbox or a disk can do: such attempts come
 * back with the outcome `invalid`. May be called several times at once, for the same task too.
 */
export type TaskRunner = (request: TaskRequest) => Promise<TaskAttempt>;
