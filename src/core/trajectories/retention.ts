/** How much is kept. The oldest go first; pinned and recent unfinished ones stay. */
export interface RetentionLimits {
  readonly maxAttempts: number;
  readonly maxBytes: number;
}

export const DEFAULT_RETENTION: RetentionLimits = {
  maxAttempts: 5_000,
  maxBytes: 1024 * 1024 * 1024,
};

export interface RetainedRecord {
  /** Milliseconds since 1970 of the last write. */
  readonly modifiedMs: number;
  readonly bytes: number;
  /** Pinned by the user, or still being written. */
  readonly keep: boolean;
}

/** Which records to remove so that the rest is within the limits, as far as `keep` allows. */
export function recordsToRemove<Item extends RetainedRecord>(
  records: readonly Item[],
  limits: RetentionLimits,
): readonly Item[] {
  let count = records.length;
  let bytes = records.reduce((sum, record) => sum + record.bytes, 0);
  const removed: Item[] = [];
  const oldestFirst = records
    .filter((record) => !record.keep)
    .sort((a, b) => a.modifiedMs - b.modifiedMs);
  for (const record of oldestFirst) {
    if (count <= limits.maxAttempts && bytes <= limits.maxBytes) break;
    removed.push(record);
    count -= 1;
    bytes -= record.bytes;
  }
  return removed;
}
