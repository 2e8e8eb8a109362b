import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeDurably } from '../../../src/core/outbox/durable.ts';
import { limiter } from '../../../src/core/platform/limiter.ts';
import { syncFolder } from '../../../src/core/platform/sync-folder.ts';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';
import {
  type PolicyManifest,
  policyManifestSchema,
} from '../../../src/core/protocol/policy-manifest.ts';
import type { StoredFile } from '../files/verified-file.ts';
import { sha256Of } from './blobs.ts';
import { copyFolder } from './copy-folder.ts';
import type { Db } from './database.ts';

export interface PolicyEntry {
  readonly version: number;
  readonly parent: number | null;
  readonly createdAt: string;
  readonly scaffoldHash: string;
  readonly bytes: number;
  readonly manifestSha256: string;
  /** In use, or kept by somebody: retention leaves it. */
  readonly pinned: boolean;
  readonly removedAt: string | null;
}

export interface NewPolicy {
  /** Absolute path; every file in it becomes part of the version. It is copied. */
  readonly folder: string;
  readonly parent: number | null;
  readonly scaffoldHash: string;
  readonly details?: PolicyManifest['details'];
}

/** Policy versions: `policy-vN/manifest.json` and `policy-vN/files`, which never change once they are there. */
export interface PolicyStore {
  /**
   * The next version, whole or not at all. When this resolves, files, name and entry have reached the disk. Rejects
   * where a name cannot be, a file is none, or the parent is not known.
   */
  publish(policy: NewPolicy): Promise<PolicyEntry>;
  /** Newest first. */
  list(limit?: number): readonly PolicyEntry[];
  /** False where there is no such version with content. */
  setPinned(version: number, pinned: boolean): boolean;
  /** Throws `ProtocolError` (not_found, gone). */
  manifest(version: number): StoredFile;
  /** Throws `ProtocolError` (not_found, gone). */
  file(version: number, name: string): StoredFile;
  /** Removes folders that no version with content owns: a crash left them, or their content may go. */
  sweep(): Promise<number>;
}

const rowSchema = z
  .object({
    version: z.number(),
    parent: z.number().nullable(),
    created_at: z.string(),
    scaffold_hash: z.string(),
    bytes: z.number(),
    manifest: z.string(),
    manifest_sha256: z.string(),
    pinned: z.number(),
    removed_at: z.string().nullable(),
  })
  .transform((row) => ({
    manifest: row.manifest,
    entry: {
      version: row.version,
      parent: row.parent,
      createdAt: row.created_at,
      scaffoldHash: row.scaffold_hash,
      bytes: row.bytes,
      manifestSha256: row.manifest_sha256,
      pinned: row.pinned === 1,
      removedAt: row.removed_at,
    } satisfies PolicyEntry,
  }));

const MANIFEST = 'manifest.json';
const FILES = 'files';

export function createPolicyStore(db: Db, root: string): PolicyStore {
  const select = db.prepare('SELECT * FROM policy_versions WHERE version = ?');
  const newest = db.prepare('SELECT * FROM policy_versions ORDER BY version DESC LIMIT ?');
  const next = db.prepare('SELECT coalesce(max(version), 0) + 1 FROM policy_versions').pluck();
  const insert = db.prepare(
    'INSERT INTO policy_versions VALUES (?, ?, ?, ?, ?, ?, ?, 0, NULL) RETURNING *',
  );
  const pin = db.prepare(
    'UPDATE policy_versions SET pinned = ? WHERE version = ? AND removed_at IS NULL',
  );
  const oneAtATime = limiter(1);
  const folderOf = (version: number): string => join(root, `policy-v${version}`);
  const find = (version: number): z.infer<typeof rowSchema> => {
    const row = select.get(version);
    if (row === undefined) {
      throw new ProtocolError('not_found', `there is no policy version ${version} here`);
    }
    const found = rowSchema.parse(row);
    if (found.entry.removedAt === null) return found;
    throw new ProtocolError(
      'gone',
      `the files of policy version ${version} were removed on ${found.entry.removedAt.slice(0, 10)}; what it came from is kept`,
    );
  };
  const publish = async (policy: NewPolicy): Promise<PolicyEntry> => {
    if (policy.parent !== null && select.get(policy.parent) === undefined) {
      throw new Error(`there is no policy version ${policy.parent} that this one could come from`);
    }
    const version = z.number().parse(next.get());
    const fresh = join(root, `.new-${randomUUID()}`);
    try {
      await mkdir(join(fresh, FILES), { recursive: true, mode: 0o700 });
      const manifest = policyManifestSchema.parse({
        format: 1,
        version,
        parent: policy.parent,
        createdAt: new Date().toISOString(),
        scaffoldHash: policy.scaffoldHash,
        files: await copyFolder(policy.folder, join(fresh, FILES)),
        details: policy.details ?? {},
      } satisfies PolicyManifest);
      const text = `${JSON.stringify(manifest, null, 2)}\n`;
      await writeDurably(join(fresh, MANIFEST), text);
      // What a crash left under this number has no entry, so nobody was told of it.
      await rm(folderOf(version), { recursive: true, force: true });
      await rename(fresh, folderOf(version));
      await syncFolder(root);
      const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
      const { parent, createdAt, scaffoldHash } = manifest;
      const hash = sha256Of(Buffer.from(text));
      const row = insert.get(version, parent, createdAt, scaffoldHash, bytes, text, hash);
      return rowSchema.parse(row).entry;
    } catch (error) {
      await rm(fresh, { recursive: true, force: true });
      throw error;
    }
  };
  return {
    publish: (policy) => oneAtATime(() => publish(policy)),
    list: (limit = 1_000) =>
      z
        .array(rowSchema)
        .parse(newest.all(limit))
        .map(({ entry }) => entry),
    setPinned: (version, pinned) => pin.run(pinned ? 1 : 0, version).changes === 1,
    manifest(version) {
      const { entry, manifest } = find(version);
      return {
        path: join(folderOf(version), MANIFEST),
        bytes: Buffer.byteLength(manifest),
        sha256: entry.manifestSha256,
      };
    },
    file(version, name) {
      const { files } = policyManifestSchema.parse(JSON.parse(find(version).manifest));
      const found = files.find((file) => file.name === name);
      if (!found) {
        throw new ProtocolError('not_found', `policy version ${version} has no file of this name`);
      }
      return { ...found, path: join(folderOf(version), FILES, found.name) };
    },
    sweep: () =>
      // Not while one is being published: its folder has no entry yet.
      oneAtATime(async () => {
        let removed = 0;
        for (const name of await readdir(root)) {
          const [, number] = /^policy-v(\d+)$/.exec(name) ?? [];
          const row = number === undefined ? undefined : select.get(Number(number));
          if (row !== undefined && rowSchema.parse(row).entry.removedAt === null) continue;
          if (number === undefined && !name.startsWith('.new-')) continue;
          await rm(join(root, name), { recursive: true, force: true });
          removed += 1;
        }
        return removed;
      }),
  };
}
