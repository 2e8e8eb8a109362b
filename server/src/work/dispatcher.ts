import type { Logger } from 'pino';
import type { WorkerPool } from './pool.ts';
import type { Rest } from './rest.ts';
import type { WorkItem, WorkSource } from './source.ts';
import type { WorkEnd } from './worker-process.ts';

export interface DispatcherOptions {
  readonly pool: WorkerPool;
  /** What comes first is done first. */
  readonly sources: () => readonly WorkSource[];
  /** Whether anything may be done now. */
  readonly rest: () => Rest;
  /** Why commands cannot be run, where they cannot. */
  readonly noSandbox: () => string | undefined;
  readonly mayStartAnother: (running: number) => boolean;
  /** After a failure that says nothing about what was tried; doubled each time. */
  readonly retryMs: number;
  readonly log: Logger;
}

export interface Dispatcher {
  readonly running: number;
  /** The last failure of this machine's own, until something worked. */
  problem(): string | undefined;
  /** There may be something to do. */
  wake(): void;
  close(): Promise<void>;
}

const LONGEST_RETRY_MS = 60 * 60_000;
const LOOK_MS = 1_000;

function cannotStart(error: unknown): WorkEnd {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'problem', reason, remedy: '' };
}

/** Gives what there is to do to workers, as long as there are places and nothing speaks against it. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { pool, sources, rest, noSandbox, mayStartAnother, retryMs, log } = options;
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  /** Failed, and not tried again before a time of the monotonic clock. */
  const failed = new Map<string, { times: number; until: number }>();
  let problem: string | undefined;
  let closed = false;
  let filling: Promise<void> | undefined;
  let again = false;

  const busy = (key: string): boolean =>
    running.has(key) || (failed.get(key)?.until ?? 0) > performance.now();

  const learn = (key: string, end: WorkEnd): void => {
    if (end.kind === 'cancelled') return;
    if (end.kind !== 'problem' && end.kind !== 'lost') {
      failed.delete(key);
      problem = undefined;
      return;
    }
    const times = (failed.get(key)?.times ?? 0) + 1;
    const wait = Math.min(LONGEST_RETRY_MS, retryMs * 2 ** (times - 1));
    failed.set(key, { times, until: performance.now() + wait });
    problem = end.reason;
    log.warn({ key, reason: end.reason, times }, 'work failed');
  };

  const start = (item: WorkItem): void => {
    const { key, job, deadlineMs } = item;
    const stop = new AbortController();
    const work = async (): Promise<void> => {
      try {
        const end = await pool.start(job, deadlineMs, stop.signal).catch(cannotStart);
        // A worker that ends with the server, or since it was stopped, has done nothing wrong.
        const own: WorkEnd =
          end.kind === 'lost' && stop.signal.aborted ? { kind: 'cancelled' } : end;
        learn(key, own);
        await item.done(own);
      } catch (error) {
        log.error({ err: error, key }, 'work could not be settled');
        learn(key, {
          kind: 'lost',
          reason: error instanceof Error ? error.message : String(error),
        });
      } finally {
        running.delete(key);
        wake();
      }
    };
    running.set(key, { stop, done: Promise.resolve() });
    const done = work();
    if (running.has(key)) running.set(key, { stop, done });
  };

  const fill = async (): Promise<void> => {
    const now = rest();
    if (now.kind === 'rest') {
      if (now.stop) for (const { stop } of running.values()) stop.abort(new Error(now.text));
      return;
    }
    if (noSandbox() !== undefined) return;
    while (!closed && pool.free > 0 && mayStartAnother(running.size)) {
      const item = await first(sources());
      // It may have changed while something was looked for.
      if (!item) return;
      if (closed) return item.done({ kind: 'cancelled' });
      start(item);
    }
  };
  const first = async (of: readonly WorkSource[]): Promise<WorkItem | undefined> => {
    for (const source of of) {
      const item = await source.next(busy);
      if (item) return item;
    }
    return undefined;
  };

  const wake = (): void => {
    if (closed) return;
    again = true;
    filling ??= (async () => {
      while (again && !closed) {
        again = false;
        await fill().catch((error: unknown) => log.error({ err: error }, 'no work could be found'));
      }
      filling = undefined;
    })();
  };
  const look = setInterval(wake, LOOK_MS);

  return {
    get running() {
      return running.size;
    },
    problem: () => problem,
    wake,
    async close() {
      closed = true;
      clearInterval(look);
      await filling;
      for (const { stop } of running.values()) stop.abort(new Error('the server ends'));
      await pool.close();
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}
