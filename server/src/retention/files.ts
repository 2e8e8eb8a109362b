import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { z } from 'zod';
import type { BlobStore } from '../store/blobs.ts';
import type { Db } from '../store/database.ts';

/** Which files of the data folder an entry needs. Whoever stores files under a hash adds the question here. */
const NEEDED = {
  blobs: 'SELECT 1 FROM trajectories WHERE blob = ? AND removed_at IS NULL LIMIT 1',
  trees: `WITH wanted (sha256) AS (VALUES (?)) SELECT 1 FROM wanted WHERE
    EXISTS (SELECT 1 FROM archives a WHERE a.sha256 = wanted.sha256 AND a.removed_at IS NULL)
    OR EXISTS (SELECT 1 FROM task_trees t WHERE t.blob = wanted.sha256)
    OR EXISTS (SELECT 1 FROM snapshots s WHERE s.blob = wanted.sha256 AND s.state = 'new')`,
} as const;

export type FileKind = keyof typeof NEEDED;

export interface FileSweep {
  /** Files whose entries have let them go. */
  removeDoomed(): Promise<number>;
  /** Reads every name: what a crash or a refused upload left goes, too. */
  removeOrphans(): Promise<number>;
}

const BATCH = 200;

/**
 * `tasks add` works beside the server and cannot hold anything: so long it may take from the name of a file
 * of tasks to its entry.
 */
const SETTLED_MS: Readonly<Record<FileKind, number>> = { blobs: 0, trees: 60 * 60 * 1000 };

/**
 * Removes files that no entry needs, and never one that an upload in flight does: those are held, and the question is
 * asked at the moment of the removal. So only the process that takes uploads may do it, under the lock of the folder.
 */
export function createFileSweep(db: Db, stores: Readonly<Record<FileKind, BlobStore>>): FileSweep {
  const needed = {
    blobs: db.prepare(NEEDED.blobs),
    trees: db.prepare(NEEDED.trees),
  };
  const doomed = db.prepare('SELECT kind, sha256 FROM doomed LIMIT ?');
  const forget = db.prepare('DELETE FROM doomed WHERE kind = ? AND sha256 = ?');
  const doomedSchema = z.array(z.object({ kind: z.enum(['blobs', 'trees']), sha256: z.string() }));
  const remove = (kind: FileKind, sha256: string, settledMs = 0): boolean =>
    stores[kind].removeUnless(sha256, () => needed[kind].get(sha256) !== undefined, settledMs);
  return {
    async removeDoomed() {
      let removed = 0;
      for (;;) {
        const batch = doomedSchema.parse(doomed.all(BATCH));
        for (const { kind, sha256 } of batch) {
          if (remove(kind, sha256)) removed += 1;
          // One that is held or needed again is not doomed any more; if it loses its entry later, it will be again,
          // and one that gets none is an orphan.
          forget.run(kind, sha256);
        }
        if (batch.length < BATCH) return removed;
        await yieldToOthers();
      }
    },
    async removeOrphans() {
      let removed = 0;
      for (const kind of ['blobs', 'trees'] as const) {
        for await (const names of stores[kind].names()) {
          for (const name of names) if (remove(kind, name, SETTLED_MS[kind])) removed += 1;
          await yieldToOthers();
        }
      }
      return removed;
    },
  };
}
