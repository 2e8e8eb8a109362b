import type { Change } from './changes.ts';
import type { Reference } from './place.ts';

/** A change and the line where it goes (`Place.at`). */
export interface Placed {
  readonly change: Change;
  readonly at: number;
}

/** Replaces a range of a text; lines and characters are 0-based, line breaks are `\n`. */
export interface LineEdit {
  readonly from: { readonly line: number; readonly character: number };
  readonly to: { readonly line: number; readonly character: number };
  readonly text: string;
}

export function toLines(text: string): string[] {
  return text.split(/\r?\n/);
}

/** The text with the changes in it. They must not overlap. */
export function applyChanges(lines: readonly string[], placed: readonly Placed[]): string[] {
  const result = [...lines];
  for (const { change, at } of lastFirst(placed)) {
    result.splice(at, change.removed.length, ...change.added);
  }
  return result;
}

/** The same as edits of the text as it is: small ones, so that the cursor stays where it is. */
export function editsOf(lines: readonly string[], placed: readonly Placed[]): readonly LineEdit[] {
  return lastFirst(placed)
    .reverse()
    .map(({ change: { removed, added }, at }) => {
      const end = at + removed.length;
      if (end < lines.length) {
        const text = added.map((line) => `${line}\n`).join('');
        return edit(at, 0, end, 0, text);
      }
      const last = lines.length - 1;
      const width = lines[last]?.length ?? 0;
      if (at === 0) return edit(0, 0, last, width, added.join('\n'));
      const text = added.map((line) => `\n${line}`).join('');
      return edit(at - 1, lines[at - 1]?.length ?? 0, last, width, text);
    });
}

/**
 * Where everything is in the file of the patch after some changes have been taken.
 *
 * @param base the file that the patch was made from
 */
export function referenceOf(
  base: readonly string[],
  changes: readonly Change[],
  taken: ReadonlySet<Change>,
): Reference {
  const placed = changes
    .filter((change) => taken.has(change))
    .map((change) => ({ change, at: change.at + change.before.length }));
  return {
    lines: applyChanges(base, placed),
    at: (change) =>
      placed
        .filter(({ at }) => at < change.at + change.before.length)
        .reduce(
          (line, { change: { added, removed } }) => line + added.length - removed.length,
          change.at,
        ),
  };
}

function lastFirst(placed: readonly Placed[]): Placed[] {
  return [...placed].sort((a, b) => b.at - a.at);
}

function edit(
  fromLine: number,
  fromCharacter: number,
  toLine: number,
  toCharacter: number,
  text: string,
): LineEdit {
  return {
    from: { line: fromLine, character: fromCharacter },
    to: { line: toLine, character: toCharacter },
    text,
  };
}
