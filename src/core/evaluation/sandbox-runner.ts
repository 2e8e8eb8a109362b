import { performance } from 'node:perf_hooks';
import { type AttemptEnd, outcomeOf } from '../agent/outcomes.ts';
import { newId } from '../fix/ids.ts';
import type { TaskAttempt, TaskRequest, TaskRunner } from './task-runner.ts';
import { attemptInViews, openTaskViews, type TaskViews, type ViewOptions } from './task-views.ts';
import { createWorlds } from './worlds.ts';

export interface SandboxRunnerOptions extends ViewOptions {
  /** Tasks that stay open between attempts, besides those in use. */
  readonly idle?: number;
}

export interface SandboxRunner {
  readonly run: TaskRunner;
  /** Removes what the open tasks have on the disk; later attempts are invalid. */
  close(): Promise<void>;
}

/** The world that users have: sandboxes and real test runs. */
export function createSandboxRunner(options: SandboxRunnerOptions): SandboxRunner {
  const worlds = createWorlds<TaskViews>(options.idle ?? 1);
  const session = newId();

  const run: TaskRunner = async (request) => {
    const { task, tree, signal } = request;
    const began = performance.now();
    const spent = (): number => performance.now() - began;
    try {
      const made = await worlds.use(
        task.id,
        (folder, ended) => openTaskViews(task, tree, folder, options, ended),
        signal,
        (views) => attemptIn(views, request, session),
      );
      if (!('kind' in made)) return made;
      const { reason, remedy } = made;
      return notMade({ kind: 'infrastructure', reason, remedy }, spent());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const end: AttemptEnd = signal.aborted
        ? { kind: 'cancelled' }
        : { kind: 'infrastructure', reason };
      return notMade(end, spent());
    }
  };

  return { run, close: () => worlds.close() };
}

async function attemptIn(
  views: TaskViews,
  request: TaskRequest,
  seriesId: string,
): Promise<TaskAttempt> {
  const { task, policy, budgets, rules, seed, sink, signal } = request;
  const attempt = { attemptId: newId(), seriesId, taskId: task.id, policy, budgets, rules, seed };
  const report = await attemptInViews(views, attempt, { sink, signal });
  const { row, end, totals, effort, patch, durationMs } = report;
  return { row, end, totals, ...effort, patch, durationMs };
}

function notMade(end: AttemptEnd, durationMs: number): TaskAttempt {
  return {
    row: outcomeOf(end, undefined),
    end,
    totals: { turns: 0, promptTokens: 0, completionTokens: 0 },
    edits: 0,
    testRuns: 0,
    tries: 0,
    patch: '',
    durationMs,
  };
}
