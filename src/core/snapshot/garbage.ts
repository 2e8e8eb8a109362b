import { discard, listBases, removeLeftovers } from './store.ts';

export interface StorageLimits {
  /** Bases that nobody used for this long go. */
  readonly maxAgeMs: number;
  readonly maxCount: number;
  readonly maxBytes: number;
}

export const DEFAULT_LIMITS: StorageLimits = {
  maxAgeMs: 14 * 24 * 3600 * 1000,
  maxCount: 16,
  maxBytes: 10e9,
};

export interface Collected {
  readonly removed: readonly string[];
  readonly freedBytes: number;
  /** Over the limits, but somebody uses them. */
  readonly keptInUse: readonly string[];
}

/** Keeps the most recently used bases within the limits; those in use stay whatever the limits say. */
export async function collectGarbage(
  stateDir: string,
  limits: StorageLimits = DEFAULT_LIMITS,
  now: number = Date.now(),
): Promise<Collected> {
  await removeLeftovers(stateDir);
  const removed: string[] = [];
  const keptInUse: string[] = [];
  let freedBytes = 0;
  let count = 0;
  let bytes = 0;
  for (const base of await listBases(stateDir)) {
    const { id } = base.meta;
    const fits =
      now - base.lastUsed <= limits.maxAgeMs &&
      count + 1 <= limits.maxCount &&
      bytes + base.meta.bytes <= limits.maxBytes;
    if (!fits && (await discard(stateDir, id))) {
      removed.push(id);
      freedBytes += base.meta.bytes;
      continue;
    }
    if (!fits) keptInUse.push(id);
    count++;
    bytes += base.meta.bytes;
  }
  return { removed, freedBytes, keptInUse };
}
