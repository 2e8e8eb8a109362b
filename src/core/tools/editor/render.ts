/** Every text that a model sees of `str_replace_editor`. Pure; part of the scaffold. */

import { showPath } from '../paths.ts';
import { count, sliceWhole, withCommas } from '../text.ts';
import type { Edited, InsertOutcome, ReplaceOutcome } from './edit.ts';
import type { Encoding } from './encoding.ts';
import { splitLines } from './lines.ts';
import type { NearMiss } from './nearest.ts';

export interface ViewLimits {
  /** Characters of a view, and of a snippet after an edit. */
  readonly viewChars: number;
  readonly snippetChars: number;
  /** Longer lines are cut. */
  readonly lineChars: number;
}

export const VIEW_LIMITS: ViewLimits = { viewChars: 16_000, snippetChars: 4_000, lineChars: 1_000 };

const CONTEXT_LINES = 2;

const ENCODING_NAMES: Readonly<Record<Encoding, string>> = {
  utf8: 'UTF-8',
  latin1: 'Latin-1',
  utf16le: 'UTF-16',
  utf16be: 'UTF-16',
};

export type Rendered = { readonly ok: boolean; readonly text: string };

/** @param range first and last line, 1-based; -1 as last means the end. */
export function renderView(
  path: string,
  text: string,
  range: readonly [number, number] | undefined,
  limits: ViewLimits = VIEW_LIMITS,
): Rendered {
  const lines = splitLines(text);
  const total = lines.length;
  if (range) {
    const problem = rangeProblem(range, total);
    if (problem)
      return failed(`${problem} ${showPath(path)} has ${count(total, 'line', 'lines')}.`);
  }
  if (total === 0) return { ok: true, text: `(${showPath(path)} is empty)` };
  const [first, end] = range ?? [1, total];
  const last = end === -1 ? total : Math.min(end, total);
  const shown = numbered(lines.slice(first - 1, last), first, limits.lineChars);
  const fitting = takeWhileFits(shown, limits.viewChars);
  const cutAt = first - 1 + fitting.length;
  const notes: string[] = [];
  if (cutAt < last) {
    const next = Math.min(total, cutAt + fitting.length);
    notes.push(
      `[lines ${first}-${cutAt} of ${total}; to see more, view with view_range [${cutAt + 1}, ${next}]]`,
    );
  } else if (end > total) {
    notes.push(`[the file ends at line ${total}]`);
  }
  return { ok: true, text: [...fitting, ...notes].join('\n') };
}

function rangeProblem([first, last]: readonly [number, number], total: number): string | undefined {
  const shown = `view_range [${first}, ${last}]`;
  if (first < 1) return `${shown} is wrong: lines are counted from 1.`;
  if (first > Math.max(1, total)) return `${shown} is out of range.`;
  if (last !== -1 && last < first) return `${shown} is wrong: it ends before it starts.`;
  return undefined;
}

