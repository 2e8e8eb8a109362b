import { z } from 'zod';
import type { StoredFile } from '../files/verified-file.ts';
import { type BlobStore, storeBytes } from './blobs.ts';
import type { Db } from './database.ts';

export interface ArchiveEntry {
  readonly seq: number;
  readonly sha256: string;
  readonly bytes: number;
  readonly taskId: string;
  readonly contributor: string;
  readonly addedAt: string;
  readonly removedAt: string | null;
}

export interface ArchiveOf {
  readonly taskId: string;
  readonly contributor: string;
}

/** Task archives: files named by their sha256, and for whom they were stored. */
export interface ArchiveStore {
  /** When this resolves, file and entry have reached the disk. The same again changes nothing. */
  add(content: Buffer, of: ArchiveOf): Promise<StoredFile>;
  /** Enters a file that is in the store already and is held (`BlobStore.hold`). */
  register(file: Omit<StoredFile, 'path'>, of: ArchiveOf): void;
  /** Of what is there still. */
  bytesOf(contributor: string): number;
  /** What is there still; of one contributor, or of anybody. */
  find(sha256: string, contributor: string | undefined): StoredFile | undefined;
  /** Newest first, before a `seq`. */
  list(limit: number, before?: number): readonly ArchiveEntry[];
}

const rowSchema = z
  .object({
    seq: z.number(),
    sha256: z.string(),
    bytes: z.number(),
    task_id: z.string(),
    contributor: z.string(),
    added_at: z.string(),
    removed_at: z.string().nullable(),
  })
  .transform(
    ({ task_id, added_at, removed_at, ...row }): ArchiveEntry => ({
      ...row,
      taskId: task_id,
      addedAt: added_at,
      removedAt: removed_at,
    }),
  );
const foundSchema = z.object({ sha256: z.string(), bytes: z.number() });

export function createArchiveStore(db: Db, blobs: BlobStore, incoming: string): ArchiveStore {
  const insert = db.prepare(`
    INSERT INTO archives (sha256, bytes, task_id, contributor, added_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET removed_at = NULL, added_at = excluded.added_at
    WHERE removed_at IS NOT NULL`);
  const kept = 'SELECT sha256, bytes FROM archives WHERE removed_at IS NULL AND sha256 = ?';
  const ofAnybody = db.prepare(`${kept} LIMIT 1`);
  const ofOne = db.prepare(`${kept} AND contributor = ?`);
  const sum = db.prepare(
    'SELECT coalesce(sum(bytes), 0) FROM archives WHERE removed_at IS NULL AND contributor = ?',
  );
  const list = db.prepare('SELECT * FROM archives WHERE seq < ? ORDER BY seq DESC LIMIT ?');
  const register: ArchiveStore['register'] = ({ sha256, bytes }, { taskId, contributor }) => {
    insert.run(sha256, bytes, taskId, contributor, new Date().toISOString());
  };
  return {
    register,
    bytesOf: (contributor) => z.number().parse(sum.pluck().get(contributor)),
    add: (content, of) =>
      storeBytes(blobs, incoming, content, (sha256) => {
        register({ sha256, bytes: content.length }, of);
        return { path: blobs.pathOf(sha256), bytes: content.length, sha256 };
      }),
    find(sha256, contributor) {
      const row =
        contributor === undefined ? ofAnybody.get(sha256) : ofOne.get(sha256, contributor);
      if (row === undefined) return undefined;
      const { bytes } = foundSchema.parse(row);
      return { path: blobs.pathOf(sha256), bytes, sha256 };
    },
    list: (limit, before = Number.MAX_SAFE_INTEGER) =>
      z.array(rowSchema).parse(list.all(before, limit)),
  };
}
