import type { Logger } from 'pino';
import type { BlobStore } from '../store/blobs.ts';
import type { StoredTask, TaskTable, WaitingSnapshot } from '../store/tasks.ts';
import { readRecord } from './read-record.ts';
import type { Deadlines, WorkItem, WorkSource } from './source.ts';
import { workTask } from './work-task.ts';

export interface AdmissionParts {
  readonly tasks: TaskTable;
  readonly blobs: BlobStore;
  readonly trees: BlobStore;
  readonly deadlines: Deadlines;
  readonly log: Logger;
}

const LOOKED_AT = 64;

/** Finds out which task the snapshot of an attempt is, and whether it is one here. */
export function createSnapshotSource(parts: AdmissionParts): WorkSource {
  const { tasks, blobs, trees, deadlines, log } = parts;
  const refuse = (snapshot: WaitingSnapshot, reason: string): void => {
    tasks.settleSnapshot(snapshot, { kind: 'refused', reason });
    const { contributor, taskId } = snapshot;
    log.info({ contributor, task: taskId, reason }, 'the task of an attempt was refused');
  };
  return {
    async next(busy) {
      for (const snapshot of tasks.waitingSnapshots(LOOKED_AT)) {
        const key = `snapshot ${snapshot.contributor} ${snapshot.taskId}`;
        if (busy(key)) continue;
        const record = await readRecord(blobs, snapshot.trajectory);
        if ('lost' in record) {
          refuse(snapshot, `the content of its trajectory is ${record.lost}`);
          continue;
        }
        const { framework, targets } = record.header.task;
        const item: WorkItem = {
          key,
          job: { kind: 'admit-archive', archive: trees.pathOf(snapshot.blob), framework, targets },
          deadlineMs: deadlines.admit,
          async done(end) {
            if (end.kind === 'refused') refuse(snapshot, end.reason);
            if (end.kind !== 'archive-admitted') return;
            tasks.settleSnapshot(snapshot, { kind: 'admitted', spec: end.spec });
          },
        };
        return item;
      }
      return undefined;
    },
  };
}

/**
 * Tries tasks of files here, in their order.
 *
 * @param names of tasks that are new
 */
export function createTaskSource(
  { tasks, trees, deadlines, log }: AdmissionParts,
  names: (limit: number) => readonly string[],
): WorkSource & { readonly trying: number } {
  const settle = (task: StoredTask, state: 'admitted' | 'refused', reason: string | null): void => {
    tasks.judge(task.id, state, reason);
    log.info({ task: task.id, state, reason }, 'a task was tried');
  };
  let trying = 0;
  return {
    get trying() {
      return trying;
    },
    async next(busy) {
      const id = names(LOOKED_AT).find((name) => !busy(`task ${name}`));
      const task = id === undefined ? undefined : tasks.find(id);
      if (!task) return undefined;
      trying += 1;
      return {
        key: `task ${task.id}`,
        job: { kind: 'admit', task: workTask(task, trees) },
        deadlineMs: deadlines.admit,
        async done(end) {
          trying -= 1;
          if (end.kind === 'admitted') settle(task, 'admitted', null);
          if (end.kind === 'refused') settle(task, 'refused', end.reason);
        },
      };
    },
  };
}
