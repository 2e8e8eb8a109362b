import { z } from 'zod';
import type { Outcome } from '../../../src/core/agent/outcomes.ts';
import type { Candidate } from '../rollouts/schedule.ts';
import type { Db } from './database.ts';
import type { TrajectoryEntry } from './trajectories.ts';

/** The name under which the server's own attempts are stored; no contributor can have it. */
export const SERVER_CONTRIBUTOR = '(server)';

/** An attempt that breaks its worker, or cannot be made, is given up after so many tries. */
export const MOST_TRIES = 3;

export interface NewGroup {
  readonly task: string;
  readonly policy: string;
  readonly scaffoldHash: string;
  readonly size: number;
  readonly seed: number;
  /** Why the task was chosen. */
  readonly why: string;
}

export interface LeasedRollout {
  readonly group: number;
  readonly index: number;
  readonly lease: string;
  readonly attemptId: string;
  readonly task: string;
  readonly seed: number;
  readonly policy: string;
}

export interface DoneRollout {
  readonly entry: TrajectoryEntry;
  readonly outcome: Outcome;
  readonly reward: 0 | 1;
  readonly flags: readonly string[];
}

export interface RolloutTable {
  /** Leases belong to a server that runs: those of the one before are free again. @returns how many */
  releaseAll(): number;
  addGroup(group: NewGroup): number;
  /** The next attempt of the oldest open group of this policy that nobody makes, if there is one. */
  lease(policy: string, lease: string): LeasedRollout | undefined;
  /** Back, to be made by another; `counts`: this try is one of the few that it has. */
  release(rollout: LeasedRollout, counts: boolean, reason: string): void;
  /**
   * The attempt, its trajectory and the end of its group in one transaction. False where the lease is
   * not held any more: then nothing is stored, since another has made it or will.
   */
  complete(rollout: LeasedRollout, done: DoneRollout): boolean;
  /** Groups of other policies that are not complete: nobody can finish them. */
  dropOthers(policy: string): number;
  /** What the scheduler chooses from: tasks that are admitted and for training. */
  candidates(policy: string): readonly Candidate[];
  /** Whether a task is admitted of which the policy has made no group. */
  hasFreshTask(policy: string): boolean;
  /** Complete groups of a policy that nobody has learned from. */
  waitingGroups(policy: string): number;
}

const leasedSchema = z.object({
  group: z.number(),
  index: z.number(),
  task: z.string(),
  seed: z.number(),
  policy: z.string(),
});
const candidateSchema = z.object({
  task: z.string(),
  origin: z.enum(['file', 'attempt']),
  seq: z.number(),
  open: z.number(),
  groups: z.number(),
  solved: z.number().nullable(),
  failed: z.number().nullable(),
  last: z.number().nullable(),
  ended: z.string().nullable(),
});

