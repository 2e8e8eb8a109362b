import type { Policy } from '../policies/policy.ts';
import { createChance } from '../tasks/random.ts';
import type { Task } from '../tasks/task.ts';
import type { FileTree } from '../tasks/tree.ts';
import type { Budgets, TrajectorySink } from '../trajectories/schema.ts';
import type { AttemptRecord } from './results-file.ts';
import type { TaskAttempt, TaskRunner } from './task-runner.ts';

export interface EvaluationTask {
  readonly task: Task;
  readonly tree: FileTree;
}

export interface EvaluateOptions {
  readonly tasks: readonly EvaluationTask[];
  readonly policy: Policy;
  /** Per task. */
  readonly attempts: number;
  /** Attempts at the same time. */
  readonly parallel: number;
  readonly seed: number;
  readonly budgets: Budgets;
  readonly rules: 'strict' | 'lenient';
  readonly runner: TaskRunner;
  readonly signal: AbortSignal;
  /** Of an earlier, interrupted run: not made again unless they are invalid. */
  readonly done?: readonly AttemptRecord[];
  /** Called with each attempt as it ends, one at a time. Its rejection ends the evaluation. */
  readonly onRecord?: (record: AttemptRecord) => Promise<void>;
  /** Called after each attempt; must not throw. */
  readonly onProgress?: (progress: EvaluationProgress) => void;
  /** Where the trajectory of an attempt goes; without it nowhere. */
  readonly openSink?: (where: {
    readonly task: Task;
    readonly attempt: number;
  }) => Promise<TrajectorySink & { close(): Promise<void> }>;
}

export interface EvaluationProgress {
  readonly done: number;
  readonly of: number;
  readonly solved: number;
  readonly invalid: number;
}

export interface EvaluateOutcome {
  /** `broken`: attempts at several tasks in a row were invalid, so the others were not begun. */
  readonly kind: 'done' | 'cancelled' | 'broken';
  readonly records: readonly AttemptRecord[];
  /** Why it is broken. */
  readonly reason?: string;
  readonly remedy?: string;
}

/** Tasks in a row whose attempts are all invalid: the machine is broken, not these tasks. */
const BROKEN_TASKS = 3;

/**
 * Attempts at tasks, some at a time. An attempt that is invalid (infrastructure) is made once more;
 * if that is invalid too it is recorded as such and counts neither as solved nor as failed. Tasks
 * come in an order that the seed decides, so that those of an interrupted run are a fair sample.
 */
export async function evaluate(options: EvaluateOptions): Promise<EvaluateOutcome> {
  const { attempts, signal, seed, onRecord, onProgress } = options;
  const made = new Map<string, AttemptRecord>();
  const place = (task: string, attempt: number): string => `${task} ${attempt}`;
  const jobs = orderedBySeed(options.tasks, seed).flatMap((entry) =>
    Array.from({ length: attempts }, (_, attempt) => ({ ...entry, attempt })),
  );
  const wanted = new Set(jobs.map(({ task, attempt }) => place(task.id, attempt)));
  for (const record of options.done ?? []) {
    const key = place(record.task, record.attempt);
    if (record.outcome !== 'invalid' && wanted.has(key)) made.set(key, record);
  }
  const open = jobs.filter(({ task, attempt }) => !made.has(place(task.id, attempt)));

  const broken = new Set<string>();
  let failure: { readonly reason: string; readonly remedy?: string } | undefined;
  let written: Promise<void> = Promise.resolve();
  const report = (): void => {
    const records = [...made.values()];
    onProgress?.({
      done: records.length,
      of: jobs.length,
      solved: records.filter(({ outcome }) => outcome === 'solved').length,
      invalid: records.filter(({ outcome }) => outcome === 'invalid').length,
    });
  };
  const worker = async (): Promise<void> => {
    for (let job = open.shift(); job !== undefined; job = open.shift()) {
      if (signal.aborted || failure !== undefined) return;
      const { task, attempt } = job;
      let result = await attemptAt(options, job);
      const repeated = result.row.outcome === 'invalid' && !signal.aborted;
      if (repeated) result = await attemptAt(options, job);
      // Cancelled: as if it had not begun.
      if (signal.aborted && result.row.outcome === 'invalid') return;
      const record = recordOf(result, task.id, attempt, seedOf(seed, attempt), repeated);
      made.set(place(task.id, attempt), record);
      written = written.then(() => onRecord?.(record));
      await written;
      report();
      if (record.outcome !== 'invalid') broken.clear();
      else broken.add(task.id);
      if (broken.size >= BROKEN_TASKS) {
        const { end } = result;
        failure = {
          reason: record.reason,
          ...(end.kind === 'infrastructure' && end.remedy !== undefined
            ? { remedy: end.remedy }
            : {}),
        };
      }
    }
  };
  report();
  const workers = Math.max(1, Math.min(options.parallel, open.length));
  // All are waited for, so that nothing goes on in the background when one has failed.
  const ended = await Promise.allSettled(Array.from({ length: workers }, worker));
  for (const worker of ended) if (worker.status === 'rejected') throw worker.reason;
  const records = jobs.flatMap(({ task, attempt }) => made.get(place(task.id, attempt)) ?? []);
  if (signal.aborted) return { kind: 'cancelled', records };
  if (failure) return { kind: 'broken', records, ...failure };
  return { kind: 'done', records };
}

/** A seeded choice of tasks: the same for every policy, and part of the larger choices. */
export function chooseTasks<T extends { readonly task: Task }>(
  tasks: readonly T[],
  limit: number,
  seed: number,
): readonly T[] {
  return orderedBySeed(tasks, seed).slice(0, limit);
}

function orderedBySeed<T extends { readonly task: Task }>(
  tasks: readonly T[],
  seed: number,
): readonly T[] {
  const sorted = [...tasks].sort((a, b) => (a.task.id < b.task.id ? -1 : 1));
  return createChance('evaluation', seed).shuffle(sorted);
}

/** Attempts per task that have seeds of their own; evaluations with other seeds share none. */
export const MOST_ATTEMPTS = 1000;

function seedOf(seed: number, attempt: number): number {
  return seed * MOST_ATTEMPTS + attempt;
}

async function attemptAt(
  options: EvaluateOptions,
  { task, tree, attempt }: EvaluationTask & { readonly attempt: number },
): Promise<TaskAttempt> {
  const { policy, budgets, rules, signal, runner } = options;
  const sink = (await options.openSink?.({ task, attempt })) ?? NOWHERE;
  try {
    const seed = seedOf(options.seed, attempt);
    return await runner({ task, tree, policy, seed, budgets, rules, sink, signal });
  } finally {
    await sink.close();
  }
}

const NOWHERE = { append: async () => {}, close: async () => {} };

function recordOf(
  result: TaskAttempt,
  task: string,
  attempt: number,
  seed: number,
  repeated: boolean,
): AttemptRecord {
  const { row, totals, edits, testRuns, tries } = result;
  return {
    type: 'attempt',
    task,
    attempt,
    seed,
    outcome: row.outcome,
    reason: row.reason,
    turns: totals.turns,
    edits,
    testRuns,
    tries,
    promptTokens: totals.promptTokens,
    completionTokens: totals.completionTokens,
    seconds: Math.round(result.durationMs) / 1000,
    repeated,
  };
}
