import { z } from 'zod';
import type { ServerConfig } from '../config.ts';
import { createArchiveStore } from '../store/archives.ts';
import { createBlobStore } from '../store/blobs.ts';
import { createPolicyStore } from '../store/policies.ts';
import type { ServerData } from './open.ts';

export const DATA_KINDS = ['trajectories', 'tasks', 'policies'] as const;
export type DataKind = (typeof DATA_KINDS)[number];

export interface DataUsage {
  readonly kind: DataKind;
  /** Entries, those without content too. */
  readonly entries: number;
  /** With content. */
  readonly kept: number;
  readonly bytes: number;
  readonly limit: { readonly kept: number; readonly bytes: number | null };
}

export interface DataItem {
  /** As `rm` takes it. */
  readonly id: string;
  readonly bytes: number;
  /** When it came. */
  readonly at: string;
  /** When its content went. */
  readonly removedAt: string | null;
  /** What else is known of it, for a line of a list. */
  readonly more: Readonly<Record<string, string | number | null>>;
}

const usageSchema = z.object({ entries: z.number(), kept: z.number(), bytes: z.number() });

export function dataUsage({ db }: ServerData, limits: ServerConfig['retention']): DataUsage[] {
  const of = (sql: string): z.infer<typeof usageSchema> => usageSchema.parse(db.prepare(sql).get());
  const sums = (table: string): string =>
    `SELECT count(*) AS entries, coalesce(sum(removed_at IS NULL), 0) AS kept,
      coalesce(sum(iif(removed_at IS NULL, bytes, 0)), 0) AS bytes FROM ${table}`;
  return [
    {
      kind: 'trajectories',
      ...of(`SELECT coalesce(sum(trajectories), 0) AS entries, coalesce(sum(kept), 0) AS kept,
        coalesce(sum(bytes), 0) AS bytes FROM totals`),
      limit: { kept: limits.trajectories, bytes: limits.blobBytes },
    },
    {
      kind: 'tasks',
      ...of(sums('archives')),
      limit: { kept: limits.taskArchives, bytes: limits.taskBytes },
    },
    {
      kind: 'policies',
      ...of(sums('policy_versions')),
      limit: { kept: limits.policyVersions, bytes: null },
    },
  ];
}

const trajectorySchema = z.array(
  z
    .object({
      id: z.string(),
      bytes: z.number(),
      at: z.string(),
      removedAt: z.string().nullable(),
      task: z.string(),
      outcome: z.string(),
      claim: z.string(),
      reward: z.number().nullable(),
    })
    .transform(
      ({ id, bytes, at, removedAt, ...more }): DataItem => ({
        id,
        bytes,
        at,
        removedAt,
        more,
      }),
    ),
);

/** Newest first. */
export function listData(
  { db, folders }: ServerData,
  kind: DataKind,
  limit: number,
): readonly DataItem[] {
  switch (kind) {
    case 'trajectories':
      return trajectorySchema.parse(
        db
          .prepare(`
            SELECT contributor || '/' || attempt_id AS id, blob_bytes AS bytes, received_at AS at,
              removed_at AS removedAt, task_id AS task, outcome, claim, claimed_reward AS reward
            FROM trajectories ORDER BY seq DESC LIMIT ?`)
          .all(limit),
      );
    case 'tasks':
      return createArchiveStore(db, createBlobStore(folders.trees), folders.incoming)
        .list(limit)
        .map(({ sha256, bytes, addedAt, removedAt, taskId, contributor }) => ({
          id: sha256,
          bytes,
          at: addedAt,
          removedAt,
          more: { task: taskId, contributor },
        }));
    case 'policies':
      return createPolicyStore(db, folders.policies)
        .list(limit)
        .map(({ version, bytes, createdAt, removedAt, parent, pinned }) => ({
          id: `policy-v${version}`,
          bytes,
          at: createdAt,
          removedAt,
          more: { parent, pinned: pinned ? 'pinned' : '' },
        }));
  }
}
