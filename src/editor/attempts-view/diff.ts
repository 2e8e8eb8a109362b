import { lstat, readFile } from 'node:fs/promises';
import type * as vscode from 'vscode';
import { computeApply, touchedPaths } from '../../core/snapshot/apply-compute.ts';
import type { Blob } from '../../core/snapshot/blob-repository.ts';
import { fromRawPath, type RawPath } from '../../core/snapshot/raw-path.ts';

/** A file before and after a patch; undefined: it is not there, or no text. */
export interface PatchedFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * What a patch makes of the folder as it is now. undefined: files are no longer those that it was made
 * from, so only the patch itself can be shown.
 */
export async function patchedFiles(
  folder: vscode.Uri,
  patch: string,
): Promise<readonly PatchedFile[] | undefined> {
  const touched = touchedPaths(patch);
  if (touched.kind !== 'paths') return undefined;
  const current = new Map<RawPath, Blob>();
  for (const path of touched.paths) {
    const blob = await readBlob(`${folder.fsPath}/${fromRawPath(path)}`);
    if (blob) current.set(path, blob);
  }
  const computed = await computeApply(patch, current, { exact: true, signal: undefined });
  if (computed.kind !== 'computed') return undefined;
  return [...computed.changes].map(([path, blob]) => ({
    path: fromRawPath(path),
    before: textOf(current.get(path)),
    after: textOf(blob),
  }));
}

function textOf(blob: Blob | undefined): string | undefined {
  return blob && Buffer.from(blob.content).toString('utf8');
}

async function readBlob(path: string): Promise<Blob | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (!stat?.isFile()) return undefined;
  return { mode: stat.mode & 0o100 ? '100755' : '100644', content: await readFile(path) };
}
