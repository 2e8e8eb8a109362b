import type { Buffer } from 'node:buffer';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SnapshotBase } from '../sandbox/sandbox.ts';
import { type BlobRepository, withBlobRepository } from './blob-repository.ts';
import type { FileChange } from './changes.ts';
import { KEEP_BYTES } from './commit.ts';
import { mustRunGit } from './git.ts';
import type { SkippedPath } from './listing.ts';
import { type PatchFile, parsePatch } from './patch-format.ts';
import { fromRawPath, isUtf8Path, type RawPath } from './raw-path.ts';

export interface BaseDiff {
  readonly patch: string;
  readonly files: readonly PatchFile[];
  readonly skipped: readonly SkippedPath[];
}

/** The patch of the given changes, made by git from objects alone: no working tree, no settings. */
export async function diffAgainstBase(
  base: SnapshotBase,
  changes: ReadonlyMap<RawPath, FileChange>,
  signal: AbortSignal | undefined,
): Promise<BaseDiff> {
  const asText = new Map<RawPath, FileChange>();
  const asBinary = new Map<RawPath, FileChange>();
  const skipped: SkippedPath[] = [];
  for (const [path, change] of changes) {
    const sides = [change.before, change.after].filter((side) => side !== undefined);
    if (sides.every((side) => isText(side.content))) asText.set(path, change);
    // git has no binary patches of links.
    else if (sides.some((side) => side.mode === '120000')) {
      skipped.push({ path: fromRawPath(path), reason: 'a link whose target is not UTF-8' });
    } else asBinary.set(path, change);
  }
  if (asText.size + asBinary.size === 0) return { patch: '', files: [], skipped };

  const gitOfBase = join(base.tree, '.git');
  return withBlobRepository(join(gitOfBase, 'objects'), signal, async (repository) => {
    const head = (await readFile(join(gitOfBase, 'refs/heads/main'), 'latin1')).trim();
    const parts: string[] = [];
    for (const [kind, part] of [['text', asText] as const, ['binary', asBinary] as const]) {
      if (part.size === 0) continue;
      await copyFile(join(gitOfBase, 'index'), join(repository.gitDir, 'index'));
      await writeFile(
        join(repository.gitDir, 'info/attributes'),
        `${KEEP_BYTES}* ${kind === 'text' ? '!diff' : '-diff'}\n`,
      );
      await stage(repository, part);
      parts.push(await diffIndex(repository, head, part));
    }
    const patch = parts.join('');
    const files = parsePatch(patch).map(({ path, status, binary }) => ({ path, status, binary }));
    return { patch, files, skipped };
  });
}

async function stage(
  repository: BlobRepository,
  changes: ReadonlyMap<RawPath, FileChange>,
): Promise<void> {
  const present = [...changes].flatMap(([path, { after }]) => (after ? [{ path, after }] : []));
  const hashes = await repository.store(present.map(({ after }) => after.content));
  const entries = new Map<RawPath, { mode: string; hash: string } | undefined>();
  for (const path of changes.keys()) entries.set(path, undefined);
  for (const [at, { path, after }] of present.entries()) {
    entries.set(path, { mode: after.mode, hash: hashes[at] ?? '' });
  }
  await repository.updateIndex(entries);
}

async function diffIndex(
  repository: BlobRepository,
  head: string,
  changes: ReadonlyMap<RawPath, FileChange>,
): Promise<string> {
  // Quoted only where a name would not be UTF-8 otherwise.
  const quote = [...changes.keys()].every(isUtf8Path) ? 'false' : 'true';
  const output = await mustRunGit(
    repository.git([
      ...['-c', `core.quotePath=${quote}`, 'diff-index', '--cached', '--patch', '--binary'],
      ...['--full-index', '--no-ext-diff', '--no-textconv', '--no-renames', '--no-color'],
      ...['--src-prefix=a/', '--dst-prefix=b/', '--unified=3', '--ignore-submodules=all', head],
    ]),
  );
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(output);
}

function isText(content: Buffer): boolean {
  if (content.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(content);
    return true;
  } catch {
    return false;
  }
}
