import { Buffer } from 'node:buffer';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Blob, type BlobRepository, withBlobRepository } from './blob-repository.ts';
import { gitFailed, mustRunGit, runGit } from './git.ts';
import { endsWhereItSays } from './patch-end.ts';
import { parsePatch } from './patch-format.ts';
import { fromRawPath, isPlainPath, type RawPath, splitNul } from './raw-path.ts';

export interface Conflict {
  readonly path: string;
  readonly reason: string;
}

/** Nothing was changed unless `applied` (or `failed` in a sandbox). `reason` is for people. */
export type ApplyOutcome =
  | { readonly kind: 'applied'; readonly files: readonly string[] }
  | ApplyRefusal
  | { readonly kind: 'failed'; readonly reason: string };

export type ApplyRefusal =
  | { readonly kind: 'conflict'; readonly reason: string; readonly conflicts: readonly Conflict[] }
  | { readonly kind: 'malformed'; readonly reason: string };

export type ComputedApply =
  | {
      readonly kind: 'computed';
      /** What differs afterwards; undefined: removed. */
      readonly changes: ReadonlyMap<RawPath, Blob | undefined>;
    }
  | ApplyRefusal;

/** Which files a patch reads or writes. */
export function touchedPaths(
  patch: string,
): { readonly kind: 'paths'; readonly paths: readonly RawPath[] } | ApplyRefusal {
  const parts = parsePatch(patch);
  if (parts.length === 0) {
    return {
      kind: 'malformed',
      reason: 'This is not a git patch: no line begins with "diff --git".',
    };
  }
  const paths = new Set(parts.flatMap((part) => part.touches));
  for (const path of paths) {
    if (!isPlainPath(path)) {
      return {
        kind: 'malformed',
        reason: `The patch names ${JSON.stringify(fromRawPath(path))}, which is not a path inside the workspace.`,
      };
    }
  }
  return { kind: 'paths', paths: [...paths] };
}

/**
 * What `git apply` makes of the given files, in a throw-away repository: neither the user's
 * repository nor their settings take part.
 *
 * @param current the touched files as they are; absent: there is no such file
 * @param exact refuse files that differ from what the patch was made from, even where hunks would fit
 */
export async function computeApply(
  patch: string,
  current: ReadonlyMap<RawPath, Blob>,
  options: { readonly exact: boolean; readonly signal: AbortSignal | undefined },
): Promise<ComputedApply> {
  return withBlobRepository(undefined, options.signal, async (repository) => {
    const paths = [...current.keys()];
    const hashes = await repository.store([...current.values()].map((blob) => blob.content));
    const before = new Map<RawPath, { mode: string; hash: string }>();
    for (const [at, path] of paths.entries()) {
      before.set(path, { mode: current.get(path)?.mode ?? '100644', hash: hashes[at] ?? '' });
    }
    await repository.updateIndex(before);
    if (options.exact) {
      const conflicts = changedMeanwhile(patch, before);
      if (conflicts.length > 0) return refusal(conflicts);
    }
    const file = join(repository.folder, 'patch');
    await writeFile(file, patch);
    const request = repository.git(['apply', '--cached', '--binary', '--whitespace=nowarn', file]);
    const result = await runGit(request);
    if (result.code !== 0)
      return explain(result.stderr) ?? Promise.reject(gitFailed(request, result));
    const changes = await readChanges(repository, before);
    const misplaced = misplacedEnds(patch, changes);
    return misplaced.length > 0 ? refusal(misplaced) : { kind: 'computed', changes };
  });
}

function changedMeanwhile(
  patch: string,
  before: ReadonlyMap<RawPath, { readonly hash: string }>,
): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const part of parsePatch(patch)) {
    if (part.oldBlob === undefined) continue;
    const hash = before.get(part.touches[0] ?? '')?.hash;
    const expected = /^0+$/.test(part.oldBlob) ? undefined : part.oldBlob;
    if (hash === expected) continue;
    const reason =
      hash === undefined
        ? 'is missing now'
        : expected === undefined
          ? 'exists now'
          : 'has changed since the snapshot';
    conflicts.push({ path: fromRawPath(part.touches[0] ?? ''), reason });
  }
  return conflicts;
}

