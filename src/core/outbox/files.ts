import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redactor } from '../agent/redactor.ts';
import { formatBytes } from '../platform/format-bytes.ts';
import { MAX_ARCHIVE_BYTES, MAX_ARCHIVE_CONTENT_BYTES } from '../protocol/limits.ts';
import { isSecretFile } from '../redaction/workspace-secrets.ts';
import { SnapshotError } from '../snapshot/errors.ts';
import { openKeptBase } from '../snapshot/kept-base.ts';
import { listWorkingTree } from '../snapshot/listing.ts';
import {
  fromRawPath,
  hostPath,
  isUtf8Path,
  type RawPath,
  toRawPath,
} from '../snapshot/raw-path.ts';
import type { TreeEntry } from '../snapshot/scan.ts';
import { packTreeInBackground } from '../tasks/archive.ts';
import { isSafePath, leadsOutside, type TreeFile } from '../tasks/tree.ts';
import type { HeaderLine } from '../trajectories/schema.ts';

/** The files that an attempt had before it, ready to be sent; or why none can go. */
export type AttemptFiles =
  | {
      readonly kind: 'archive';
      /** tar, gzip. */
      readonly bytes: Buffer;
      readonly sha256: string;
      /** What is in it; sizes are unpacked. */
      readonly files: readonly { readonly path: string; readonly bytes: number }[];
      /** What the snapshot holds and the archive does not. */
      readonly leftOut: readonly LeftOut[];
    }
  | { readonly kind: 'none'; readonly reason: string };

export interface LeftOut {
  readonly path: string;
  readonly why: 'ignored' | 'secret-name' | 'secret-found' | 'not-checked' | 'odd-name' | 'outside';
}

export interface FilesOptions {
  /** Its folder `snapshots` holds what attempts started from. */
  readonly stateDir: string;
  readonly workspacePath: string;
  /** Of the workspace, today. */
  readonly redactor: Redactor;
  readonly signal?: AbortSignal;
}

/** Larger files are not looked through for secrets, so they stay. */
const LARGEST_CHECKED = 8 * 1024 ** 2;

/** Finds the files of attempts at one workspace; those of the last one are remembered. */
export type FindFiles = (task: HeaderLine['task']) => Promise<AttemptFiles>;

export function createFindFiles(options: FilesOptions): FindFiles {
  let last: { readonly id: string; readonly files: Promise<AttemptFiles> } | undefined;
  return ({ framework, snapshotId }) => {
    if (framework === 'command') {
      return Promise.resolve(
        none('its own test command or reward is not in the record, so no server could use them'),
      );
    }
    if (last?.id !== snapshotId)
      last = { id: snapshotId, files: packSnapshot(snapshotId, options) };
    return last.files;
  };
}

/**
 * Only what the snapshot held, and of that neither what is ignored (then or today) nor what holds a secret by
 * today's rules. Nothing is rewritten: a file goes as it is, or it stays.
 */
async function packSnapshot(id: string, options: FilesOptions): Promise<AttemptFiles> {
  const { stateDir, redactor, signal } = options;
  const base = await openKeptBase(stateDir, id);
  if (!base) return none('the snapshot that it started from is not kept here any more');
  try {
    const { entries, included } = base.manifest;
    const total = entries.reduce((sum, { size }) => sum + size, 0);
    if (total > MAX_ARCHIVE_CONTENT_BYTES) {
      return none(
        `its files have ${formatBytes(total)}; ${formatBytes(MAX_ARCHIVE_CONTENT_BYTES)} can be sent`,
      );
    }
    const ignored = await ignoredToday(options);
    const isIgnored = (path: RawPath): boolean => included.includes(path) || ignored(path);
    const tree = new Map<string, TreeFile>();
    const leftOut: LeftOut[] = [];
    for (const entry of entries) {
      signal?.throwIfAborted();
      const path = fromRawPath(entry.path);
      const stay = (why: LeftOut['why']): unknown => leftOut.push({ path, why });
      if (isIgnored(entry.path)) stay('ignored');
      else if (!isUtf8Path(entry.path) || !isSafePath(path)) stay('odd-name');
      else if (isSecretFile(path)) stay('secret-name');
      else if (entry.size > LARGEST_CHECKED) stay('not-checked');
      else {
        const file = await read(base.tree, entry);
        if (await redactor.holdsSecret(file.content.toString('utf8'))) stay('secret-found');
        else tree.set(path, file);
      }
    }
    // Such links are refused by every server, and with them the whole archive.
    for (let out = leadsOutside(tree); out !== undefined; out = leadsOutside(tree)) {
      tree.delete(out);
      leftOut.push({ path: out, why: 'outside' });
    }
    if (tree.size === 0) return none('none of its files may leave this machine');
    const bytes = await packTreeInBackground(tree);
    if (bytes.length > MAX_ARCHIVE_BYTES) {
      return none(
        `its files have ${formatBytes(bytes.length)} packed; ${formatBytes(MAX_ARCHIVE_BYTES)} can be sent`,
      );
    }
    return {
      kind: 'archive',
      bytes,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      files: [...tree].map(([path, { content }]) => ({ path, bytes: content.length })),
      leftOut,
    };
  } catch (error) {
    if (error instanceof SnapshotError) return none(error.message);
    throw error;
  } finally {
    await base.release();
  }
}

async function read(tree: string, { path, kind, executable }: TreeEntry): Promise<TreeFile> {
  const file = hostPath(toRawPath(tree), path);
  if (kind === 'link') {
    return { mode: '120000', content: await readlink(file, { encoding: 'buffer' }) };
  }
  return { mode: executable ? '100755' : '100644', content: await readFile(file) };
}

/** What git ignores now may have been taken along then: by a wish, or because nobody had ignored it yet. */
async function ignoredToday({
  workspacePath,
  stateDir,
  signal,
}: FilesOptions): Promise<(path: RawPath) => boolean> {
  const scratch = await mkdtemp(join(tmpdir(), 'prime-agent-list-'));
  try {
    const { files, ignored } = await listWorkingTree(workspacePath, {
      include: [],
      scratch,
      stateDir,
      signal,
    });
    const there = new Set(files);
    const names = new Set(ignored.filter((path) => !path.endsWith('/')));
    const folders = ignored.filter((path) => path.endsWith('/'));
    return (path) =>
      !there.has(path) && (names.has(path) || folders.some((folder) => path.startsWith(folder)));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function none(reason: string): AttemptFiles {
  return { kind: 'none', reason };
}
