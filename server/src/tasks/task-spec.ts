import { createHash } from 'node:crypto';
import { z } from 'zod';
import { taskSchema } from '../../../src/core/tasks/task.ts';

/** A task as the server keeps it, without its files. */
export const taskSpecSchema = z.discriminatedUnion('kind', [
  /** From a file of tasks: an edit that broke what had passed, and its solution. */
  z.strictObject({ kind: z.literal('bug'), task: taskSchema }),
  /** From an attempt: files in which tests fail. Nobody knows a solution. */
  z.strictObject({
    kind: z.literal('snapshot'),
    /** Hash of the tree. */
    tree: z.string(),
    framework: z.string(),
    projectPath: z.string(),
    targets: z.array(z.string()).min(1),
  }),
]);

export type TaskSpec = z.output<typeof taskSpecSchema>;
export type SnapshotSpec = Extract<TaskSpec, { readonly kind: 'snapshot' }>;

/** Of a snapshot: a hash of what makes it up, so that equal attempts of several people are one task. */
export function taskSpecId(spec: TaskSpec): string {
  if (spec.kind === 'bug') return spec.task.id;
  const { tree, framework, projectPath, targets } = spec;
  const parts = [tree, framework, projectPath, [...targets].sort()];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export function treeOf(spec: TaskSpec): string {
  return spec.kind === 'bug' ? spec.task.tree : spec.tree;
}
