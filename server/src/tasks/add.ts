import { packTree } from '../../../src/core/tasks/archive.ts';
import type { TaskSet } from '../../../src/core/tasks/task-set.ts';
import { type BlobStore, createBlobStore, storeBytes } from '../store/blobs.ts';
import type { Db } from '../store/database.ts';
import { createTaskTable, type NewTask } from '../store/tasks.ts';

export interface TaskPlace {
  readonly db: Db;
  /** Folder of the archives. */
  readonly trees: string;
  /** Folder for files on their way there. */
  readonly incoming: string;
}

export interface AddedTasks {
  /** Not here before. */
  readonly added: number;
  readonly known: number;
}

/**
 * Keeps tasks of a file: first their files, then all entries at once. A server beside it finds them and
 * tries whether they reproduce.
 */
export async function addTasks(
  set: TaskSet,
  { db, trees, incoming }: TaskPlace,
): Promise<AddedTasks> {
  const table = createTaskTable(db);
  const blobs = createBlobStore(trees);
  const kept = new Map<string, NewTask['tree']>();
  for (const [hash, tree] of set.trees) {
    kept.set(hash, await keep(packTree(tree), blobs, incoming));
  }
  const tasks = set.entries.flatMap(({ task, split }): readonly NewTask[] => {
    const tree = kept.get(task.tree);
    if (!tree) return [];
    return [{ spec: { kind: 'bug', task }, origin: 'file', split: split ?? null, tree }];
  });
  const added = table.add(tasks);
  return { added, known: tasks.length - added };
}

/**
 * Keeps the files of an attempt's task, as a contributor sent them (`core/tasks/archive`). Nothing of
 * the archive is unpacked here. False where this contributor sent other files for this task before.
 */
export async function addSnapshot(
  {
    contributor,
    taskId,
    content,
    leftOut = 0,
  }: {
    readonly contributor: string;
    readonly taskId: string;
    readonly content: Buffer;
    readonly leftOut?: number;
  },
  { db, trees, incoming }: TaskPlace,
): Promise<boolean> {
  const { blob, bytes } = await keep(content, createBlobStore(trees), incoming);
  return createTaskTable(db).addSnapshot({ contributor, taskId, blob, bytes, leftOut });
}

/** The entry comes later, of another process than the one that sweeps: see retention/files.ts. */
function keep(
  content: Buffer,
  blobs: BlobStore,
  incoming: string,
): Promise<{ readonly blob: string; readonly bytes: number }> {
  return storeBytes(blobs, incoming, content, (blob) => ({ blob, bytes: content.length }));
}
