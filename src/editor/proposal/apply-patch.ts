import { Buffer, isUtf8 } from 'node:buffer';
import { lstat, readFile } from 'node:fs/promises';
import type * as vscode from 'vscode';
import { applyPatchToWorkspace } from '../../core/snapshot/apply.ts';
import { computeApply, touchedPaths } from '../../core/snapshot/apply-compute.ts';
import type { Blob } from '../../core/snapshot/blob-repository.ts';
import { fromRawPath, type RawPath } from '../../core/snapshot/raw-path.ts';

export type EditorApplyOutcome =
  | { readonly kind: 'applied'; readonly files: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Applies a whole patch through the editor, so that undo works. Refuses where a file has unsaved
 * changes or is not the one that the patch was made from: nothing is merged, nothing is lost.
 */
export async function applyThroughEditor(
  vs: typeof vscode,
  folder: vscode.WorkspaceFolder,
  patch: string,
): Promise<EditorApplyOutcome> {
  const touched = touchedPaths(patch);
  if (touched.kind !== 'paths') return refused(touched.reason);
  const uriOf = (path: RawPath): vscode.Uri => vs.Uri.joinPath(folder.uri, fromRawPath(path));
  const unsaved = touched.paths.filter((path) => isUnsaved(vs, uriOf(path))).map(fromRawPath);
  if (unsaved.length > 0) {
    return refused(
      vs.l10n.t(
        '{0} has unsaved changes. Save or revert them, then apply again.',
        unsaved.join(', '),
      ),
    );
  }
  const check = await applyPatchToWorkspace(folder.uri.fsPath, patch, { check: true });
  if (check.kind !== 'applicable') {
    return refused(check.kind === 'applied' ? '' : check.reason);
  }
  const current = new Map<RawPath, Blob>();
  for (const path of touched.paths) {
    const blob = await readBlob(uriOf(path).fsPath);
    if (blob) current.set(path, blob);
  }
  const computed = await computeApply(patch, current, { exact: true, signal: undefined });
  if (computed.kind !== 'computed') return refused(computed.reason);
  const linked = [...computed.changes].find(([, blob]) => blob?.mode === '120000');
  if (linked) {
    return refused(
      vs.l10n.t(
        '{0} becomes a symbolic link, which the editor cannot make. Apply the patch with git apply.',
        fromRawPath(linked[0]),
      ),
    );
  }
  const edit = new vs.WorkspaceEdit();
  for (const [path, blob] of computed.changes) {
    await addChange(vs, edit, uriOf(path), blob, current.has(path));
  }
  if (!(await vs.workspace.applyEdit(edit))) {
    return refused(vs.l10n.t('The editor did not take the change. Your files are as they were.'));
  }
  await saveAll(vs, [...computed.changes.keys()].map(uriOf));
  return { kind: 'applied', files: [...computed.changes.keys()].map(fromRawPath) };
}

async function addChange(
  vs: typeof vscode,
  edit: vscode.WorkspaceEdit,
  uri: vscode.Uri,
  blob: Blob | undefined,
  exists: boolean,
): Promise<void> {
  if (blob === undefined) {
    edit.deleteFile(uri);
  } else if (exists && isUtf8(blob.content)) {
    const document = await vs.workspace.openTextDocument(uri);
    const whole = new vs.Range(0, 0, document.lineCount, 0);
    edit.replace(uri, document.validateRange(whole), Buffer.from(blob.content).toString('utf8'));
  } else {
    edit.createFile(uri, { overwrite: exists, contents: blob.content });
  }
}

/** Undo works for saved files as well, and tests see only what is saved. */
async function saveAll(vs: typeof vscode, uris: readonly vscode.Uri[]): Promise<void> {
  const wanted = new Set(uris.map(String));
  for (const document of vs.workspace.textDocuments) {
    if (document.isDirty && wanted.has(document.uri.toString())) await document.save();
  }
}

function isUnsaved(vs: typeof vscode, uri: vscode.Uri): boolean {
  const key = uri.toString();
  return vs.workspace.textDocuments.some(
    (document) => document.isDirty && document.uri.toString() === key,
  );
}

async function readBlob(path: string): Promise<Blob | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (!stat?.isFile()) return undefined;
  return { mode: stat.mode & 0o100 ? '100755' : '100644', content: await readFile(path) };
}

function refused(reason: string): EditorApplyOutcome {
  return { kind: 'refused', reason };
}
