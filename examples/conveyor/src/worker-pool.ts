import { PriorityQueue } from './priority-queue.ts';

export interface Job<T> {
  readonly name: string;
  readonly priority?: number;
  readonly run: () => Promise<T>;
}

interface Waiting {
  readonly name: string;
  readonly start: () => Promise<void>;
  readonly cancel: (reason: Error) => void;
}

export interface PoolStats {
  readonly running: number;
  readonly waiting: number;
  readonly finished: number;
  readonly failed: number;
}

/** Runs at most `size` jobs at a time, those with a higher priority first. */
export class WorkerPool {
  readonly #size: number;
  readonly #queue = new PriorityQueue<Waiting>();
  readonly #idle: (() => void)[] = [];
  #running = 0;
  #finished = 0;
  #failed = 0;

  constructor(size: number) {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`not a pool size: ${size}`);
    this.#size = size;
  }

  get stats(): PoolStats {
    return {
      running: this.#running,
      waiting: this.#queue.size,
      finished: this.#finished,
      failed: this.#failed,
    };
  }

  /** Resolves or rejects as the job does. */
  submit<T>(job: Job<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const start = async (): Promise<void> => {
        try {
          resolve(await job.run());
          this.#finished += 1;
        } catch (error) {
          this.#failed += 1;
          reject(error);
        }
      };
      this.#queue.push({ name: job.name, start, cancel: reject });
      this.#next();
    });
  }

  /** Rejects jobs of that name which have not started yet, and says how many. */
  cancel(name: string): number {
    return this.#queue.removeWhere((waiting) => {
      if (waiting.name !== name) return false;
      waiting.cancel(new Error(`cancelled: ${name}`));
      return true;
    });
  }

  /** Resolves when nothing runs or waits any more. */
  onIdle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #isIdle(): boolean {
    return this.#running === 0 && this.#queue.size === 0;
  }

  #next(): void {
    while (this.#running < this.#size && this.#queue.size > 0) {
      const waiting = this.#queue.pop() as Waiting;
      this.#running += 1;
      void waiting.start().then(() => {
        this.#running -= 1;
        this.#next();
      });
    }
    if (this.#isIdle()) {
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }
}
