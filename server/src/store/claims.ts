import { z } from 'zod';
import type { Claim } from '../../../src/core/protocol/values.ts';
import type { Db } from './database.ts';

/** A stored trajectory whose reward nobody has recomputed yet, and the task to do that on. */
export interface WaitingClaim {
  readonly seq: number;
  readonly contributor: string;
  readonly attemptId: string;
  readonly blob: string;
  readonly claimedOutcome: string;
  readonly claimedReward: number | null;
  /** Name of the task here. */
  readonly task: string;
  /** Files of its snapshot that are not here. */
  readonly leftOut: number;
}

/** What the server found. */
export interface Verification {
  readonly claim: Exclude<Claim, 'waiting'>;
  readonly reason: string | null;
  readonly outcome: string | null;
  readonly reward: 0 | 1 | null;
  readonly flags: readonly string[];
}

export interface Claims {
  /** Oldest first, at most `limit`, of those whose task is here and admitted. */
  next(limit: number): readonly WaitingClaim[];
  /** Does nothing to a trajectory that was judged already. @returns whether it was waiting */
  judge(seq: number, verification: Verification): boolean;
  /** Claims on tasks that were refused cannot be looked at. @returns how many */
  giveUpOnRefused(): number;
  /** Those that wait for a task that is not here. */
  withoutTask(): number;
  /** Claims that did not hold, by contributor; those without any are left out. */
  broken(): Readonly<Record<string, number>>;
}

const waitingSchema = z.object({
  seq: z.number(),
  contributor: z.string(),
  attemptId: z.string(),
  blob: z.string(),
  claimedOutcome: z.string(),
  claimedReward: z.number().nullable(),
  task: z.string(),
  leftOut: z.number(),
});

/**
 * The task of a trajectory: one that everybody knows, or what the contributor's own snapshot became. From
 * the tasks to the trajectories (CROSS JOIN keeps the order): most that waits may have no task here.
 */
const KNOWN = `
  SELECT t.seq AS seq, t.contributor AS contributor, t.attempt_id AS attemptId, t.blob AS blob,
    t.outcome AS claimedOutcome, t.claimed_reward AS claimedReward, k.id AS task,
    k.state AS state, k.reason AS reason, 0 AS leftOut
  FROM tasks k CROSS JOIN trajectories t
    ON t.task_id = k.id AND t.claim = 'waiting' AND t.removed_at IS NULL
  UNION ALL
  SELECT t.seq, t.contributor, t.attempt_id, t.blob, t.outcome, t.claimed_reward, a.task, a.state,
    a.reason, a.left_out
  FROM snapshots a CROSS JOIN trajectories t
    ON t.task_id = a.task_id AND t.contributor = a.contributor AND t.claim = 'waiting'
      AND t.removed_at IS NULL
  WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE id = t.task_id)`;

export function createClaims(db: Db): Claims {
  const next = db.prepare(`SELECT * FROM (${KNOWN}) WHERE state = 'admitted' ORDER BY seq LIMIT ?`);
  const refused = db.prepare(`SELECT seq, reason FROM (${KNOWN}) WHERE state = 'refused'`);
  const known = db.prepare(`SELECT count(*) AS count FROM (${KNOWN})`);
  const waiting = db.prepare(
    "SELECT coalesce(sum(kept), 0) AS count FROM totals WHERE claim = 'waiting'",
  );
  const judge = db.prepare(`
    UPDATE trajectories SET claim = @claim, claim_reason = @reason, verified_outcome = @outcome,
      verified_reward = @reward, verified_flags = @flags, verified_at = @at,
      verified_seq = (SELECT coalesce(max(verified_seq), 0) + 1 FROM trajectories)
    WHERE seq = @seq AND claim = 'waiting'`);
  const broken = db.prepare(`
    SELECT contributor, trajectories AS count FROM totals
    WHERE claim = 'broken' AND trajectories > 0`);
  const count = z.object({ count: z.number() });

  const judgeOne: Claims['judge'] = (seq, { flags, ...found }) =>
    judge.run({ seq, ...found, flags: JSON.stringify(flags), at: new Date().toISOString() })
      .changes === 1;
  const giveUp = db.transaction((): number => {
    const rows = z
      .array(z.object({ seq: z.number(), reason: z.string().nullable() }))
      .parse(refused.all());
    for (const { seq, reason } of rows) {
      judgeOne(seq, {
        claim: 'unverifiable',
        reason: `its task was refused: ${reason ?? 'no reason is known'}`,
        outcome: null,
        reward: null,
        flags: [],
      });
    }
    return rows.length;
  });

  return {
    next: (limit) => z.array(waitingSchema).parse(next.all(limit)),
    judge: judgeOne,
    // Mostly there is none, and then nothing is written.
    giveUpOnRefused: () => (refused.get() === undefined ? 0 : giveUp.immediate()),
    withoutTask: () => count.parse(waiting.get()).count - count.parse(known.get()).count,
    broken: () =>
      Object.fromEntries(
        z
          .array(z.object({ contributor: z.string(), count: z.number() }))
          .parse(broken.all())
          .map(({ contributor, count }) => [contributor, count]),
      ),
  };
}