export function createRolloutTable(db: Db): RolloutTable {
  const releaseAll = db.prepare(
    "UPDATE rollouts SET state = 'open', lease = NULL, tries = tries - 1 WHERE state = 'leased'",
  );
  const insertGroup = db.prepare(`
    INSERT INTO groups (task, policy, scaffold_hash, size, seed, why, made_at)
    VALUES (@task, @policy, @scaffoldHash, @size, @seed, @why, @madeAt)`);
  const insertRollout = db.prepare('INSERT INTO rollouts (group_id, idx) VALUES (?, ?)');
  const nextOpen = db.prepare(`
    SELECT g.id AS "group", r.idx AS "index", g.task AS task, g.seed AS seed, g.policy AS policy
    FROM groups g JOIN rollouts r ON r.group_id = g.id
    WHERE g.state = 'open' AND g.policy = ? AND r.state = 'open'
    ORDER BY g.id, r.idx LIMIT 1`);
  const take = db.prepare(`
    UPDATE rollouts SET state = 'leased', lease = ?, tries = tries + 1
    WHERE group_id = ? AND idx = ? AND state = 'open'`);
  const giveBack = db.prepare(`
    UPDATE rollouts SET lease = NULL, reason = @reason, tries = tries - @refund,
      state = CASE WHEN tries - @refund >= @most THEN 'invalid' ELSE 'open' END
    WHERE group_id = @group AND idx = @index AND state = 'leased' AND lease = @lease`);
  const insertTrajectory = db.prepare(`
    INSERT INTO trajectories (contributor, attempt_id, series_id, task_id, blob, blob_bytes, content,
      content_bytes, started_at, received_at, policy_kind, policy_hash, scaffold_hash, rules, outcome,
      claimed_reward, turns, sampled_tokens, claim, verified_outcome, verified_reward, verified_flags,
      verified_at, verified_seq)
    VALUES (@contributor, @attemptId, @seriesId, @taskId, @blob, @blobBytes, @content, @contentBytes,
      @startedAt, @at, @policyKind, @policyHash, @scaffoldHash, @rules, @outcome, @claimedReward,
      @turns, @sampledTokens, 'holds', @outcome, @claimedReward, @flags, @at,
      (SELECT coalesce(max(verified_seq), 0) + 1 FROM trajectories))`);
  const finish = db.prepare(`
    UPDATE rollouts SET state = 'done', lease = NULL, reason = NULL, trajectory = @trajectory
    WHERE group_id = @group AND idx = @index AND state = 'leased' AND lease = @lease`);
  const count = db.prepare(`
    UPDATE groups SET solved = solved + @solved, failed = failed + @failed,
      invalid = invalid + @invalid WHERE id = @group`);
  const endGroup = db.prepare(`
    UPDATE groups SET state = 'done', ended_at = @at WHERE id = @group AND state = 'open'
      AND NOT EXISTS (SELECT 1 FROM rollouts WHERE group_id = @group
        AND state IN ('open', 'leased'))`);
  const drop = db.prepare(`
    UPDATE groups SET state = 'dropped', ended_at = ? WHERE state = 'open' AND policy <> ?`);
  const candidates = db.prepare(`
    SELECT t.id AS task, t.origin AS origin, t.seq AS seq,
      count(g.id) FILTER (WHERE g.state = 'open') AS open,
      count(g.id) FILTER (WHERE g.state = 'done') AS groups,
      (SELECT l.solved FROM groups l WHERE l.task = t.id AND l.policy = @policy
        AND l.state = 'done' ORDER BY l.id DESC LIMIT 1) AS solved,
      (SELECT l.failed FROM groups l WHERE l.task = t.id AND l.policy = @policy
        AND l.state = 'done' ORDER BY l.id DESC LIMIT 1) AS failed,
      max(g.id) AS last, max(g.ended_at) AS ended
    FROM tasks t LEFT JOIN groups g ON g.task = t.id AND g.policy = @policy
    WHERE t.state = 'admitted' AND (t.split IS NULL OR t.split = 'train')
    GROUP BY t.id ORDER BY t.seq`);
  const fresh = db.prepare(`
    SELECT 1 FROM tasks t WHERE t.state = 'admitted' AND (t.split IS NULL OR t.split = 'train')
      AND NOT EXISTS (SELECT 1 FROM groups g WHERE g.task = t.id AND g.policy = ?) LIMIT 1`);
  const waiting = db
    .prepare("SELECT count(*) FROM groups WHERE policy = ? AND state = 'done'")
    .pluck();

  const addGroup = db.transaction((group: NewGroup): number => {
    const { lastInsertRowid } = insertGroup.run({ ...group, madeAt: now() });
    const id = Number(lastInsertRowid);
    for (let index = 0; index < group.size; index++) insertRollout.run(id, index);
    return id;
  });
  const lease = db.transaction((policy: string, name: string): LeasedRollout | undefined => {
    const row = nextOpen.get(policy);
    if (row === undefined) return undefined;
    const found = leasedSchema.parse(row);
    take.run(name, found.group, found.index);
    return { ...found, lease: name, attemptId: `rollout-${found.group}-${found.index}` };
  });
  const end = (group: number, what: 'solved' | 'failed' | 'invalid'): void => {
    const one = { solved: 0, failed: 0, invalid: 0, [what]: 1 };
    count.run({ group, ...one });
    endGroup.run({ group, at: now() });
  };
  const release = db.transaction<RolloutTable['release']>((rollout, counts, reason) => {
    const { group, index, lease } = rollout;
    const refund = counts ? 0 : 1;
    const given = giveBack.run({ group, index, lease, reason, refund, most: MOST_TRIES });
    if (given.changes === 0) return;
    const row = db
      .prepare('SELECT state FROM rollouts WHERE group_id = ? AND idx = ?')
      .get(group, index);
    if (z.object({ state: z.string() }).parse(row).state === 'invalid') end(group, 'invalid');
  });
  const complete = db.transaction<RolloutTable['complete']>((rollout, done) => {
    const { group, index, lease } = rollout;
    const { entry, flags, reward, outcome } = done;
    const held = db
      .prepare(
        "SELECT 1 FROM rollouts WHERE group_id = ? AND idx = ? AND state = 'leased' AND lease = ?",
      )
      .get(group, index, lease);
    if (held === undefined) return false;
    const { lastInsertRowid } = insertTrajectory.run({
      ...entry,
      contributor: SERVER_CONTRIBUTOR,
      outcome,
      claimedReward: reward,
      flags: JSON.stringify(flags),
      at: now(),
    });
    finish.run({ group, index, lease, trajectory: lastInsertRowid });
    end(group, reward === 1 ? 'solved' : 'failed');
    return true;
  });

  return {
    releaseAll: () => releaseAll.run().changes,
    addGroup: (group) => addGroup.immediate(group),
    lease: (policy, name) => lease.immediate(policy, name),
    release: (rollout, counts, reason) => release.immediate(rollout, counts, reason),
    complete: (rollout, done) => complete.immediate(rollout, done),
    dropOthers: (policy) => drop.run(now(), policy).changes,
    candidates: (policy) =>
      z
        .array(candidateSchema)
        .parse(candidates.all({ policy }))
        .map(({ solved, failed, last, ended, ...rest }) => ({
          ...rest,
          last: last ?? 0,
          idleMs: ended === null ? 0 : Date.now() - Date.parse(ended),
          result: groupResult(solved, failed),
        })),
    hasFreshTask: (policy) => fresh.get(policy) !== undefined,
    waitingGroups: (policy) => z.number().parse(waiting.get(policy)),
  };
}

/** A group whose attempts were all invalid says nothing of its task. */
function groupResult(solved: number | null, failed: number | null): Candidate['result'] {
  if (solved === null || failed === null) return 'none';
  if (solved === 0) return failed === 0 ? 'none' : 'never';
  return failed === 0 ? 'always' : 'mixed';
}

function now(): string {
  return new Date().toISOString();
}