export interface FolderEntry {
  /** Relative to the folder that is viewed. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
}

/** Folders whose content is somebody else's: named, not listed. */
const NOT_LISTED = new Set(['node_modules', '__pycache__', 'venv', 'site-packages']);
const ENTRIES = 200;
const ENTRIES_PER_FOLDER = 30;

/** @param more the list of entries was cut by the sandbox. */
export function renderFolder(path: string, entries: readonly FolderEntry[], more: boolean): string {
  const kept: string[] = [];
  let dropped = 0;
  const perFolder = new Map<string, number>();
  for (const entry of entries) {
    const [parent = '', child] = entry.path.split('/');
    if (child !== undefined) {
      const number = (perFolder.get(parent) ?? 0) + 1;
      perFolder.set(parent, number);
      if (NOT_LISTED.has(parent)) continue;
      if (number > ENTRIES_PER_FOLDER) {
        dropped += 1;
        continue;
      }
    }
    if (kept.length < ENTRIES) kept.push(showEntry(entry));
    else dropped += 1;
  }
  const lines = [`${showPath(path)}:`, ...kept];
  if (kept.length === 0) lines.push('(no visible entries)');
  if (dropped > 0 || more) {
    const amount = more ? 'more' : withCommas(dropped);
    lines.push(`[… ${amount} entries left out; view a subfolder …]`);
  }
  return lines.join('\n');
}

function showEntry({ path, kind }: FolderEntry): string {
  const name = showPath(path);
  if (kind === 'symlink') return `${name} (symbolic link)`;
  if (kind !== 'directory') return name;
  return NOT_LISTED.has(path.split('/').at(-1) ?? '') ? `${name}/ (not listed)` : `${name}/`;
}

/** After an edit: what is there now, with a few lines around. */
export function renderEdited(
  path: string,
  text: string,
  edited: Pick<Edited, 'firstLine' | 'lastLine'>,
  limits: ViewLimits = VIEW_LIMITS,
): Rendered {
  const lines = splitLines(text);
  if (lines.length === 0) return { ok: true, text: `Edited ${showPath(path)}: it is empty now.` };
  const from = Math.max(1, edited.firstLine - CONTEXT_LINES);
  const to = Math.min(lines.length, edited.lastLine + CONTEXT_LINES);
  const shown = numbered(lines.slice(from - 1, to), from, limits.lineChars);
  const snippet = cutMiddle(shown, limits.snippetChars);
  return { ok: true, text: [`Edited ${showPath(path)}:`, ...snippet].join('\n') };
}

export function renderCreated(path: string, text: string): Rendered {
  const lines = count(splitLines(text).length, 'line', 'lines');
  return { ok: true, text: `Created ${showPath(path)} (${lines}).` };
}

/** What was not done, and why. `near` is asked for `not-found` only. */
export function renderNotEdited(
  path: string,
  outcome: Exclude<ReplaceOutcome | InsertOutcome, Edited>,
  near: NearMiss = { kind: 'nothing' },
  text = '',
): Rendered {
  const file = showPath(path);
  switch (outcome.kind) {
    case 'binary':
      return failed(`${file} is a binary file; this tool works on text only.`);
    case 'not-in-encoding':
      return failed(
        `${file} is written in ${ENCODING_NAMES[outcome.encoding]}, which lacks characters of the ` +
          'new text. Nothing was changed. Use other characters or an escape of the language.',
      );
    case 'lone-surrogate':
      return failed(
        'The new text has half a surrogate pair in it (\\ud800 to \\udfff). Nothing was changed.',
      );
    case 'empty-old':
      return failed('old_str is empty. Give the text to replace, or use insert.');
    case 'identical':
      return failed('old_str and new_str are the same. Nothing was changed.');
    case 'only-line-ends':
      return failed(
        'old_str and new_str differ in line ends only, and those follow the file. Nothing was ' +
          'changed. Use bash to change line ends.',
      );
    case 'several':
      return failed(severalText(file, outcome));
    case 'not-found':
      return failed(notFoundText(file, near, text));
    case 'empty-text':
      return failed('insert_text is empty. For an empty line, give a line break.');
    case 'out-of-range':
      return failed(
        `insert_line is out of range: ${file} has ${count(outcome.lineCount, 'line', 'lines')}, ` +
          `so it must be from 0 to ${outcome.lineCount}.`,
      );
  }
}

function severalText(
  file: string,
  { lines, more, overlapping }: Extract<ReplaceOutcome, { kind: 'several' }>,
): string {
  const times = `${more ? 'more than ' : ''}${lines.length} times`;
  const where = [...new Set(lines)].join(', ');
  const overlap = overlapping ? ', overlapping' : '';
  return (
    `old_str occurs ${times}${overlap} in ${file} (lines ${where}${more ? ', …' : ''}). ` +
    'Nothing was changed. Add lines around it until it is unique.'
  );
}

/** Lines shown of the place that is meant, probably. */
const NEAR_LINES = 12;

function notFoundText(file: string, near: NearMiss, text: string): string {
  const head = `old_str did not appear verbatim in ${file}. Nothing was changed.`;
  switch (near.kind) {
    case 'white-space':
      return `${head} Only white space differs from ${nearLines(near, text)}`;
    case 'similar':
      return `${head} The nearest text is at ${nearLines(near, text)}`;
    case 'line-numbers':
      return `${head} Leave out the line numbers that view puts in front of each line.`;
    case 'escaped':
      return `${head} It has \\n, \\t or \\" as two characters; write the character itself.`;
    case 'already':
      return `${head} new_str is in the file already, at line ${near.line}.`;
    case 'nothing':
      return `${head} View the file and copy the text exactly.`;
  }
}

function nearLines(near: { readonly first: number; readonly last: number }, text: string): string {
  const { first, last } = near;
  const name = first === last ? `line ${first}` : `lines ${first}-${last}`;
  const lines = splitLines(text).slice(first - 1, Math.min(last, first - 1 + NEAR_LINES));
  const shown = takeWhileFits(numbered(lines, first, 300), VIEW_LIMITS.snippetChars);
  return [`${name}:`, ...shown].join('\n');
}

export const IGNORED_NOTE = '[git ignores this file: the change will not be part of the patch]';

export type UndoOutcome =
  | { readonly kind: 'restored'; readonly left: number }
  | { readonly kind: 'removed'; readonly folders: number }
  | { readonly kind: 'nothing-to-undo' }
  | { readonly kind: 'changed-since' };

export function renderUndo(path: string, outcome: UndoOutcome): Rendered {
  const file = showPath(path);
  switch (outcome.kind) {
    case 'restored': {
      const left =
        outcome.left > 0 ? ` (${count(outcome.left, 'earlier edit', 'earlier edits')} left)` : '';
      return { ok: true, text: `Undid the last edit of ${file}${left}.` };
    }
    case 'removed': {
      const folders =
        outcome.folders > 0
          ? ` and ${count(outcome.folders, 'empty folder', 'empty folders')} made for it`
          : '';
      return { ok: true, text: `Undid the creation of ${file}: removed it${folders}.` };
    }
    case 'nothing-to-undo':
      return failed(`There is no edit of ${file} to undo.`);
    case 'changed-since':
      return failed(
        `${file} was changed by something else since its last edit, and an undo would lose that. ` +
          'Nothing was changed. Edit it, or use git diff and git checkout in bash.',
      );
  }
}

export function renderMissing(path: string, suggestions: readonly string[]): Rendered {
  const help =
    suggestions.length > 0 ? ` Maybe you meant ${suggestions.map(showPath).join(', ')}.` : '';
  return failed(`${showPath(path)} does not exist.${help}`);
}

export function renderExists(path: string): Rendered {
  return failed(
    `${showPath(path)} exists already, and create does not overwrite. Use str_replace or insert.`,
  );
}

export function renderIsFolder(path: string, command: string): Rendered {
  if (command === 'view_range') {
    return failed(`${showPath(path)} is a folder: view it without view_range.`);
  }
  return failed(`${showPath(path)} is a folder; ${command} needs a file.`);
}

export function renderDangling(path: string): Rendered {
  return failed(`${showPath(path)} is a symbolic link whose target does not exist.`);
}

export function renderParentIsFile(path: string, parent: string): Rendered {
  return failed(`${showPath(path)} cannot exist: ${showPath(parent)} is a file, not a folder.`);
}

export function renderTextTooLarge(limit: number): Rendered {
  return failed(`The text is too large for this tool: the limit is ${withCommas(limit)} bytes.`);
}

export function renderNotAFile(path: string): Rendered {
  return failed(`${showPath(path)} is not a regular file.`);
}

export function failed(text: string): Rendered {
  return { ok: false, text };
}

/** `cat -n` style. */
function numbered(lines: readonly string[], first: number, lineChars: number): string[] {
  return lines.map(
    (line, index) => `${String(first + index).padStart(6)}\t${cutLine(line, lineChars)}`,
  );
}

function cutLine(line: string, limit: number): string {
  if (line.length <= limit) return line;
  const shown = sliceWhole(line, 0, limit);
  return `${shown} [… ${withCommas(line.length - shown.length)} more characters …]`;
}

/** Whole lines as long as they fit; at least one. */
function takeWhileFits(lines: readonly string[], limit: number): readonly string[] {
  let length = 0;
  const end = lines.findIndex((line, index) => {
    length += line.length + 1;
    return length > limit && index > 0;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

function cutMiddle(lines: readonly string[], limit: number): readonly string[] {
  const head = takeWhileFits(lines, limit / 2);
  const tail = takeWhileFits(lines.slice(head.length).reverse(), limit / 2).toReversed();
  const left = lines.length - head.length - tail.length;
  return left === 0 ? lines : [...head, `[… ${count(left, 'line', 'lines')} left out …]`, ...tail];
}
