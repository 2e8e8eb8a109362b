import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type * as vscode from 'vscode';
import type { Blob } from '../../core/snapshot/blob-repository.ts';
import { fromRawPath } from '../../core/snapshot/raw-path.ts';
import { isBehindLink, openDocument, readBlob, readNow, textOf } from './current.ts';
import type { ConflictKind, ReviewedFile, Unit } from './model.ts';
import { computeWhole, sourceUri } from './open-review.ts';
import { applyChanges, editsOf, type LineEdit, type Placed, toLines } from './patch/apply.ts';
import { stateOf, viewFile } from './view.ts';

export interface UnitConflict {
  readonly unit: Unit;
  readonly kind: ConflictKind;
}

export interface TakenFile {
  readonly file: ReviewedFile;
  readonly units: readonly Unit[];
  readonly before: string;
  readonly after: string;
}

export interface UnsavedFile {
  readonly file: ReviewedFile;
  /** `mine`: the user had unsaved changes there before. `refused`: the editor could not save it. */
  readonly reason: 'mine' | 'refused';
}

export type TakeOutcome =
  | {
      readonly kind: 'taken';
      readonly files: readonly TakenFile[];
      /** Taken, but not on the disk yet. */
      readonly unsaved: readonly UnsavedFile[];
    }
  /** Nothing was changed. */
  | { readonly kind: 'conflicts'; readonly conflicts: readonly UnitConflict[] }
  /** Nothing was changed: the editor refused. */
  | { readonly kind: 'refused' };

interface TextStep {
  readonly kind: 'text';
  readonly file: ReviewedFile;
  readonly units: readonly Unit[];
  readonly document: vscode.TextDocument;
}

interface WholeStep {
  readonly kind: 'whole';
  readonly file: ReviewedFile;
  readonly units: readonly Unit[];
  readonly before: string;
  readonly writes: readonly Write[];
}

interface Write {
  readonly uri: vscode.Uri;
  readonly old: Blob | undefined;
  readonly new: Blob | undefined;
}

/**
 * Puts units into the workspace with one edit of the editor, so that undo works; all of them or none.
 * Unsaved changes of the user stay in the editor, and stay unsaved.
 */
export async function takeUnits(vs: typeof vscode, units: readonly Unit[]): Promise<TakeOutcome> {
  const conflicts: UnitConflict[] = [];
  const texts: TextStep[] = [];
  const wholes: WholeStep[] = [];
  for (const [file, own] of byFile(units)) {
    const step = await prepare(vs, file, own);
    if (step.kind === 'conflict') {
      conflicts.push(...own.map((unit) => ({ unit, kind: step.conflict })));
    } else if (step.kind === 'whole') wholes.push(step);
    else texts.push(step);
  }

  // From here to the edit nothing is waited for: what is typed in between cannot be overlooked.
  const edit = new vs.WorkspaceEdit();
  for (const { uri, old, new: blob } of wholes.flatMap(({ writes }) => writes)) {
    if (old) edit.deleteFile(uri);
    if (blob) edit.createFile(uri, { contents: blob.content });
  }
  const edited: (TextStep & { readonly before: string; readonly after: string; clean: boolean })[] =
    [];
  for (const step of texts) {
    const lines = toLines(step.document.getText());
    const placed = place(step, lines, conflicts);
    for (const lineEdit of editsOf(lines, placed)) {
      edit.replace(step.document.uri, rangeOf(vs, lineEdit), lineEdit.text);
    }
    const after = applyChanges(lines, placed).join('\n');
    const clean = !step.document.isDirty;
    edited.push({ ...step, before: lines.join('\n'), after, clean });
  }
  if (conflicts.length > 0) return { kind: 'conflicts', conflicts };

  const done = await vs.workspace.applyEdit(edit).then(
    (applied) => applied,
    () => false,
  );
  if (!done || !(await allWritten(wholes))) {
    await restore(vs, wholes, done ? edited : []);
    return { kind: 'refused' };
  }
  await setModes(wholes);

  const unsaved: UnsavedFile[] = [];
  for (const { document, clean, file } of edited) {
    if (!clean) unsaved.push({ file, reason: 'mine' });
    else if (!(await save(document))) unsaved.push({ file, reason: 'refused' });
  }
  return {
    kind: 'taken',
    files: [
      ...edited.map(({ file, units, before, document }) => ({
        file,
        units,
        before: `text ${before}`,
        // Saving may have formatted it.
        after: `text ${toLines(document.getText()).join('\n')}`,
      })),
      ...(await Promise.all(
        wholes.map(async ({ file, units, before, writes }) => ({
          file,
          units,
          before,
          after: stateOf(await readNow(vs, writes[0]?.uri ?? file.uri)),
        })),
      )),
    ],
    unsaved,
  };
}

function byFile(units: readonly Unit[]): ReadonlyMap<ReviewedFile, readonly Unit[]> {
  const files = new Map<ReviewedFile, Unit[]>();
  for (const unit of units) files.set(unit.file, [...(files.get(unit.file) ?? []), unit]);
  return files;
}

type Step = TextStep | WholeStep | { readonly kind: 'conflict'; readonly conflict: ConflictKind };

