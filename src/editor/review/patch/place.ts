import type { Change } from './changes.ts';

/**
 * Where a change goes in a text. `at`: 0-based line of the first removed line, or before which lines
 * are added.
 */
export type Place =
  | { readonly kind: 'found'; readonly at: number }
  /** Its lines are in the text already. */
  | { readonly kind: 'present' }
  | { readonly kind: 'conflict'; readonly reason: 'changed' | 'ambiguous' };

/** A text in which the place of every change is known, because it is the one of the patch. */
export interface Reference {
  readonly lines: readonly string[];
  /** Line of the first of a change's `before`. */
  readonly at: (change: Change) => number;
}

/**
 * Finds where changes go in a text. One whose lines have moved is found at their new place; one whose
 * lines could be meant at several places is a conflict, and never guessed.
 *
 * @param changes of one file, those that are still open
 * @param reference what the text was before somebody else changed it, where that is known
 */
export function placeChanges(
  changes: readonly Change[],
  lines: readonly string[],
  reference: Reference | undefined,
): readonly Place[] {
  const moved = reference && { ...reference, ...sharedEnds(reference.lines, lines) };
  const places = changes.map((change) => placeChange(change, lines, moved));
  return withoutOverlaps(changes, places);
}

interface Moved extends Reference {
  /** Lines that both texts begin, and end, with. */
  readonly first: number;
  readonly last: number;
}

function placeChange(
  change: Change,
  lines: readonly string[],
  reference: Moved | undefined,
): Place {
  const old = [...change.before, ...change.removed, ...change.after];
  const found = positionsOf(old, change.toEnd, lines);
  const lead = change.before.length;
  const [only] = found;
  if (only === undefined) {
    const next = [...change.before, ...change.added, ...change.after];
    const present = positionsOf(next, change.toEnd, lines);
    return present.length === 1 ? { kind: 'present' } : conflict('changed');
  }
  if (reference === undefined) {
    return found.length === 1 ? { kind: 'found', at: only + lead } : conflict('ambiguous');
  }
  const twins = positionsOf(old, change.toEnd, reference.lines).length;
  if (found.length === 1 && twins === 1) return { kind: 'found', at: only + lead };
  // Several look alike: what stands before it, or what stands behind it, must be as it was.
  const expected = reference.at(change);
  const anchored = new Set<number>();
  if (expected + old.length <= reference.first) anchored.add(expected);
  if (expected >= reference.lines.length - reference.last) {
    anchored.add(expected + lines.length - reference.lines.length);
  }
  const [place] = anchored;
  if (anchored.size !== 1 || place === undefined) return conflict('ambiguous');
  return found.includes(place) ? { kind: 'found', at: place + lead } : conflict('ambiguous');
}

function positionsOf(
  wanted: readonly string[],
  toEnd: boolean,
  lines: readonly string[],
): readonly number[] {
  // Of an empty file: nothing can be found but that.
  if (wanted.length === 0) return lines.length === 1 && lines[0] === '' ? [0] : [];
  const last = lines.length - wanted.length;
  const positions: number[] = [];
  for (let at = toEnd ? Math.max(last, 0) : 0; at <= last; at += 1) {
    if (wanted.every((line, index) => lines[at + index] === line)) positions.push(at);
  }
  return positions;
}

function sharedEnds(
  a: readonly string[],
  b: readonly string[],
): { readonly first: number; readonly last: number } {
  const most = Math.min(a.length, b.length);
  let first = 0;
  while (first < most && a[first] === b[first]) first += 1;
  let last = 0;
  while (last < most && a[a.length - 1 - last] === b[b.length - 1 - last]) last += 1;
  return { first, last };
}

/** Two changes that would touch the same lines are not what the patch says. */
function withoutOverlaps(changes: readonly Change[], places: readonly Place[]): readonly Place[] {
  const ranges = places.map((place, index) =>
    place.kind === 'found'
      ? { from: place.at, to: place.at + (changes[index]?.removed.length ?? 0) }
      : undefined,
  );
  return places.map((place, index) => {
    const own = ranges[index];
    const touched = ranges.some(
      (other, at) =>
        own !== undefined &&
        other !== undefined &&
        at !== index &&
        (own.from === other.from || (own.from < other.to && other.from < own.to)),
    );
    return touched ? conflict('ambiguous') : place;
  });
}

function conflict(reason: 'changed' | 'ambiguous'): Place {
  return { kind: 'conflict', reason };
}
