import type { Job } from './messages.ts';
import type { WorkEnd } from './worker-process.ts';

/** Something to do, of which there is one at a time. */
export interface WorkItem {
  readonly key: string;
  readonly job: Job;
  readonly deadlineMs: number;
  /** What became of it. `cancelled`: the server stopped it, which is nobody's fault. */
  done(end: WorkEnd): Promise<void>;
}

/** Where work comes from. `busy`: is being done, or waits after a failure. */
export interface WorkSource {
  next(busy: (key: string) => boolean): Promise<WorkItem | undefined>;
}

/** Runs of all tests that a job makes at most, each of which has its own limit. */
const OVERHEAD_MS = 60_000;

export interface Deadlines {
  readonly grade: number;
  readonly admit: number;
  readonly rollout: number;
  readonly policy: number;
}

/** Whoever takes longer hangs: longer than all of its parts together may take. */
export function deadlinesOf(limits: {
  readonly testTimeoutMs: number;
  readonly attemptMs: number;
  readonly setupMs: number;
}): Deadlines {
  const { testTimeoutMs, attemptMs, setupMs } = limits;
  // Two views with two runs each and one with planted tests; a grade is two runs, twice when it breaks.
  const open = setupMs + 6 * testTimeoutMs + OVERHEAD_MS;
  const grade = 4 * testTimeoutMs;
  return {
    grade: open + grade,
    admit: open + 2 * grade,
    rollout: open + attemptMs + grade,
    policy: 2 * OVERHEAD_MS,
  };
}
