import { lineAt, splitLines } from './lines.ts';

/** Why `old_str` may not be in the file, as far as a cheap look tells. Lines are 1-based. */
export type NearMiss =
  /** There it is, but for blanks, tabs, line breaks or indentation. */
  | { readonly kind: 'white-space'; readonly first: number; readonly last: number }
  /** `old_str` was copied together with the line numbers of a view. */
  | { readonly kind: 'line-numbers' }
  /** `old_str` has `\n` or `\t` as two characters where the file has a line break or a tab. */
  | { readonly kind: 'escaped' }
  /** `new_str` is in the file already. */
  | { readonly kind: 'already'; readonly line: number }
  /** Some of its lines are there. */
  | { readonly kind: 'similar'; readonly first: number; readonly last: number }
  | { readonly kind: 'nothing' };

/** Lines of `old_str` that are looked up, and of the file that are compared word by word. */
const OLD_LINES = 50;
const FILE_LINES = 20_000;

/** Characters: larger files are not looked at, since the look must stay well below a second. */
const TEXT_CHARS = 1_000_000;

/** @param text the file with `\n` as its only line end, as the model sees it. */
export function findNearMiss(text: string, oldStr: string, newStr: string): NearMiss {
  const old = oldStr.replaceAll('\r\n', '\n');
  const lines = splitLines(old);
  if (lines.length > 0 && lines.every((line) => /^\s*\d+\t/.test(line))) {
    return { kind: 'line-numbers' };
  }
  const unescaped = old.replaceAll('\\n', '\n').replaceAll('\\t', '\t').replaceAll('\\"', '"');
  if (unescaped !== old && text.includes(unescaped)) return { kind: 'escaped' };
  if (text.length > TEXT_CHARS) return { kind: 'nothing' };
  const loose = findIgnoringSpace(text, old);
  if (loose) return { kind: 'white-space', ...loose };
  const done = newStr.trim() === '' ? -1 : text.indexOf(newStr.replaceAll('\r\n', '\n'));
  if (done !== -1) return { kind: 'already', line: lineAt(text, done) };
  return findSimilar(splitLines(text), lines) ?? { kind: 'nothing' };
}

interface LineRange {
  readonly first: number;
  readonly last: number;
}

function findIgnoringSpace(text: string, old: string): LineRange | undefined {
  const wanted = old.replace(/\s+/g, '');
  if (wanted === '') return undefined;
  const at = text.replace(/\s+/g, '').indexOf(wanted);
  if (at === -1) return undefined;
  // Walk the file again to the first and last character that count.
  let passed = 0;
  let start = -1;
  for (let index = 0; index < text.length; index++) {
    if (/\s/.test(text.charAt(index))) continue;
    if (passed === at) start = index;
    passed += 1;
    if (passed === at + wanted.length) {
      return { first: lineAt(text, start), last: lineAt(text, index) };
    }
  }
  return undefined;
}

/** The place where most of the old lines stand as they do in `old_str`; else the line most like it. */
function findSimilar(
  fileLines: readonly string[],
  oldLines: readonly string[],
): NearMiss | undefined {
  const places = new Map<string, number[]>();
  for (const [index, line] of fileLines.entries()) {
    const key = line.trim();
    const known = places.get(key);
    if (known) known.push(index);
    else places.set(key, [index]);
  }
  const votes = new Map<number, number>();
  for (const [index, line] of oldLines.slice(0, OLD_LINES).entries()) {
    const key = line.trim();
    if (key.length < 3) continue;
    for (const place of places.get(key)?.slice(0, OLD_LINES) ?? []) {
      votes.set(place - index, (votes.get(place - index) ?? 0) + key.length);
    }
  }
  const best = [...votes].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
  if (best) {
    const first = Math.max(0, best[0]);
    const last = Math.min(fileLines.length - 1, best[0] + oldLines.length - 1);
    return { kind: 'similar', first: first + 1, last: last + 1 };
  }
  const line = mostLike(fileLines, oldLines);
  return line === undefined ? undefined : { kind: 'similar', first: line, last: line };
}

/** The line that shares most words with the longest line of `old_str`, when it shares over half. */
function mostLike(fileLines: readonly string[], oldLines: readonly string[]): number | undefined {
  const longest = oldLines.reduce((a, b) => (b.trim().length > a.trim().length ? b : a), '');
  const wanted = words(longest);
  let best = wanted.size / 2;
  let found: number | undefined;
  for (const [index, line] of fileLines.slice(0, FILE_LINES).entries()) {
    let shared = 0;
    for (const word of words(line)) if (wanted.has(word)) shared += 1;
    if (shared > best) {
      best = shared;
      found = index + 1;
    }
  }
  return found;
}

function words(line: string): ReadonlySet<string> {
  return new Set(line.slice(0, 2_000).match(/[\p{L}\p{N}_]+/gu) ?? []);
}
