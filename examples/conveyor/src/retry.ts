export interface RetryOptions {
  /** Calls altogether, the first one included. */
  readonly attempts?: number;
  /** Milliseconds before the second call; doubles every time. */
  readonly base?: number;
  readonly maximum?: number;
  /** Errors for which it says false are passed on at once. */
  readonly retryable?: (error: unknown) => boolean;
  readonly sleep?: (ms: number) => Promise<void>;
}

const sleepFor = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Milliseconds to wait before call number `attempt` (the first call is number 1). */
export function delayBefore(attempt: number, base: number, maximum: number): number {
  if (attempt <= 1) return 0;
  return Math.min(maximum, base * 2 ** (attempt - 2));
}

/**
 * Calls `operation` until it succeeds, and fails with its last error.
 */
export async function retry<T>(
  operation: (attempt: number) => Promise<T>,
  {
    attempts = 3,
    base = 100,
    maximum = 10_000,
    retryable = () => true,
    sleep = sleepFor,
  }: RetryOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return operation(attempt);
    } catch (error) {
      if (attempt > attempts || !retryable(error)) throw error;
      await sleep(delayBefore(attempt + 1, base, maximum));
    }
  }
}
