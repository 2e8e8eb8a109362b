import { z } from 'zod';
import { type Claim, claimSchema } from '../../../src/core/protocol/values.ts';
import type { Db } from './database.ts';

/** What is known of a trajectory without opening it. Rewards are claims until `claim` says otherwise. */
export interface TrajectoryEntry {
  readonly contributor: string;
  readonly attemptId: string;
  readonly seriesId: string;
  readonly taskId: string;
  /** sha256 of the bytes as they came; names the blob. */
  readonly blob: string;
  readonly blobBytes: number;
  /** sha256 of what they unpack to. */
  readonly content: string;
  readonly contentBytes: number;
  readonly startedAt: string;
  readonly policyKind: string;
  readonly policyHash: string | null;
  readonly scaffoldHash: string;
  readonly rules: string;
  readonly outcome: string;
  readonly claimedReward: number | null;
  readonly turns: number;
  readonly sampledTokens: number;
}

export type AddResult = 'added' | 'duplicate' | 'conflict';

export interface Totals {
  readonly trajectories: number;
  /** Those whose content is here; bytes are of these. */
  readonly kept: number;
  readonly bytes: number;
}

export interface TrajectoryTable {
  find(
    contributor: string,
    attemptId: string,
  ): { readonly content: string; readonly claim: Claim } | undefined;
  /** Has this contributor sent an attempt at a task of this name? */
  hasTask(contributor: string, taskId: string): boolean;
  /** Resolves when the entry has reached the disk. Those that wait at the same time share one commit. */
  add(entry: TrajectoryEntry): Promise<AddResult>;
  totalsOf(contributor: string): Totals;
  totalsByClaim(): Readonly<Record<Claim, Totals>>;
  /** All that waits is written. */
  settled(): Promise<void>;
}

interface Waiting {
  readonly entry: TrajectoryEntry;
  readonly resolve: (result: AddResult) => void;
  readonly reject: (error: unknown) => void;
}

const foundSchema = z.object({ content: z.string(), claim: claimSchema });
const totalsSchema = z.object({ trajectories: z.number(), kept: z.number(), bytes: z.number() });

export function createTrajectoryTable(db: Db): TrajectoryTable {
  const insert = db.prepare(`
    INSERT INTO trajectories (contributor, attempt_id, series_id, task_id, blob, blob_bytes, content,
      content_bytes, started_at, received_at, policy_kind, policy_hash, scaffold_hash, rules, outcome,
      claimed_reward, turns, sampled_tokens)
    VALUES (@contributor, @attemptId, @seriesId, @taskId, @blob, @blobBytes, @content, @contentBytes,
      @startedAt, @receivedAt, @policyKind, @policyHash, @scaffoldHash, @rules, @outcome,
      @claimedReward, @turns, @sampledTokens)`);
  const select = db.prepare(
    'SELECT content, claim FROM trajectories WHERE contributor = ? AND attempt_id = ?',
  );
  const atTask = db.prepare(
    'SELECT 1 FROM trajectories WHERE task_id = ? AND contributor = ? LIMIT 1',
  );
  const sums = ['trajectories', 'kept', 'bytes']
    .map((column) => `coalesce(sum(${column}), 0) AS ${column}`)
    .join(', ');
  const ofContributor = db.prepare(`SELECT ${sums} FROM totals WHERE contributor = ?`);
  const byClaim = db.prepare(`SELECT claim, ${sums} FROM totals GROUP BY claim`);

  const find: TrajectoryTable['find'] = (contributor, attemptId) => {
    const row = select.get(contributor, attemptId);
    return row === undefined ? undefined : foundSchema.parse(row);
  };
  const addAll = db.transaction((entries: readonly TrajectoryEntry[]): AddResult[] => {
    const receivedAt = new Date().toISOString();
    return entries.map((entry) => {
      const before = find(entry.contributor, entry.attemptId);
      if (before) return before.content === entry.content ? 'duplicate' : 'conflict';
      insert.run({ ...entry, receivedAt });
      return 'added';
    });
  });

  let waiting: Waiting[] = [];
  let flushed: Promise<void> | undefined;
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    flushed = undefined;
    try {
      const results = addAll.immediate(batch.map(({ entry }) => entry));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] ?? 'conflict');
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  return {
    find,
    hasTask: (contributor, taskId) => atTask.get(taskId, contributor) !== undefined,
    add(entry) {
      flushed ??= new Promise((done) => {
        setImmediate(() => {
          flush();
          done();
        });
      });
      return new Promise((resolve, reject) => waiting.push({ entry, resolve, reject }));
    },
    totalsOf: (contributor) => totalsSchema.parse(ofContributor.get(contributor)),
    totalsByClaim() {
      const none: Totals = { trajectories: 0, kept: 0, bytes: 0 };
      const totals: Record<Claim, Totals> = {
        waiting: none,
        holds: none,
        broken: none,
        unverifiable: none,
      };
      const rows = z.array(totalsSchema.extend({ claim: claimSchema })).parse(byClaim.all());
      for (const { claim, ...of } of rows) totals[claim] = of;
      return totals;
    },
    settled: async () => flushed,
  };
}
