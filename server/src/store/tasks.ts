import { z } from 'zod';
import { type TaskSpec, taskSpecId, taskSpecSchema, treeOf } from '../tasks/task-spec.ts';
import type { Db } from './database.ts';

export type TaskOrigin = 'file' | 'attempt';

export interface StoredTask {
  readonly id: string;
  readonly spec: TaskSpec;
  /** sha256 of the archive with its files. */
  readonly blob: string;
}

/** The snapshot of an attempt's task, as it came. */
export interface Snapshot {
  readonly contributor: string;
  /** As the trajectories of the contributor name it. */
  readonly taskId: string;
  readonly blob: string;
  readonly bytes: number;
  /** Files of the attempt's snapshot that are not in it. */
  readonly leftOut: number;
}

export interface WaitingSnapshot extends Snapshot {
  /** Blob of a trajectory that names the task: its header says what the targets are. */
  readonly trajectory: string;
}

export interface NewTask {
  readonly spec: TaskSpec;
  readonly origin: TaskOrigin;
  readonly split: string | null;
  readonly tree: { readonly blob: string; readonly bytes: number };
}

export interface TaskTable {
  /** All or none. @returns how many were not here already */
  add(tasks: readonly NewTask[]): number;
  find(id: string): StoredTask | undefined;
  /** Names of tasks that nobody has tried here, in the order in which they came. */
  newTasks(limit: number): readonly string[];
  /** Of those the ones at which contributors made attempts. */
  wantedTasks(limit: number): readonly string[];
  judge(id: string, state: 'admitted' | 'refused', reason: string | null): void;
  /** False where another archive of this name is here: what is stored is final. */
  addSnapshot(snapshot: Snapshot): boolean;
  /** The archive that is here for a task of a contributor. */
  snapshotOf(contributor: string, taskId: string): string | undefined;
  /** Those that nobody has looked at and whose trajectory is here, oldest first. */
  waitingSnapshots(limit: number): readonly WaitingSnapshot[];
  /** What an archive became: a task that is kept with it, or nothing. */
  settleSnapshot(
    snapshot: Snapshot,
    outcome:
      | { readonly kind: 'admitted'; readonly spec: TaskSpec }
      | { readonly kind: 'refused'; readonly reason: string },
  ): void;
}

const rowSchema = z.object({ id: z.string(), spec: z.string(), blob: z.string() });
const snapshotSchema = z.object({
  contributor: z.string(),
  taskId: z.string(),
  blob: z.string(),
  bytes: z.number(),
  leftOut: z.number(),
  trajectory: z.string(),
});

export function createTaskTable(db: Db): TaskTable {
  const insertTree = db.prepare('INSERT INTO task_trees VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const insert = db.prepare(`
    INSERT INTO tasks (id, origin, spec, tree, split, added_at)
    VALUES (@id, @origin, @spec, @tree, @split, @addedAt) ON CONFLICT DO NOTHING`);
  const columns = 'tasks.id AS id, spec, blob FROM tasks JOIN task_trees ON hash = tree';
  const select = db.prepare(`SELECT ${columns} WHERE id = ?`);
  const selectNew = db.prepare(`
    SELECT id FROM tasks
    WHERE state = 'new' AND (split IS NULL OR split IN ('train', 'held-out'))
    ORDER BY seq LIMIT ?`);
  const selectWanted = db.prepare(`
    SELECT id FROM tasks k WHERE state = 'new' AND EXISTS
      (SELECT 1 FROM trajectories t WHERE t.task_id = k.id AND t.claim = 'waiting')
    ORDER BY seq LIMIT ?`);
  const judge = db.prepare('UPDATE tasks SET state = ?, reason = ?, judged_at = ? WHERE id = ?');
  const insertSnapshot = db.prepare(`
    INSERT INTO snapshots (contributor, task_id, blob, bytes, left_out, added_at)
    VALUES (@contributor, @taskId, @blob, @bytes, @leftOut, @addedAt) ON CONFLICT DO NOTHING`);
  const selectSnapshot = db.prepare(
    'SELECT blob FROM snapshots WHERE contributor = ? AND task_id = ?',
  );
  const waitingSnapshots = db.prepare(`
    SELECT snapshots.contributor AS contributor, snapshots.task_id AS taskId, snapshots.blob AS blob,
      snapshots.bytes AS bytes, snapshots.left_out AS leftOut, trajectories.blob AS trajectory
    FROM snapshots JOIN trajectories
      ON trajectories.contributor = snapshots.contributor
      AND trajectories.task_id = snapshots.task_id
    WHERE snapshots.state = 'new'
    GROUP BY snapshots.contributor, snapshots.task_id ORDER BY snapshots.added_at LIMIT ?`);
  const settle = db.prepare(
    'UPDATE snapshots SET state = ?, reason = ?, task = ? WHERE contributor = ? AND task_id = ?',
  );

  const addOne = ({ spec, origin, split, tree }: NewTask): number => {
    insertTree.run(treeOf(spec), tree.blob, tree.bytes);
    const id = taskSpecId(spec);
    const values = { id, origin, spec: JSON.stringify(spec), tree: treeOf(spec), split };
    return insert.run({ ...values, addedAt: new Date().toISOString() }).changes;
  };
  const addAll = db.transaction((tasks: readonly NewTask[]) =>
    tasks.reduce((sum, task) => sum + addOne(task), 0),
  );
  const read = (row: unknown): StoredTask | undefined => {
    if (row === undefined) return undefined;
    const { id, spec, blob } = rowSchema.parse(row);
    return { id, blob, spec: taskSpecSchema.parse(JSON.parse(spec)) };
  };
  const snapshotOf = (contributor: string, taskId: string): string | undefined => {
    const row = selectSnapshot.get(contributor, taskId);
    return row === undefined ? undefined : z.object({ blob: z.string() }).parse(row).blob;
  };
  const settleAll = db.transaction<TaskTable['settleSnapshot']>((snapshot, outcome) => {
    const { contributor, taskId, blob, bytes } = snapshot;
    if (outcome.kind === 'refused') {
      settle.run('refused', outcome.reason, null, contributor, taskId);
      return;
    }
    const { spec } = outcome;
    addOne({ spec, origin: 'attempt', split: null, tree: { blob, bytes } });
    const id = taskSpecId(spec);
    judge.run('admitted', null, new Date().toISOString(), id);
    settle.run('admitted', null, id, contributor, taskId);
  });

  return {
    add: (tasks) => addAll.immediate(tasks),
    find: (id) => read(select.get(id)),
    newTasks: (limit) => z.array(z.string()).parse(selectNew.pluck().all(limit)),
    wantedTasks: (limit) => z.array(z.string()).parse(selectWanted.pluck().all(limit)),
    judge(id, state, reason) {
      judge.run(state, reason, new Date().toISOString(), id);
    },
    addSnapshot(snapshot) {
      insertSnapshot.run({ ...snapshot, addedAt: new Date().toISOString() });
      return snapshotOf(snapshot.contributor, snapshot.taskId) === snapshot.blob;
    },
    snapshotOf,
    waitingSnapshots: (limit) => z.array(snapshotSchema).parse(waitingSnapshots.all(limit)),
    settleSnapshot: (snapshot, outcome) => settleAll.immediate(snapshot, outcome),
  };
}
