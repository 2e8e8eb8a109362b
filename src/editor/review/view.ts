import type { ConflictKind, FileView, Now, ReviewedFile, Unit } from './model.ts';
import { applyChanges, referenceOf, toLines } from './patch/apply.ts';
import type { Change } from './patch/changes.ts';
import { type Place, placeChanges, type Reference } from './patch/place.ts';

type ViewedFile = Pick<ReviewedFile, 'content' | 'base' | 'units' | 'part' | 'preview'>;

/**
 * How the units of a file stand to the file as it is now. Nothing is changed here, and nothing read.
 *
 * @param now of the path that the patch changes; of a renamed file the old one
 */
export function viewFile(file: ViewedFile, now: Now): FileView {
  return file.content.kind === 'text' ? viewText(file, now) : viewWhole(file, now);
}

function viewText(file: ViewedFile, now: Now): FileView {
  const waiting = file.units.filter(({ decision }) => decision !== 'accepted');
  const conflicts = new Map<Unit, ConflictKind>();
  const places = new Map<Unit, Place>();
  const problem = problemOf(now);
  if (problem !== undefined || now.kind !== 'file' || now.text === undefined) {
    for (const unit of waiting) conflicts.set(unit, problem ?? 'not-text');
    return { now, conflicts, places, proposed: now.kind === 'file' ? now.text : undefined };
  }
  const lines = toLines(now.text);
  const isBase = !now.unsaved && now.hash === file.part.oldBlob;
  const known = file.base ?? (isBase ? lines : undefined);
  const found = placeChanges(changesOf(waiting), lines, known && reference(file, known));
  for (const [index, unit] of waiting.entries()) {
    const place = found[index];
    if (place === undefined) continue;
    places.set(unit, place);
    if (place.kind === 'found') continue;
    if (place.kind === 'present') conflicts.set(unit, 'present');
    else conflicts.set(unit, place.reason === 'changed' && now.unsaved ? 'unsaved' : place.reason);
  }
  const placed = waiting.flatMap((unit) => {
    const place = places.get(unit);
    if (unit.decision !== 'open' || place?.kind !== 'found' || !unit.change) return [];
    return [{ change: unit.change, at: place.at }];
  });
  return { now, conflicts, places, proposed: applyChanges(lines, placed).join('\n') };
}

function reference(file: ViewedFile, base: readonly string[]): Reference {
  const taken = changesOf(file.units.filter(({ decision }) => decision === 'accepted'));
  return referenceOf(base, changesOf(file.units), new Set(taken));
}

function changesOf(units: readonly Unit[]): readonly Change[] {
  return units.flatMap(({ change }) => (change ? [change] : []));
}

function viewWhole(file: ViewedFile, now: Now): FileView {
  const [unit] = file.units;
  const conflict = unit?.decision === 'accepted' ? undefined : wholeConflict(file, now);
  return {
    now,
    places: new Map(),
    conflicts: unit && conflict !== undefined ? new Map([[unit, conflict]]) : new Map(),
    proposed: unit?.decision === 'open' ? file.preview?.after : file.preview?.before,
  };
}

/** A whole file goes only where it is exactly what the patch was made from. */
function wholeConflict(
  { content, part }: Pick<ViewedFile, 'content' | 'part'>,
  now: Now,
): ConflictKind | undefined {
  if (content.kind === 'whole' && content.reason === 'link') return 'link';
  if (part.status === 'added') {
    if (now.kind === 'missing') return now.writable ? undefined : 'read-only';
    return now.kind === 'file' ? 'exists' : 'other';
  }
  const problem = problemOf(now);
  if (problem !== undefined || now.kind !== 'file') return problem;
  if (now.unsaved) return 'unsaved';
  return part.oldBlob === undefined || now.hash === part.oldBlob ? undefined : 'file-changed';
}

function problemOf(now: Now): ConflictKind | undefined {
  if (now.kind === 'missing') return 'gone';
  if (now.kind === 'other') return 'other';
  return now.writable ? undefined : 'read-only';
}

/** Tells whether a file is again what it was before or after something was taken. */
export function stateOf(now: Now): string {
  if (now.kind !== 'file') return now.kind;
  return now.text === undefined ? now.hash : `text ${toLines(now.text).join('\n')}`;
}

/** Are the lines that were taken still in the text? */
export function isKept(change: Change, lines: readonly string[]): boolean {
  const { before, removed, added, after } = change;
  return added.some((line) => line.trim() !== '')
    ? contains(lines, added)
    : !contains(lines, [...before, ...removed, ...after]);
}

function contains(lines: readonly string[], wanted: readonly string[]): boolean {
  return lines.some((_, at) => wanted.every((line, index) => lines[at + index] === line));
}
