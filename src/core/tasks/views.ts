import type { Task } from './task.ts';
import type { FileTree, TreeFile } from './tree.ts';

/**
 * `original`: everything passes. `grading`: with the bug and all tests. `agent`: with the bug and
 * the visible tests only.
 */
export type TaskView = 'original' | 'grading' | 'agent';

/** The files of a task as one of its users sees them. Throws when tree and task do not fit. */
export function viewOf(task: Task, tree: FileTree, view: TaskView): FileTree {
  if (view === 'original') return tree;
  const files = new Map(tree);
  const { bug } = task;
  const text = textOf(tree, bug.path);
  if (text.slice(bug.from, bug.to) !== bug.oldText) {
    throw new Error(`The tree of task ${task.id} does not hold what its bug replaces.`);
  }
  replace(files, bug.path, text.slice(0, bug.from) + bug.newText + text.slice(bug.to));
  if (view === 'grading') return files;
  for (const path of new Set(task.hiddenRanges.map((range) => range.path))) {
    const ranges = task.hiddenRanges.filter((range) => range.path === path);
    replace(files, path, cutRanges(textOf(tree, path), ranges));
  }
  return files;
}

/** The text without the ranges, which do not overlap and come in order. */
export function cutRanges(
  text: string,
  ranges: readonly { readonly from: number; readonly to: number }[],
): string {
  let kept = '';
  let at = 0;
  for (const { from, to } of ranges) {
    kept += text.slice(at, from);
    at = to;
  }
  return kept + text.slice(at);
}

function textOf(tree: FileTree, path: string): string {
  const file = tree.get(path);
  if (file === undefined) throw new Error(`The task's tree has no ${path}.`);
  return file.content.toString('utf8');
}

function replace(files: Map<string, TreeFile>, path: string, text: string): void {
  const file = files.get(path);
  if (file !== undefined) files.set(path, { ...file, content: Buffer.from(text) });
}