function misplacedEnds(
  patch: string,
  changes: ReadonlyMap<RawPath, Blob | undefined>,
): readonly Conflict[] {
  return parsePatch(patch).flatMap((part) => {
    const path = part.touches.at(-1) ?? '';
    const blob = changes.get(path);
    if (blob === undefined || endsWhereItSays(part.patch, blob.content)) return [];
    return [{ path: fromRawPath(path), reason: 'does not end as the patch says' }];
  });
}

async function readChanges(
  repository: BlobRepository,
  before: ReadonlyMap<RawPath, { readonly mode: string; readonly hash: string }>,
): Promise<Map<RawPath, Blob | undefined>> {
  const staged = await mustRunGit(repository.git(['ls-files', '--stage', '-z']));
  const changed = new Map<RawPath, { mode: Blob['mode']; hash: string }>();
  const gone = new Set(before.keys());
  for (const line of splitNul(staged)) {
    const [, mode = '', hash = '', path = ''] = /^(\d+) (\w+) \d\t(.*)$/s.exec(line) ?? [];
    gone.delete(path);
    const known = before.get(path);
    if (known?.hash === hash && known.mode === mode) continue;
    changed.set(path, {
      mode: mode === '100755' || mode === '120000' ? mode : '100644',
      hash,
    });
  }
  const blobs = await repository.readBlobs([...changed.values()].map(({ hash }) => hash));
  const changes = new Map<RawPath, Blob | undefined>();
  for (const path of gone) changes.set(path, undefined);
  for (const [path, { mode, hash }] of changed) {
    changes.set(path, { mode, content: Buffer.from(blobs.get(hash) ?? '') });
  }
  return changes;
}

/** Reads git's complaints. undefined: not about the patch. */
function explain(stderr: string): ApplyRefusal | undefined {
  const malformed =
    /^error: (corrupt patch.*|corrupt binary patch.*|unrecognized (?:input|binary patch).*|No valid patches in input.*|patch fragment without header.*|git diff header.*|patch with only garbage.*|invalid path.*|unrecognized binary.*|cannot apply binary patch.*|.*lacks filename information.*|inconsistent.*|unable to find filename.*)$/m.exec(
      stderr,
    )?.[1];
  if (malformed !== undefined) {
    return { kind: 'malformed', reason: `The patch is damaged: ${malformed}.` };
  }
  const conflicts = new Map<string, string>();
  for (const line of stderr.split('\n')) {
    const text = /^error: (.*)$/.exec(line)?.[1];
    if (text === undefined) continue;
    const place = /^patch failed: (.*):(\d+)$/.exec(text);
    if (place) {
      conflicts.set(place[1] ?? '', `does not match at line ${place[2]}`);
      continue;
    }
    const [, path = '', what = ''] =
      /^(?:affected file |')?(.*?)'?:? (already exists in .*|does not exist in .*|patch does not apply|does not match .*|is beyond a symbolic link|wrong type|.*reverted.*)$/.exec(
        text,
      ) ?? [];
    if (path !== '' && !conflicts.has(path))
      conflicts.set(path, WORDS[what.split(' ')[0] ?? ''] ?? what);
  }
  if (conflicts.size === 0) return undefined;
  return refusal([...conflicts].map(([path, reason]) => ({ path, reason })));
}

const WORDS: Readonly<Record<string, string>> = {
  already: 'exists already',
  does: 'is missing or differs',
  patch: 'does not match',
};

function refusal(conflicts: readonly Conflict[]): ApplyRefusal {
  const listed = conflicts.map(({ path, reason }) => `${path} ${reason}`).join('; ');
  return { kind: 'conflict', reason: `The patch does not fit: ${listed}.`, conflicts };
}
