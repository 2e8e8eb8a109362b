export interface RateLimit {
  /** Takes one; false, and how long to wait, where none is left. */
  take(key: string): { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };
  /** Whether one is left, without taking it. */
  left(key: string): boolean;
}

/** Keys that are remembered. Beyond, the one that was not used for longest is forgotten. */
const MAX_KEYS = 10_000;

/**
 * A bucket per key that fills up evenly over a minute. Counts on a clock that never jumps.
 *
 * @param now milliseconds, only ever growing
 */
export function createRateLimit(
  perMinute: number,
  now: () => number = () => performance.now(),
): RateLimit {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const bucketOf = (key: string): { tokens: number; at: number } => {
    const at = now();
    const before = buckets.get(key) ?? { tokens: perMinute, at };
    const filled = before.tokens + ((at - before.at) * perMinute) / 60_000;
    const bucket = { tokens: Math.min(perMinute, filled), at };
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > MAX_KEYS) {
      const [oldest] = buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
    }
    return bucket;
  };
  return {
    take(key) {
      const bucket = bucketOf(key);
      if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return { ok: true };
      }
      return { ok: false, retryAfterMs: Math.ceil(((1 - bucket.tokens) * 60_000) / perMinute) };
    },
    left: (key) => bucketOf(key).tokens >= 1,
  };
}
