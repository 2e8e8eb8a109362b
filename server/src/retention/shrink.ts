import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { z } from 'zod';
import type { ServerConfig } from '../config.ts';
import type { Db } from '../store/database.ts';

/** Contents that went, so that the rest is within the limits. */
export interface Shrunk {
  readonly trajectories: number;
  readonly archives: number;
  readonly policies: number;
}

/** So many entries share a transaction, so that uploads hardly wait. */
const BATCH = 500;

const usedSchema = z.object({ count: z.number(), bytes: z.number() });
const candidateSchema = z.array(z.object({ seq: z.number(), bytes: z.number() }));

/**
 * Marks the oldest contents as removed until the rest is within the limits; their rows stay, and their files go with
 * `removeDoomed` and `PolicyStore.sweep`. Of trajectories those go first whose claim was judged.
 */
export async function shrink(db: Db, limits: ServerConfig['retention']): Promise<Shrunk> {
  const trajectories = await shrinkTable(db, {
    used: 'SELECT coalesce(sum(kept), 0) AS count, coalesce(sum(bytes), 0) AS bytes FROM totals',
    oldest: `SELECT seq, blob_bytes AS bytes FROM trajectories WHERE removed_at IS NULL
      ORDER BY (claim = 'waiting'), seq LIMIT ?`,
    remove: 'UPDATE trajectories SET removed_at = ? WHERE seq = ? AND removed_at IS NULL',
    limit: { count: limits.trajectories, bytes: limits.blobBytes },
  });
  const archives = await shrinkTable(db, {
    used: 'SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM archives WHERE removed_at IS NULL',
    oldest: 'SELECT seq, bytes FROM archives WHERE removed_at IS NULL ORDER BY seq LIMIT ?',
    remove: 'UPDATE archives SET removed_at = ? WHERE seq = ? AND removed_at IS NULL',
    limit: { count: limits.taskArchives, bytes: limits.taskBytes },
  });
  const policies = db
    .prepare(`
      UPDATE policy_versions SET removed_at = ? WHERE removed_at IS NULL AND pinned = 0
        AND version NOT IN (SELECT version FROM policy_versions ORDER BY version DESC LIMIT ?)`)
    .run(new Date().toISOString(), limits.policyVersions).changes;
  return { trajectories, archives, policies };
}

async function shrinkTable(
  db: Db,
  sql: {
    readonly used: string;
    readonly oldest: string;
    readonly remove: string;
    readonly limit: { readonly count: number; readonly bytes: number };
  },
): Promise<number> {
  const used = db.prepare(sql.used);
  const oldest = db.prepare(sql.oldest);
  const remove = db.prepare(sql.remove);
  const batch = db.transaction((): number => {
    const { count, bytes } = usedSchema.parse(used.get());
    let over = { count: count - sql.limit.count, bytes: bytes - sql.limit.bytes };
    if (over.count <= 0 && over.bytes <= 0) return 0;
    const at = new Date().toISOString();
    let removed = 0;
    for (const entry of candidateSchema.parse(oldest.all(BATCH))) {
      if (over.count <= 0 && over.bytes <= 0) break;
      remove.run(at, entry.seq);
      over = { count: over.count - 1, bytes: over.bytes - entry.bytes };
      removed += 1;
    }
    return removed;
  });
  for (let total = 0; ; ) {
    const removed = batch.immediate();
    total += removed;
    if (removed < BATCH) return total;
    await yieldToOthers();
  }
}
