import { randomUUID } from 'node:crypto';
import { cp, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';
import { syncFolder } from '../../../src/core/platform/sync-folder.ts';
import { MAX_CONTENT_BYTES } from '../../../src/core/protocol/limits.ts';
import { isErrno } from '../../../src/core/snapshot/errors.ts';
import { createArchiveStore } from '../store/archives.ts';
import { type BlobStore, createBlobStore, sha256Of } from '../store/blobs.ts';
import { createPolicyStore } from '../store/policies.ts';
import { DataError, type ServerData } from './open.ts';

const unpack = promisify(gunzip);

export interface ExportReport {
  readonly folder: string;
  readonly trajectories: number;
  readonly archives: number;
  readonly policies: number;
  /** Entries whose content went, or went while this ran. */
  readonly withoutContent: number;
  /** Contents that are not what was stored. */
  readonly damaged: readonly string[];
}

const PAGE = 500;
const rowSchema = z
  .object({
    seq: z.number(),
    contributor: z.string(),
    attempt_id: z.string(),
    blob: z.string(),
    content: z.string(),
    removed_at: z.string().nullable(),
  })
  .loose();

/**
 * Writes everything into a folder: `trajectories.jsonl` (the records), `lineage.jsonl` (a line for every trajectory),
 * `tasks.jsonl` with `archives`, `policies.jsonl` with `policies`. The folder is there whole or not at all.
 *
 * @param folder absolute path of what must not be there yet
 */
export async function exportData(data: ServerData, folder: string): Promise<ExportReport> {
  if (await stat(folder).catch(() => undefined)) {
    throw new DataError(`${folder} is there already; name a folder that is not`);
  }
  const fresh = join(dirname(folder), `.export-${randomUUID()}`);
  try {
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    const report = { withoutContent: 0, damaged: [] as string[] };
    const trajectories = await exportTrajectories(data, fresh, report);
    const archives = await exportArchives(data, fresh, report);
    const policies = await exportPolicies(data, fresh, report);
    await rename(fresh, folder);
    await syncFolder(dirname(folder));
    return { folder, trajectories, archives, policies, ...report };
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
}

type Counts = { withoutContent: number; damaged: string[] };

async function exportTrajectories(
  { db, folders }: ServerData,
  folder: string,
  counts: Counts,
): Promise<number> {
  const blobs = createBlobStore(folders.blobs);
  const page = db.prepare('SELECT * FROM trajectories WHERE seq > ? ORDER BY seq LIMIT ?');
  const lineage = await open(join(folder, 'lineage.jsonl'), 'wx', 0o600);
  const records = await open(join(folder, 'trajectories.jsonl'), 'wx', 0o600);
  try {
    let exported = 0;
    for (let after = 0; ; ) {
      const rows = z.array(rowSchema).parse(page.all(after, PAGE));
      for (const row of rows) {
        after = row.seq;
        await lineage.writeFile(`${JSON.stringify(row)}\n`);
        const content = row.removed_at === null ? await read(blobs, row.blob) : undefined;
        if (content === undefined) counts.withoutContent += 1;
        else {
          const text = await unpacked(content);
          if (text && sha256Of(text) === row.content) {
            await records.writeFile(text);
            exported += 1;
          } else counts.damaged.push(`${row.contributor}/${row.attempt_id}`);
        }
      }
      if (rows.length < PAGE) break;
    }
    await lineage.sync();
    await records.sync();
    return exported;
  } finally {
    await lineage.close();
    await records.close();
  }
}

async function unpacked(bytes: Buffer): Promise<Buffer | undefined> {
  try {
    return await unpack(bytes, { maxOutputLength: MAX_CONTENT_BYTES });
  } catch {
    return undefined;
  }
}

async function exportArchives(
  { db, folders }: ServerData,
  folder: string,
  counts: Counts,
): Promise<number> {
  const trees = createBlobStore(folders.trees);
  const archives = createArchiveStore(db, trees, folders.incoming);
  const list = await open(join(folder, 'tasks.jsonl'), 'wx', 0o600);
  try {
    await mkdir(join(folder, 'archives'), { mode: 0o700 });
    let exported = 0;
    for (let before: number | undefined; ; ) {
      const page = archives.list(PAGE, before);
      for (const entry of page) {
        before = entry.seq;
        await list.writeFile(`${JSON.stringify(entry)}\n`);
        const content = entry.removedAt === null ? await read(trees, entry.sha256) : undefined;
        if (content === undefined) counts.withoutContent += 1;
        else if (sha256Of(content) !== entry.sha256) counts.damaged.push(entry.sha256);
        else {
          const file = await open(join(folder, 'archives', entry.sha256), 'w', 0o600);
          await file.writeFile(content);
          await file.close();
          exported += 1;
        }
      }
      if (page.length < PAGE) return exported;
    }
  } finally {
    await list.close();
  }
}

async function exportPolicies(
  { db, folders }: ServerData,
  folder: string,
  counts: Counts,
): Promise<number> {
  const list = await open(join(folder, 'policies.jsonl'), 'wx', 0o600);
  try {
    await mkdir(join(folder, 'policies'), { mode: 0o700 });
    let exported = 0;
    for (const entry of createPolicyStore(db, folders.policies).list(Number.MAX_SAFE_INTEGER)) {
      await list.writeFile(`${JSON.stringify(entry)}\n`);
      const name = `policy-v${entry.version}`;
      const copied =
        entry.removedAt === null &&
        (await copyTree(join(folders.policies, name), join(folder, 'policies', name)));
      if (copied) exported += 1;
      else counts.withoutContent += 1;
    }
    return exported;
  } finally {
    await list.close();
  }
}

/** False: retention has removed it meanwhile. */
async function copyTree(from: string, to: string): Promise<boolean> {
  try {
    await cp(from, to, { recursive: true });
    return true;
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    await rm(to, { recursive: true, force: true });
    return false;
  }
}

/** undefined: retention has removed it meanwhile. */
async function read(store: BlobStore, sha256: string): Promise<Buffer | undefined> {
  try {
    return await store.read(sha256);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
