import { formatBytes } from '../platform/format-bytes.ts';
import type { SandboxSession, SnapshotBase } from '../sandbox/sandbox.ts';
import { type ApplyOutcome, computeApply, touchedPaths } from './apply-compute.ts';
import type { Blob } from './blob-repository.ts';
import { findChanges } from './changes.ts';
import { diffAgainstBase } from './diff.ts';
import { SnapshotError } from './errors.ts';
import type { SkippedPath } from './listing.ts';
import { type PatchFile, type PatchPart, parsePatch } from './patch-format.ts';
import { fromRawPath, parentPaths, type RawPath } from './raw-path.ts';
import { readSessionFiles, writeSessionFiles } from './session-files.ts';
import type { TarEntry } from './tar.ts';

export interface ExtractOptions {
  readonly signal?: AbortSignal;
  /** A longer patch, or one of files much larger than that, is `too-large`. Default 16 MB. */
  readonly maxPatchBytes?: number;
}

export type ExtractedPatch =
  | {
      readonly kind: 'patch';
      /**
       * A git patch with full hashes, `a/` and `b/`; `''` when nothing changed. Text whose UTF-8 is
       * the patch byte for byte: files that are not UTF-8 are in it as git's binary patches.
       */
      readonly patch: string;
      readonly files: readonly PatchFile[];
      /** New files and folders that the base's ignore rules name; not in the patch. At most 1000. */
      readonly ignored: readonly string[];
      /** What no patch can hold, with reasons; counted as unchanged. */
      readonly skipped: readonly SkippedPath[];
    }
  | { readonly kind: 'too-large'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

const MOST_PATCH_BYTES = 16e6;

/**
 * The difference between the session's workspace and its base. The agent's processes are ended
 * first. Nothing inside the sandbox is asked but the names, kinds and bytes of files: its `.git`,
 * attributes, configuration and index do not matter, and the patch is made on the host.
 *
 * `SandboxFailure` and the signal's reason pass through.
 */
export async function extractPatch(
  session: SandboxSession,
  base: SnapshotBase,
  options: ExtractOptions = {},
): Promise<ExtractedPatch> {
  const { signal, maxPatchBytes = MOST_PATCH_BYTES } = options;
  try {
    await session.restartShell();
    const found = await findChanges(session, base, { maxBytes: 4 * maxPatchBytes, signal });
    const { patch, files, skipped } = await diffAgainstBase(base, found.changes, signal);
    const bytes = Buffer.byteLength(patch);
    if (bytes > maxPatchBytes) {
      return {
        kind: 'too-large',
        reason: `The patch has ${formatBytes(bytes)}, more than the ${formatBytes(maxPatchBytes)} that a patch may have.`,
      };
    }
    return {
      kind: 'patch',
      patch,
      files,
      ignored: found.ignored.map(fromRawPath),
      skipped: [...found.skipped, ...skipped],
    };
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    return {
      kind: error.code === 'too-large' ? 'too-large' : 'failed',
      reason: `${error.message} ${error.remedy}`,
    };
  }
}

/**
 * Applies a patch to the files of a session, all or nothing: what does not fit is found out before
 * anything is written. Hunks may have moved, as `git apply` has it; several patches can be applied
 * one after the other. After `failed` the session should be given up.
 */
export async function applyPatch(
  session: SandboxSession,
  patch: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<ApplyOutcome> {
  const { signal } = options;
  if (patch === '') return { kind: 'applied', files: [] };
  const touched = touchedPaths(patch);
  if (touched.kind !== 'paths') return touched;
  try {
    const parents = new Set(touched.paths.flatMap((path) => [...parentPaths(path)]));
    const found = await readSessionFiles(session, [...parents, ...touched.paths], signal);
    for (const path of touched.paths) {
      const link = [...parentPaths(path)].find((parent) => found.get(parent)?.kind === 'link');
      if (link !== undefined) return behindLink(path, link);
    }
    const current = new Map<RawPath, Blob>();
    for (const path of touched.paths) {
      const entry = found.get(path);
      if (entry?.kind === 'file') {
        current.set(path, {
          mode: entry.mode & 0o100 ? '100755' : '100644',
          content: entry.content,
        });
      } else if (entry?.kind === 'link') {
        current.set(path, { mode: '120000', content: entry.content });
      }
    }
    const computed = await computeApply(patch, current, { exact: false, signal });
    if (computed.kind !== 'computed') return computed;
    const removed: RawPath[] = [];
    const written: TarEntry[] = [];
    for (const [path, blob] of computed.changes) {
      if (!blob) removed.push(path);
      else {
        written.push({
          path,
          kind: blob.mode === '120000' ? 'link' : 'file',
          mode: blob.mode === '100755' ? 0o755 : 0o644,
          content: blob.content,
        });
      }
    }
    const failed = await writeSessionFiles(session, removed, written, signal);
    if (failed !== undefined) {
      return {
        kind: 'failed',
        reason: `The patch could not be written into the sandbox: ${failed}`,
      };
    }
    return { kind: 'applied', files: [...computed.changes.keys()].map(fromRawPath) };
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    return { kind: 'failed', reason: `${error.message} ${error.remedy}` };
  }
}

/** The files of a git patch, each with its own patch; joined they are the whole again. */
export function splitPatch(patch: string): readonly PatchPart[] {
  return parsePatch(patch);
}

export function behindLink(path: RawPath, link: RawPath): ApplyOutcome {
  const reason = `${fromRawPath(link)} is a symbolic link`;
  return {
    kind: 'conflict',
    reason: `The patch does not fit: ${fromRawPath(path)}: ${reason}.`,
    conflicts: [{ path: fromRawPath(path), reason }],
  };
}
