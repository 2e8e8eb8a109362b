import { z } from 'zod';
import { attemptIdSchema } from '../../../src/core/protocol/values.ts';
import type { Db } from '../store/database.ts';
import { isContributorName } from '../store/tokens.ts';
import type { DataKind } from './list.ts';
import { DataError, type ServerData } from './open.ts';

export interface Doomed {
  readonly kind: DataKind;
  /** In full. */
  readonly id: string;
  /** Of the table. */
  readonly key: number | string;
  readonly bytes: number;
}

/** Of a hash, that may stand for the whole. */
const SHORTEST_PREFIX = 8;

const rowsSchema = z.array(
  z.object({
    id: z.string(),
    key: z.union([z.number(), z.string()]),
    bytes: z.number(),
    removedAt: z.string().nullable(),
    pinned: z.number(),
  }),
);

/** What ids mean, before anything is removed. Throws `DataError` on the first that means nothing, or too much. */
export function findData({ db }: ServerData, kind: DataKind, ids: readonly string[]): Doomed[] {
  const found = ids.map((id) => findOne(db, kind, id));
  return [...new Map(found.map((each) => [each.key, each])).values()];
}

function findOne(db: Db, kind: DataKind, id: string): Doomed {
  const rows = rowsSchema.parse(candidates(db, kind, id));
  const [first, second] = rows;
  if (!first) {
    throw new DataError(
      `no ${NAMES[kind]} is called ${shown(id)} here; \`prime-agent data ls ${kind}\` names them. Nothing was removed.`,
    );
  }
  if (second) {
    throw new DataError(
      `${shown(id)} may be ${rows.map((row) => row.id).join(' or ')}; say which. Nothing was removed.`,
    );
  }
  if (first.removedAt !== null) {
    throw new DataError(
      `the content of ${first.id} went on ${first.removedAt.slice(0, 10)} already. Nothing was removed.`,
    );
  }
  if (first.pinned === 1) {
    throw new DataError(`${first.id} is pinned: it is in use. Nothing was removed.`);
  }
  return { kind, id: first.id, key: first.key, bytes: first.bytes };
}

const NAMES = { trajectories: 'trajectory', tasks: 'task archive', policies: 'policy version' };

function candidates(db: Db, kind: DataKind, id: string): unknown[] {
  switch (kind) {
    case 'trajectories': {
      const [attempt = '', contributor] = id.split('/').reverse();
      const fits =
        attemptIdSchema.safeParse(attempt).success &&
        (contributor === undefined || isContributorName(contributor)) &&
        id.split('/').length <= 2;
      if (!fits) throw odd(id, 'a trajectory is called ATTEMPT or CONTRIBUTOR/ATTEMPT');
      const columns = `contributor || '/' || attempt_id AS id, seq AS key, blob_bytes AS bytes,
        removed_at AS removedAt, 0 AS pinned`;
      return contributor === undefined
        ? db
            .prepare(
              `SELECT ${columns} FROM trajectories WHERE attempt_id = ? AND contributor IN (SELECT contributor FROM totals)`,
            )
            .all(attempt)
        : db
            .prepare(`SELECT ${columns} FROM trajectories WHERE contributor = ? AND attempt_id = ?`)
            .all(contributor, attempt);
    }
    case 'tasks': {
      if (!/^[0-9a-f]{8,64}$/.test(id)) {
        throw odd(
          id,
          `a task archive is called by its sha256, or the first ${SHORTEST_PREFIX} or more of its 64 hex digits`,
        );
      }
      // The same files may have come from several contributors: they are one archive.
      return db
        .prepare(`
          SELECT sha256 AS id, sha256 AS key, max(bytes) AS bytes, 0 AS pinned,
            iif(count(removed_at) < count(*), NULL, max(removed_at)) AS removedAt
          FROM archives WHERE sha256 >= ? AND sha256 < ? GROUP BY sha256`)
        .all(id, `${id}g`);
    }
    case 'policies': {
      const [, version] = /^(?:policy-)?v?([1-9][0-9]{0,14})$/.exec(id) ?? [];
      if (version === undefined) throw odd(id, 'a policy version is called N or policy-vN');
      return db
        .prepare(`
          SELECT 'policy-v' || version AS id, version AS key, bytes, removed_at AS removedAt, pinned
          FROM policy_versions WHERE version = ?`)
        .all(Number(version));
    }
  }
}

const REMOVE: Readonly<Record<DataKind, string>> = {
  trajectories: 'UPDATE trajectories SET removed_at = ? WHERE seq = ? AND removed_at IS NULL',
  tasks: 'UPDATE archives SET removed_at = ? WHERE sha256 = ? AND removed_at IS NULL',
  policies:
    'UPDATE policy_versions SET removed_at = ? WHERE version = ? AND removed_at IS NULL AND pinned = 0',
};

/**
 * Removes contents: marked at once, all or none; rows stay.
 *
 * @returns whether the files are gone. Else a server is running, and removes them with its next round.
 */
export async function removeData(data: ServerData, doomed: readonly Doomed[]): Promise<boolean> {
  const at = new Date().toISOString();
  const mark = data.db.transaction(() => {
    for (const { kind, key } of doomed) data.db.prepare(REMOVE[kind]).run(at, key);
  });
  mark.immediate();
  return data.removeFiles();
}

function odd(id: string, what: string): DataError {
  return new DataError(`${shown(id)} cannot be an id: ${what}. Nothing was removed.`);
}

/** An id that came from somebody's shell may be anything. */
function shown(id: string): string {
  return JSON.stringify(id.length > 100 ? `${id.slice(0, 100)}…` : id);
}
