import type { Bug } from '../../src/core/tasks/generate/generate-tasks.ts';
import { generateTasks } from '../../src/core/tasks/generate/generate-tasks.ts';
import { applyEdit, languageOf } from '../../src/core/tasks/operators/edit.ts';
import { listEdits } from '../../src/core/tasks/operators/list-edits.ts';
import { operatorKind, type SplitName, splitTasks } from '../../src/core/tasks/split.ts';
import type { Task } from '../../src/core/tasks/task.ts';
import { readTaskSet, type TaskSet, writeTaskSet } from '../../src/core/tasks/task-set.ts';
import type { FileTree } from '../../src/core/tasks/tree.ts';
import type { NanoSettings } from './settings.ts';

export interface HeldOut {
  readonly set: TaskSet;
  readonly families: ReadonlySet<string>;
  readonly operators: ReadonlySet<string>;
  /** Normalised trees of held-out tasks, with and without their bugs. */
  readonly shapes: ReadonlySet<string>;
}

export interface TaskWithTree {
  readonly task: Task;
  readonly tree: FileTree;
}

/** The tasks of one part, in the order of the set. */
export function tasksOf(set: TaskSet, part: SplitName | 'all'): readonly TaskWithTree[] {
  return set.entries.flatMap(({ task, split }) => {
    const tree = set.trees.get(task.tree);
    return (part === 'all' || split === part) && tree !== undefined ? [{ task, tree }] : [];
  });
}

/** Makes the tasks that are split, or reads them where they were made before. */
export async function heldOutOf(
  file: string,
  { evaluation }: NanoSettings,
  exists: boolean,
  onProgress: (tasks: number) => void,
): Promise<HeldOut> {
  const set = exists ? await readTaskSet(file) : await makeSet(evaluation, onProgress);
  if (!exists) await writeTaskSet(file, set);
  const tasks = set.entries.map(({ task }) => task);
  const split = splitTasks(tasks, { seed: evaluation.seed });
  const held = tasks.filter((task) => split.parts.get(task.id) === 'held-out');
  return {
    set,
    families: new Set(split.heldOutFamilies),
    operators: new Set(split.heldOutOperators),
    shapes: new Set(held.flatMap(({ shapes }) => [shapes.original, shapes.bug])),
  };
}

async function makeSet(
  { count, seed }: NanoSettings['evaluation'],
  onProgress: (tasks: number) => void,
): Promise<TaskSet> {
  const { tasks, trees } = await generateTasks({ count, seed, onProgress });
  const { parts } = splitTasks(tasks, { seed });
  return { entries: tasks.map((task) => ({ task, split: parts.get(task.id) })), trees };
}

/** May this bug be learnt from? Noise that happens to be what a held-out operator does may not. */
export function mayTrain(heldOut: HeldOut, bug: Bug, source: string, path: string): boolean {
  if (heldOut.operators.has(operatorKind(bug.operator))) return false;
  if (bug.operator !== 'token-noise') return true;
  const broken = applyEdit(source, bug);
  const language = languageOf(path) ?? 'javascript';
  const same = (from: string, to: string): boolean =>
    listEdits(from, language).some(
      (edit) => heldOut.operators.has(operatorKind(edit.operator)) && applyEdit(from, edit) === to,
    );
  return !same(source, broken) && !same(broken, source);
}
