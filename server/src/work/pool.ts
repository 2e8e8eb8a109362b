import { join } from 'node:path';
import type { Job } from './messages.ts';
import {
  startWorker,
  type WorkEnd,
  type WorkerOptions,
  type WorkerProcess,
} from './worker-process.ts';

export interface PoolOptions extends Omit<WorkerOptions, 'onGone' | 'settings'> {
  readonly settings: Omit<WorkerOptions['settings'], 'folder' | 'idle'>;
  /** Of this run of the server; each worker has a folder in it. */
  readonly folder: string;
  readonly workers: number;
  /** Jobs at the same time, of all workers together. */
  readonly parallel: number;
  /** A place is free. */
  readonly onFree: () => void;
}

export interface WorkerPool {
  readonly running: number;
  /** Places; none for a while after workers have crashed. */
  readonly free: number;
  start(job: Job, deadlineMs: number, signal: AbortSignal): Promise<WorkEnd>;
  close(): Promise<void>;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 60_000;

/** Workers are started when there is something to do, and again when one has ended. */
export function createPool(options: PoolOptions): WorkerPool {
  const { workers: most, parallel, settings, folder, onFree } = options;
  const each = Math.ceil(parallel / most);
  const workers = new Set<WorkerProcess>();
  let started = 0;
  let crashes = 0;
  let waiting = false;
  let closed = false;

  const begin = (): WorkerProcess => {
    started += 1;
    const own = join(folder, `worker-${started}`);
    const worker: WorkerProcess = startWorker({
      ...options,
      settings: { ...settings, folder: own, idle: each },
      env: { ...options.env, TMPDIR: folder },
      onGone() {
        workers.delete(worker);
        if (closed) return;
        crashes += 1;
        waiting = true;
        const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (crashes - 1));
        setTimeout(() => {
          waiting = false;
          onFree();
        }, wait).unref();
      },
    });
    workers.add(worker);
    return worker;
  };
  const choose = (job: Job): WorkerProcess => {
    const able = [...workers].filter((worker) => !worker.gone && worker.running < each);
    const same = able.find((worker) => 'task' in job && worker.lastTask === job.task.id);
    if (same) return same;
    if (workers.size < most) return begin();
    const [idlest] = able.sort((a, b) => a.running - b.running);
    return idlest ?? begin();
  };
  const running = (): number => [...workers].reduce((sum, worker) => sum + worker.running, 0);

  return {
    get running() {
      return running();
    },
    get free() {
      return closed || waiting ? 0 : Math.max(0, parallel - running());
    },
    async start(job, deadlineMs, signal) {
      const end = await choose(job).run(job, deadlineMs, signal);
      if (end.kind !== 'lost' && end.kind !== 'problem') crashes = 0;
      onFree();
      return end;
    },
    async close() {
      closed = true;
      await Promise.all([...workers].map((worker) => worker.close()));
    },
  };
}
