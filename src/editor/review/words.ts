import type * as vscode from 'vscode';
import {
  type ConflictKind,
  openUnits,
  type Review,
  type ReviewedFile,
  type Unit,
} from './model.ts';
import type { WholeReason } from './patch/changes.ts';

/** A conflict in a few words, for a tree. */
export function conflictLabel({ l10n }: typeof vscode, kind: ConflictKind): string {
  switch (kind) {
    case 'changed':
      return l10n.t('conflict: these lines have changed');
    case 'file-changed':
      return l10n.t('conflict: the file has changed');
    case 'unsaved':
      return l10n.t('conflict: unsaved changes here');
    case 'ambiguous':
      return l10n.t('conflict: could go to several places');
    case 'present':
      return l10n.t('is there already');
    case 'gone':
      return l10n.t('conflict: the file is gone');
    case 'exists':
      return l10n.t('conflict: the file exists');
    case 'other':
      return l10n.t('conflict: not an ordinary file');
    case 'not-text':
      return l10n.t('conflict: not a text any more');
    case 'link':
      return l10n.t('conflict: a symbolic link');
    case 'read-only':
      return l10n.t('conflict: read-only');
    case 'stale':
      return l10n.t('conflict: changed on disk');
    case 'unreadable':
      return l10n.t('conflict: cannot be opened');
  }
}

/** What the conflict is and what to do about it. */
export function conflictText({ l10n }: typeof vscode, path: string, kind: ConflictKind): string {
  switch (kind) {
    case 'changed':
    case 'file-changed':
      return l10n.t(
        '{0} has changed since the fix was made, so this change does not fit any more. Make it by hand, or discard it.',
        path,
      );
    case 'unsaved':
      return l10n.t(
        'Your unsaved changes in {0} touch what this change is about. Save or revert them and make the change by hand, or discard it.',
        path,
      );
    case 'ambiguous':
      return l10n.t(
        'In {0}, this change could go to several places that look alike. Make it by hand, or discard it.',
        path,
      );
    case 'present':
      return l10n.t('What this change does is in {0} already. Discard it.', path);
    case 'gone':
      return l10n.t(
        '{0} does not exist any more. Restore it and accept again, or discard the change.',
        path,
      );
    case 'exists':
      return l10n.t(
        '{0} exists already. Move it away and accept again, or discard the change.',
        path,
      );
    case 'other':
      return l10n.t(
        '{0} is a folder, a symbolic link or cannot be read. Make it an ordinary file and accept again, or discard the change.',
        path,
      );
    case 'not-text':
      return l10n.t(
        '{0} is not a text any more. Restore it and accept again, or discard the change.',
        path,
      );
    case 'link':
      return l10n.t(
        '{0} is a symbolic link or behind one, which the editor cannot change. Apply the patch with git apply, or discard the change.',
        path,
      );
    case 'read-only':
      return l10n.t(
        '{0} is read-only. Make it writable and accept again, or discard the change.',
        path,
      );
    case 'stale':
      return l10n.t(
        '{0} differs on disk from what the editor shows. Revert or save it there and accept again.',
        path,
      );
    case 'unreadable':
      return l10n.t(
        'The editor cannot open {0} as text. Apply the patch with git apply, or discard the change.',
        path,
      );
  }
}

/** What happens to a file that goes as a whole. */
export function wholeLabel({ l10n }: typeof vscode, reason: WholeReason): string {
  switch (reason) {
    case 'added':
      return l10n.t('new file');
    case 'deleted':
      return l10n.t('deleted');
    case 'renamed':
      return l10n.t('renamed');
    case 'binary':
      return l10n.t('binary file');
    case 'mode':
      return l10n.t('permissions');
    case 'link':
      return l10n.t('symbolic link');
    case 'line-endings':
      return l10n.t('line endings');
    case 'encoding':
      return l10n.t('encoding');
    case 'unreadable':
      return l10n.t('whole file');
  }
}

export function changesText({ l10n }: typeof vscode, count: number): string {
  return count === 1 ? l10n.t('1 change') : l10n.t('{0} changes', count);
}

export function filesText({ l10n }: typeof vscode, count: number): string {
  return count === 1 ? l10n.t('1 file') : l10n.t('{0} files', count);
}

/** How a file or a review was decided; undefined while something is open. */
export function decisionText({ l10n }: typeof vscode, units: readonly Unit[]): string | undefined {
  if (openUnits(units).length > 0) return undefined;
  const accepted = units.filter(({ decision }) => decision === 'accepted').length;
  if (accepted === units.length) return l10n.t('accepted');
  if (accepted === 0) return l10n.t('discarded');
  return l10n.t('{0} of {1} accepted', accepted, units.length);
}

/** What a person should know about a file before taking it. */
export function fileNotes(vs: typeof vscode, { file, content }: ReviewedFile): readonly string[] {
  return [
    ...(content.kind === 'whole' ? [wholeLabel(vs, content.reason)] : []),
    ...(file.steersTests ? [vs.l10n.t('changes tests')] : []),
    ...(file.runsLater ? [vs.l10n.t('runs by itself later')] : []),
  ];
}

export function outcomeText({ l10n }: typeof vscode, { input }: Review): string {
  return input.outcome === 'solved'
    ? l10n.t('solved')
    : l10n.t('solved only with changes to tests');
}

export function changeLabel({ l10n }: typeof vscode, unit: Unit): string {
  const { change } = unit;
  if (!change) return unit.file.file.path;
  const added = change.added.find((line) => line.trim() !== '')?.trim();
  if (added !== undefined) return added;
  const removed = change.removed.find((line) => line.trim() !== '')?.trim();
  return removed === undefined ? l10n.t('empty lines') : l10n.t('removes: {0}', removed);
}

/** 1-based line where the change is now, or was. */
export function lineOf(unit: Unit): number {
  const place = unit.file.view.places.get(unit);
  if (place?.kind === 'found') return place.at + 1;
  return (unit.change?.at ?? 0) + (unit.change?.before.length ?? 0) + 1;
}
