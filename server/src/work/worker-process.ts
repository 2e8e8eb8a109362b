import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import type { GradeCache } from '../store/grades.ts';
import {
  fromWorkerSchema,
  type Job,
  type JobResult,
  type ToWorker,
  type WorkerSettings,
} from './messages.ts';

/** How a job ended. `lost`: its worker did, or was ended since it no longer answered. */
export type WorkEnd = JobResult | { readonly kind: 'lost'; readonly reason: string };

export interface WorkerProcess {
  readonly running: number;
  /** It has ended, or is about to. */
  readonly gone: boolean;
  /** Task that it was given last: likely to be open. */
  readonly lastTask: string | undefined;
  run(job: Job, deadlineMs: number, signal: AbortSignal): Promise<WorkEnd>;
  /** What runs is cancelled; resolves when the process has ended. */
  close(): Promise<void>;
}

export interface WorkerOptions {
  readonly file: string;
  readonly settings: WorkerSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly memoryMb: number;
  /** Without a word for so long, it is ended. */
  readonly silenceMs: number;
  readonly grades: GradeCache;
  readonly log: Logger;
  readonly onGone: () => void;
}

/** From the request to stop to the end by force: of a job that is cancelled, and of the process. */
const GRACE_MS = 15_000;

interface Running {
  readonly end: (end: WorkEnd) => void;
  readonly timers: NodeJS.Timeout[];
}

export function startWorker(options: WorkerOptions): WorkerProcess {
  const { file, settings, env, memoryMb, silenceMs, grades, log } = options;
  if (!existsSync(file)) {
    throw new Error(`the server's worker ${file} is missing; build it with: npm run build`);
  }
  const child = fork(file, [JSON.stringify(settings)], {
    env: { ...env },
    execArgv: [`--max-old-space-size=${memoryMb}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const running = new Map<number, Running>();
  let ids = 0;
  let gone = false;
  let why = 'its worker ended';
  let lastTask: string | undefined;
  // On a clock that does not jump and that stands still while the machine sleeps.
  let heard = performance.now();

  const say = (message: ToWorker): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  const settle = (id: number, end: WorkEnd): void => {
    const job = running.get(id);
    if (!job) return;
    running.delete(id);
    for (const timer of job.timers) clearTimeout(timer);
    job.end(end);
  };
  const kill = (reason: string): void => {
    why = reason;
    gone = true;
    log.warn({ pid: child.pid, reason }, 'a worker is ended');
    child.kill('SIGKILL');
  };
  // After what has arrived is read: the server itself may have been busy.
  const watch = setInterval(
    () => {
      setImmediate(() => {
        const silent = performance.now() - heard;
        if (!gone && silent > silenceMs) kill(`its worker was silent for ${Math.round(silent)} ms`);
      });
    },
    Math.max(50, silenceMs / 4),
  );
  watch.unref();

  child.on('message', (value) => {
    heard = performance.now();
    const parsed = fromWorkerSchema.safeParse(value);
    if (!parsed.success) return kill('its worker sent what is no message');
    const message = parsed.data;
    if (message.type === 'done') settle(message.id, message.result);
    if (message.type === 'grade.keep') grades.keep(message.key, message.grade);
    if (message.type === 'grade.find') {
      const grade = grades.find(message.key);
      say({ type: 'grade.found', id: message.id, ...(grade && { grade }) });
    }
  });
  const ended = new Promise<void>((resolve) => {
    const end = (reason: string): void => {
      gone = true;
      clearInterval(watch);
      for (const id of [...running.keys()]) settle(id, { kind: 'lost', reason });
      options.onGone();
      resolve();
    };
    child.on('error', (error) => end(`its worker could not be started: ${error.message}`));
    child.on('exit', (code, signal) => {
      if (running.size > 0) log.warn({ pid: child.pid, code, signal }, 'a worker ended');
      end(`${why} (${signal ?? `exit code ${code}`})`);
    });
  });
  logOutput(child, log);

  return {
    get running() {
      return running.size;
    },
    get gone() {
      return gone;
    },
    get lastTask() {
      return lastTask;
    },
    run(job, deadlineMs, signal) {
      ids += 1;
      const id = ids;
      if ('task' in job) lastTask = job.task.id;
      return new Promise<WorkEnd>((resolve) => {
        if (gone) return resolve({ kind: 'lost', reason: why });
        const timers: NodeJS.Timeout[] = [];
        const cancel = (reason: string): void => {
          say({ type: 'cancel', id });
          timers.push(setTimeout(() => running.has(id) && kill(reason), GRACE_MS));
        };
        timers.push(
          setTimeout(() => cancel(`a job took longer than ${deadlineMs} ms`), deadlineMs),
        );
        const abort = (): void => cancel('a job did not stop when it was cancelled');
        signal.addEventListener('abort', abort, { once: true });
        const end = (result: WorkEnd): void => {
          signal.removeEventListener('abort', abort);
          resolve(result);
        };
        running.set(id, { end, timers });
        say({ type: 'job', id, job });
        if (signal.aborted) abort();
      });
    },
    async close() {
      if (!gone && child.connected) child.disconnect();
      gone = true;
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS / 2);
      await ended;
      clearTimeout(timer);
    },
  };
}

function logOutput(child: ChildProcess, log: Logger): void {
  if (!child.stderr) return;
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.warn({ pid: child.pid, line: line.slice(0, 2_000) }, 'a worker says');
  });
}