async function prepare(
  vs: typeof vscode,
  file: ReviewedFile,
  units: readonly Unit[],
): Promise<Step> {
  const source = sourceUri(vs, file.review.input.folder, file.part);
  const { folder } = file.review.input;
  for (const uri of [source, file.uri]) {
    if (await isBehindLink(folder.uri, uri)) return { kind: 'conflict', conflict: 'link' };
  }
  const now = await readNow(vs, source);
  const view = viewFile(file, now);
  const conflict = units.map((unit) => view.conflicts.get(unit)).find((kind) => kind !== undefined);
  if (file.content.kind === 'whole') {
    if (conflict !== undefined) return { kind: 'conflict', conflict };
    const { current, computed } = await computeWhole(vs, folder, file.part);
    if (computed.kind !== 'computed') return { kind: 'conflict', conflict: 'file-changed' };
    const writes = [...computed.changes].map(
      ([path, blob]): Write => ({
        uri: vs.Uri.joinPath(folder.uri, fromRawPath(path)),
        old: current.get(path),
        new: blob,
      }),
    );
    if (writes.some((write) => write.new?.mode === '120000')) {
      return { kind: 'conflict', conflict: 'link' };
    }
    return { kind: 'whole', file, units, before: stateOf(now), writes };
  }
  if (now.kind !== 'file') return { kind: 'conflict', conflict: conflict ?? 'gone' };
  if (!now.writable) return { kind: 'conflict', conflict: 'read-only' };
  try {
    const document = await vs.workspace.openTextDocument(source);
    if (!(await isCurrent(vs, source, document))) return { kind: 'conflict', conflict: 'stale' };
    return { kind: 'text', file, units, document };
  } catch {
    return { kind: 'conflict', conflict: 'unreadable' };
  }
}

const CATCH_UP_MS = 3_000;

/** The editor reads a file again a moment after somebody else has written it. */
async function isCurrent(
  vs: typeof vscode,
  uri: vscode.Uri,
  document: vscode.TextDocument,
): Promise<boolean> {
  const end = Date.now() + CATCH_UP_MS;
  for (;;) {
    if (document.isDirty) return true;
    const blob = await readBlob(uri);
    const text = blob && textOf(blob.content);
    const shown = openDocument(vs, uri) ?? document;
    if (text !== undefined && sameLines(text, shown.getText())) return true;
    if (Date.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function sameLines(a: string, b: string): boolean {
  return a === b || toLines(a).join('\n') === toLines(b).join('\n');
}

/** Where units go in the text as it is at this moment; what does not fit is added to `conflicts`. */
function place(
  { file, units, document }: TextStep,
  lines: readonly string[],
  conflicts: UnitConflict[],
): readonly Placed[] {
  const now = file.view.now;
  const view = viewFile(file, {
    ...(now.kind === 'file' ? now : { hash: '', mode: '100644' as const }),
    kind: 'file',
    text: lines.join('\n'),
    unsaved: document.isDirty,
    writable: true,
  });
  return units.flatMap((unit) => {
    const found = view.places.get(unit);
    if (found?.kind === 'found' && unit.change) return [{ change: unit.change, at: found.at }];
    conflicts.push({ unit, kind: view.conflicts.get(unit) ?? 'changed' });
    return [];
  });
}

/** The editor also says no when it is saving already, as it does by itself in a browser. */
async function save(document: vscode.TextDocument): Promise<boolean> {
  if (await document.save()) return true;
  const end = Date.now() + CATCH_UP_MS;
  while (document.isDirty && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return !document.isDirty;
}

function rangeOf(vs: typeof vscode, { from, to }: LineEdit): vscode.Range {
  return new vs.Range(from.line, from.character, to.line, to.character);
}

async function allWritten(wholes: readonly WholeStep[]): Promise<boolean> {
  for (const { uri, new: blob } of wholes.flatMap(({ writes }) => writes)) {
    const found = await readBlob(uri);
    if (blob ? !found?.content.equals(blob.content) : found !== undefined) return false;
  }
  return true;
}

/** Files that the editor makes have plain modes. */
async function setModes(wholes: readonly WholeStep[]): Promise<void> {
  for (const { uri, new: blob } of wholes.flatMap(({ writes }) => writes)) {
    if (blob?.mode === '100755') await chmod(uri.fsPath, 0o755).catch(() => undefined);
  }
}

/** After an edit that went in only in part: everything as it was before it. */
async function restore(
  vs: typeof vscode,
  wholes: readonly WholeStep[],
  edited: readonly {
    readonly document: vscode.TextDocument;
    readonly before: string;
    readonly after: string;
  }[],
): Promise<void> {
  for (const { uri, old, new: blob } of wholes.flatMap(({ writes }) => writes)) {
    const found = await readBlob(uri);
    if (!old) {
      // Somebody else may have made a file of that name: then it stays.
      if (found && blob?.content.equals(found.content)) await rm(uri.fsPath);
    } else if (!found?.content.equals(old.content)) {
      await mkdir(dirname(uri.fsPath), { recursive: true });
      await writeFile(uri.fsPath, old.content);
      if (old.mode === '100755') await chmod(uri.fsPath, 0o755);
    }
  }
  const back = new vs.WorkspaceEdit();
  const untouched = edited.filter(
    ({ document, after }) => toLines(document.getText()).join('\n') === after,
  );
  for (const { document, before } of untouched) {
    const whole = document.validateRange(new vs.Range(0, 0, document.lineCount, 0));
    back.replace(document.uri, whole, before);
  }
  if (untouched.length > 0) await vs.workspace.applyEdit(back);
}
