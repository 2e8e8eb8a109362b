import { z } from 'zod';
import type { Db } from './database.ts';

/** A trajectory that a learner may read. */
export interface LearnableRow {
  /** Order in which they were judged: whoever goes on after one misses none. */
  readonly seq: number;
  readonly contributor: string;
  readonly attemptId: string;
  /** sha256 that names the record's bytes (gzip). */
  readonly blob: string;
  readonly task: string;
  readonly policyKind: string;
  readonly policyHash: string | null;
  readonly scaffoldHash: string;
  /** Attempts of one group at one task by one policy; null: an attempt of a user, in no group. */
  readonly group: number | null;
  readonly index: number | null;
  /** What the server's own sandbox came to. */
  readonly outcome: string;
  readonly reward: 0 | 1;
}

const rowSchema = z.object({
  seq: z.number(),
  contributor: z.string(),
  attemptId: z.string(),
  blob: z.string(),
  task: z.string(),
  policyKind: z.string(),
  policyHash: z.string().nullable(),
  scaffoldHash: z.string(),
  group: z.number().nullable(),
  index: z.number().nullable(),
  outcome: z.string(),
  reward: z.union([z.literal(0), z.literal(1)]),
});

/**
 * The one place from which a learner gets trajectories. What is claimed is not even selected: a row is
 * here once the server has recomputed its reward and came to the same, under strict rules and without a
 * flag of grading. A claim that did not hold keeps its row out altogether.
 *
 * @param after `seq` of the last row that was read, 0 for the beginning
 */
export function learnableRows(db: Db, after: number, limit: number): readonly LearnableRow[] {
  const rows = db
    .prepare(
      `SELECT t.verified_seq AS seq, t.contributor AS contributor, t.attempt_id AS attemptId,
        t.blob AS blob, t.task_id AS task, t.policy_kind AS policyKind, t.policy_hash AS policyHash,
        t.scaffold_hash AS scaffoldHash, r.group_id AS "group", r.idx AS "index",
        t.verified_outcome AS outcome, t.verified_reward AS reward
      FROM trajectories t LEFT JOIN rollouts r ON r.trajectory = t.seq
      WHERE t.verified_seq > ? AND t.claim = 'holds' AND t.verified_reward IS NOT NULL
        AND t.verified_flags = '[]' AND t.rules = 'strict' AND t.removed_at IS NULL
      ORDER BY t.verified_seq LIMIT ?`,
    )
    .all(after, limit);
  return z.array(rowSchema).parse(rows);
}
