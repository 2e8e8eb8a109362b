import type * as vscode from 'vscode';
import { computeApply } from '../../core/snapshot/apply-compute.ts';
import type { Blob } from '../../core/snapshot/blob-repository.ts';
import { type PatchPart, parsePatch } from '../../core/snapshot/patch-format.ts';
import { fromRawPath, type RawPath } from '../../core/snapshot/raw-path.ts';
import type { FixReviewInput } from '../ports.ts';
import { gitHash, hasMixedEndings, readBlob, readNow, textOf } from './current.ts';
import type { Preview, Review, ReviewedFile, Unit } from './model.ts';
import { toLines } from './patch/apply.ts';
import { type FileContent, readContent } from './patch/changes.ts';
import { viewFile } from './view.ts';

/** Reads a patch (`touchedPaths` must have found it sound) and its files. Nothing is changed. */
export async function openReview(
  vs: typeof vscode,
  input: FixReviewInput,
  title: string,
): Promise<Review> {
  const files: ReviewedFile[] = [];
  const review: Review = {
    id: input.id,
    input,
    title,
    files,
    confirmed: false,
    rerun: undefined,
  };
  for (const part of parsePatch(input.patch)) {
    files.push(await readFile(vs, review, part));
  }
  return review;
}

async function readFile(vs: typeof vscode, review: Review, part: PatchPart): Promise<ReviewedFile> {
  const { folder, files } = review.input;
  const uri = vs.Uri.joinPath(folder.uri, part.path);
  const source = sourceUri(vs, folder, part);
  const blob = await readBlob(source);
  const isBase = blob !== undefined && gitHash(blob.content) === part.oldBlob;
  const text = blob && textOf(blob.content);
  const read = readContent(part);
  const content: FileContent =
    read.kind === 'text' && text !== undefined && hasMixedEndings(text)
      ? { kind: 'whole', reason: 'line-endings' }
      : read;
  const units: Unit[] = [];
  const now = await readNow(vs, source);
  const file: ReviewedFile = {
    review,
    file: files.find(({ path }) => path === part.path) ?? {
      path: part.path,
      status: part.status,
      binary: part.binary,
      steersTests: false,
      runsLater: false,
    },
    part,
    content,
    uri,
    units,
    base: content.kind === 'text' && isBase && text !== undefined ? toLines(text) : undefined,
    preview: content.kind === 'whole' ? await previewOf(vs, folder, part, blob) : undefined,
    taken: [],
    undone: [],
    view: { now, places: new Map(), conflicts: new Map(), proposed: undefined },
  };
  const changes = content.kind === 'text' ? content.changes : [undefined];
  for (const [index, change] of changes.entries()) {
    units.push({ file, index, change, decision: 'open', edited: false });
  }
  file.view = viewFile(file, now);
  return file;
}

/** Where the file is that the patch was made from. */
export function sourceUri(
  vs: typeof vscode,
  folder: vscode.WorkspaceFolder,
  part: PatchPart,
): vscode.Uri {
  return vs.Uri.joinPath(folder.uri, fromRawPath(part.touches[0] ?? part.path));
}

/** What git makes of a part of the patch that goes as a whole, and nothing else. */
export async function computeWhole(
  vs: typeof vscode,
  folder: vscode.WorkspaceFolder,
  part: PatchPart,
) {
  const current = new Map<RawPath, Blob>();
  for (const path of part.touches) {
    const blob = await readBlob(vs.Uri.joinPath(folder.uri, fromRawPath(path)));
    if (blob) current.set(path, blob);
  }
  return {
    current,
    computed: await computeApply(part.patch, current, { exact: true, signal: undefined }),
  };
}

async function previewOf(
  vs: typeof vscode,
  folder: vscode.WorkspaceFolder,
  part: PatchPart,
  before: Blob | undefined,
): Promise<Preview> {
  const { computed } = await computeWhole(vs, folder, part);
  const show = (blob: Blob | undefined): string => {
    if (blob === undefined) return '';
    return (
      textOf(blob.content) ??
      vs.l10n.t('A binary file of {0} bytes. Its text cannot be shown.', blob.content.length)
    );
  };
  if (computed.kind !== 'computed') return { before: show(before), after: show(before) };
  const results = [...computed.changes.values()];
  const after = results.find((blob) => blob !== undefined);
  return { before: show(before), after: show(after) };
}
