import { SandboxFileError, WORKSPACE } from '../../sandbox/sandbox.ts';
import { fileErrorText, leadsOutsideText, normalizePath, tooLargeText } from '../paths.ts';
import type { Edited, InsertOutcome, ReplaceOutcome } from './edit.ts';
import type { NearMiss } from './nearest.ts';
import {
  type FolderEntry,
  IGNORED_NOTE,
  type Rendered,
  renderCreated,
  renderDangling,
  renderEdited,
  renderExists,
  renderFolder,
  renderIsFolder,
  renderMissing,
  renderNotAFile,
  renderNotEdited,
  renderParentIsFile,
  renderTextTooLarge,
  renderUndo,
  renderView,
  type ViewLimits,
} from './render.ts';

/** Each template once, on fixed inputs, for the scaffold hash. */
export function observationSamples(): Readonly<Record<string, string>> {
  const path = `${WORKSPACE}/src/a.js`;
  const text = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
  const tight: ViewLimits = { viewChars: 24, snippetChars: 40, lineChars: 4 };
  const notEdited = (outcome: Exclude<ReplaceOutcome | InsertOutcome, Edited>): string =>
    renderNotEdited(path, outcome).text;
  const notFound = (near: NearMiss): string =>
    renderNotEdited(path, { kind: 'not-found' }, near, text).text;
  const folder: FolderEntry[] = [
    { path: 'node_modules', kind: 'directory' },
    { path: 'src', kind: 'directory' },
    { path: 'src/a.js', kind: 'file' },
    { path: 'link', kind: 'symlink' },
  ];
  const samples: Record<string, Rendered | string> = {
    view: renderView(path, text, undefined),
    viewRange: renderView(path, text, [2, 20]),
    viewCut: renderView(path, text, undefined, tight),
    viewEmpty: renderView(path, '', undefined),
    rangeFromZero: renderView(path, text, [0, 2]),
    rangeBackwards: renderView(path, text, [3, 2]),
    rangeBeyond: renderView(path, text, [9, -1]),
    folder: renderFolder(WORKSPACE, folder, false),
    folderCut: renderFolder(WORKSPACE, folder, true),
    folderEmpty: renderFolder(WORKSPACE, [], false),
    edited: renderEdited(path, text, { firstLine: 6, lastLine: 6 }),
    editedCut: renderEdited(path, text, { firstLine: 1, lastLine: 7 }, tight),
    editedEmpty: renderEdited(path, '', { firstLine: 1, lastLine: 1 }),
    created: renderCreated(path, text),
    binary: notEdited({ kind: 'binary' }),
    notInEncoding: notEdited({ kind: 'not-in-encoding', encoding: 'latin1' }),
    loneSurrogate: notEdited({ kind: 'lone-surrogate' }),
    emptyOld: notEdited({ kind: 'empty-old' }),
    identical: notEdited({ kind: 'identical' }),
    onlyLineEnds: notEdited({ kind: 'only-line-ends' }),
    several: notEdited({ kind: 'several', lines: [2, 5], more: false, overlapping: false }),
    overlapping: notEdited({ kind: 'several', lines: [2, 2], more: true, overlapping: true }),
    emptyText: notEdited({ kind: 'empty-text' }),
    outOfRange: notEdited({ kind: 'out-of-range', lineCount: 7 }),
    notFound: notFound({ kind: 'nothing' }),
    whiteSpace: notFound({ kind: 'white-space', first: 2, last: 3 }),
    similar: notFound({ kind: 'similar', first: 2, last: 2 }),
    lineNumbers: notFound({ kind: 'line-numbers' }),
    escaped: notFound({ kind: 'escaped' }),
    already: notFound({ kind: 'already', line: 4 }),
    undone: renderUndo(path, { kind: 'restored', left: 0 }),
    undoneWithMore: renderUndo(path, { kind: 'restored', left: 2 }),
    undoneCreation: renderUndo(path, { kind: 'removed', folders: 0 }),
    undoneCreationAndFolder: renderUndo(path, { kind: 'removed', folders: 1 }),
    nothingToUndo: renderUndo(path, { kind: 'nothing-to-undo' }),
    changedSince: renderUndo(path, { kind: 'changed-since' }),
    missing: renderMissing(path, []),
    missingWithNames: renderMissing(path, [`${WORKSPACE}/src/b.js`]),
    exists: renderExists(path),
    isFolder: renderIsFolder(path, 'insert'),
    folderWithRange: renderIsFolder(path, 'view_range'),
    dangling: renderDangling(path),
    parentIsFile: renderParentIsFile(path, `${WORKSPACE}/src`),
    textTooLarge: renderTextTooLarge(1_000),
    notAFile: renderNotAFile(path),
    ignoredNote: IGNORED_NOTE,
    tooLarge: tooLargeText(path, 9_000_000, 8_000_000),
    permission: fileErrorText(new SandboxFileError('permission', ''), path),
    leadsOutside: leadsOutsideText(path),
    pathEmpty: refusal(''),
    pathWithNul: refusal('/workspace/a\0'),
    pathRelative: refusal('src/a.js'),
    pathOutside: refusal('/workspace/../etc'),
  };
  return Object.fromEntries(
    Object.entries(samples).map(([name, sample]) => [
      name,
      typeof sample === 'string' ? sample : sample.text,
    ]),
  );
}

function refusal(path: string): string {
  const checked = normalizePath(path);
  return checked.kind === 'refused' ? checked.text : '';
}
