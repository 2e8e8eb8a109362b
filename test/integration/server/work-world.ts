import { setTimeout as sleep } from 'node:timers/promises';
import { openFolders } from '../../../server/src/folders.ts';
import { type Db, openDatabase } from '../../../server/src/store/database.ts';
import { createTaskTable } from '../../../server/src/store/tasks.ts';
import { addTasks } from '../../../server/src/tasks/add.ts';
import { editPatch } from '../../../src/core/tasks/edit-patch.ts';
import type { Task } from '../../../src/core/tasks/task.ts';
import { type FileTree, textTree } from '../../../src/core/tasks/tree.ts';
import { viewOf } from '../../../src/core/tasks/views.ts';
import type { EndLine, HeaderLine } from '../../../src/core/trajectories/schema.ts';
import type { Trajectory } from '../../../src/core/trajectories/trajectory.ts';
import { sumTask } from '../evaluation/tasks.ts';
import { trajectory } from './world.ts';

/** Quick to try again, and not stopped by what else happens on the machine. */
export const WORKING = {
  timing: { retryMs: 100 },
  // Other tests run beside these: workers of the lowest priority would wait for them.
  work: { parallel: 2, yieldToUser: false, onBattery: 'work', memoryMbPerJob: 256, niceness: 1 },
};

export interface SumTask {
  readonly task: Task;
  readonly tree: FileTree;
}

/** A task with its solution: a difference that has to be a sum. */
export function solvableTask(name: string): SumTask {
  const { task, tree } = sumTask(name);
  return { task: { ...task, patch: sumPatch({ task, tree }, '+') }, tree };
}

/** A patch that puts another operator where the bug is. */
export function sumPatch({ task, tree }: SumTask, operator: string): string {
  const before = viewOf(task, tree, 'agent').get(task.bug.path)?.content.toString() ?? '';
  return editPatch(task.bug.path, before, before.replace('a - b', `a ${operator} b`));
}

/** `admitted`: as if they had been tried here already. */
export async function giveTasks(
  data: string,
  entries: readonly SumTask[],
  state: 'new' | 'admitted' = 'new',
): Promise<void> {
  await withData(data, async (db) => {
    await addTasks(
      {
        entries: entries.map(({ task }) => ({ task })),
        trees: new Map(entries.map(({ task, tree }) => [task.tree, tree])),
      },
      { db, ...openFolders(data) },
    );
    if (state === 'new') return;
    const table = createTaskTable(db);
    for (const { task } of entries) table.judge(task.id, 'admitted', null);
  });
}

/** Beside the server, like a command of an admin. */
export async function withData<Result>(
  data: string,
  work: (db: Db) => Result | Promise<Result>,
): Promise<Result> {
  const db = openDatabase(openFolders(data).database);
  try {
    return await work(db);
  } finally {
    db.close();
  }
}

/** An attempt as a contributor would send it. */
export function attemptAt(
  taskId: string,
  attemptId: string,
  end: Partial<EndLine>,
  task: Partial<HeaderLine['task']> = {},
): Trajectory {
  const made = trajectory(attemptId);
  const { header } = made;
  return {
    ...made,
    header: { ...header, task: { ...header.task, id: taskId, ...task } },
    end: made.end && { ...made.end, ...end },
  };
}

/** A repository whose one test fails. */
export const FAILING = {
  'package.json': '{"name":"sent","type":"module","scripts":{"test":"node --test"}}\n',
  'src/twice.js': 'export const twice = (n) => n + 2;\n',
  'test/twice.test.js':
    "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { twice } from '../src/twice.js';\n\ntest('doubles', () => assert.equal(twice(3), 6));\ntest('two', () => assert.equal(twice(2), 4));\n",
};
export const FAILING_TREE: FileTree = textTree(FAILING);
export const FAILING_TARGET = 'test/twice.test.js::doubles';
export const FAILING_FIX = editPatch(
  'src/twice.js',
  FAILING['src/twice.js'],
  'export const twice = (n) => n * 2;\n',
);

/** On a machine that does much else at the same time, work of low priority takes long. */
export const LONG_MS = 600_000;

/** Asks until it is so. */
export async function until<Value>(
  ask: () => Value | Promise<Value>,
  good: (value: Value) => boolean,
  what: string,
): Promise<Value> {
  const began = performance.now();
  for (;;) {
    const value = await ask();
    if (good(value)) return value;
    if (performance.now() - began > LONG_MS - 30_000) {
      throw new Error(`${what} did not come: ${JSON.stringify(value)}`);
    }
    await sleep(25);
  }
}

export interface RolloutRow {
  readonly group: number;
  readonly index: number;
  readonly state: string;
  readonly tries: number;
  readonly trajectory: number | null;
}

export function rolloutsOf(db: Db): readonly RolloutRow[] {
  return db
    .prepare(
      'SELECT group_id AS "group", idx AS "index", state, tries, trajectory FROM rollouts ORDER BY 1, 2',
    )
    .all() as RolloutRow[];
}
