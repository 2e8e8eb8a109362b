import { setTimeout as sleep } from 'node:timers/promises';
import type { Trouble } from './failures.ts';

export interface RetrySettings {
  /** Requests in all, the first included. */
  readonly attempts: number;
  readonly baseMs: number;
  /** Longest wait; a server that asks for more is not waited for. */
  readonly maxMs: number;
}

export const DEFAULT_RETRIES: RetrySettings = { attempts: 4, baseMs: 500, maxMs: 30_000 };

export type Tried<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'trouble'; readonly trouble: Trouble };

/** Exponential backoff with full jitter. Rejects with the trouble's failure or the signal's reason. */
export async function withRetries<T>(
  attempt: () => Promise<Tried<T>>,
  settings: RetrySettings,
  signal: AbortSignal,
  onRetry: () => void = () => {},
): Promise<T> {
  for (let count = 1; ; count += 1) {
    const tried = await attempt();
    if (tried.kind === 'done') return tried.value;
    const { failure, retry, retryAfterMs } = tried.trouble;
    const wait =
      retryAfterMs ?? Math.random() * Math.min(settings.maxMs, settings.baseMs * 2 ** count);
    if (!retry || count >= settings.attempts || wait > settings.maxMs) throw failure;
    onRetry();
    await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
