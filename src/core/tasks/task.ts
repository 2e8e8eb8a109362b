import { createHash } from 'node:crypto';
import { z } from 'zod';
import { environmentSchema } from '../environments/description.ts';

/**
 * A task: a tree of files whose tests pass, one edit that breaks some of them (the bug), and what
 * the agent may see of it. Readers accept older minor versions; a new major version needs a
 * migration.
 */
export const TASK_VERSION = '1.0';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const rangeSchema = z.strictObject({
  path: z.string(),
  /** UTF-16 code units of the original file; `to` is exclusive. */
  from: z.int().nonnegative(),
  to: z.int().nonnegative(),
});

const bugSchema = rangeSchema.extend({
  oldText: z.string(),
  newText: z.string(),
  /** 1-based, in the original file. */
  line: z.int().positive(),
  /** Operator that made the bug, and its family (`tasks/operators/operator-table.ts`). */
  operator: z.string(),
  family: z.string(),
  description: z.string(),
});

const sourceSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('generated'),
    /** Template family; `seed` and `index` give the same module again. */
    template: z.string(),
    seed: z.int().nonnegative(),
    index: z.int().nonnegative(),
  }),
  z.strictObject({ kind: z.literal('repository'), name: z.string() }),
]);

const needsSchema = z.strictObject({
  tool: z.enum(['node', 'python', 'other']),
  /** Versions that will do, as a semver range; empty: not known. */
  range: z.string(),
  /** For people: what it was made with. */
  detail: z.string(),
  /** Files of the tree that say what must be installed; empty: nothing. */
  lockFiles: z.array(z.string()),
  /** What makes it, where somebody named that; otherwise the tree says it (`core/environments`). */
  recipe: environmentSchema.optional(),
});

export const taskSchema = z.strictObject({
  version: z.string(),
  /** sha256 over what makes up the task, `taskId`. */
  id: hash,
  source: sourceSchema,
  /** Hash of the tree of original files, with all tests. */
  tree: hash,
  framework: z.enum([
    'node:test',
    'pytest',
    'vitest',
    'jest',
    'mocha',
    'unittest',
    'tap',
    'tape',
    'ava',
    'go test',
    'cargo test',
    'junit',
    'command',
  ]),
  projectPath: z.string(),
  bug: bugSchema,
  /** What is cut out of test files for the agent. Not overlapping, in order. */
  hiddenRanges: z.array(rangeSchema),
  /** Ids of tests that the agent sees, and of those that only grading has. Together: every test. */
  visible: z.array(z.string()),
  hidden: z.array(z.string()),
  /** Fail with the bug; a solution makes all of them pass, the hidden ones too. */
  targets: z.array(z.string()),
  /** Pass with the bug, and must go on passing. */
  passing: z.array(z.string()),
  /** Git patch from the bug to the original: a solution. */
  patch: z.string(),
  environment: needsSchema,
  /** How often each state was run before the task was kept; all runs agreed. */
  checked: z.strictObject({ original: z.int(), bug: z.int(), visible: z.int() }),
  /** Hashes of the normalised syntax trees of the sources, without and with the bug. */
  shapes: z.strictObject({ original: z.string(), bug: z.string() }),
});

export type Task = z.output<typeof taskSchema>;
export type TaskDraft = Omit<Task, 'id' | 'version'>;

/** What makes two tasks the same; not where they came from or how they were checked. */
function taskId(task: TaskDraft): string {
  const { bug } = task;
  const parts = [
    task.tree,
    task.framework,
    task.projectPath,
    [bug.path, bug.from, bug.to, bug.newText],
    task.hiddenRanges.map(({ path, from, to }) => [path, from, to]),
    [task.visible, task.hidden, task.targets, task.passing].map((ids) => [...ids].sort()),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export function finishTask(draft: TaskDraft): Task {
  return { version: TASK_VERSION, id: taskId(draft), ...draft };
}

/** Does the task say of itself what it is? */
export function hasOwnId(task: Task): boolean {
  return taskId(task) === task.id;
}
