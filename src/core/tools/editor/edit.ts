import { type Encoding, type FileUnits, textToUnits, toBytes, toUnits } from './encoding.ts';
import {
  countNewlines,
  endingAt,
  fileOffset,
  lineAt,
  type NormalText,
  normalizeFor,
  splitLines,
  toNormal,
} from './lines.ts';

/** Matches that are looked for at most, to say where they are. */
const MATCHES = 20;

export interface Edited {
  readonly kind: 'edited';
  readonly bytes: Uint8Array;
  /** 1-based lines of the result that hold the change, both included. */
  readonly firstLine: number;
  readonly lastLine: number;
}

export type Unwritable =
  | { readonly kind: 'binary' }
  /** The new text has characters that the file's encoding lacks. */
  | { readonly kind: 'not-in-encoding'; readonly encoding: Encoding }
  /** Half a surrogate pair is no text in any encoding. */
  | { readonly kind: 'lone-surrogate' };

export type ReplaceOutcome =
  | Edited
  | Unwritable
  | { readonly kind: 'empty-old' }
  | { readonly kind: 'identical' }
  /** Old and new differ in line ends only, and those follow the file. */
  | { readonly kind: 'only-line-ends' }
  | { readonly kind: 'not-found' }
  | {
      readonly kind: 'several';
      /** 1-based lines where matches start, at most `MATCHES`. */
      readonly lines: readonly number[];
      readonly more: boolean;
      readonly overlapping: boolean;
    };

export type InsertOutcome =
  | Edited
  | Unwritable
  | { readonly kind: 'empty-text' }
  | { readonly kind: 'out-of-range'; readonly lineCount: number };

/**
 * Replaces the one place where `oldText` is. A line end of `oldText` matches any line end of the
 * file, and line ends of `newText` are written as those of the place it replaces. Every byte
 * outside the part in which old and new text differ stays as it is.
 */
export function replaceOnce(bytes: Uint8Array, oldText: string, newText: string): ReplaceOutcome {
  if (oldText === '') return { kind: 'empty-old' };
  if (oldText === newText) return { kind: 'identical' };
  const file = toUnits(bytes);
  if (!file) return { kind: 'binary' };
  const normal = toNormal(file.units);

  const oldUnits = textToUnits(oldText, file.encoding);
  const old = oldUnits === undefined ? undefined : normalizeFor(oldUnits, normal.style);
  const matches = old === undefined ? [] : findAll(normal.text, old, MATCHES + 1);
  const [start] = matches;
  if (old === undefined || start === undefined) return { kind: 'not-found' };
  if (matches.length > 1) return several(normal.text, matches, old.length);

  const newUnits = writable(newText, file.encoding);
  if (typeof newUnits !== 'string') return newUnits;
  const end = start + old.length;
  const around = endingsAround(normal, start, end);
  // A model that writes `\r\n` where neither its old text nor the place has one means it.
  const keepCrlf = !oldText.includes('\r\n') && !around.includes('\r\n');
  const text = keepCrlf && normal.style === 'lf' ? newUnits : normalizeFor(newUnits, normal.style);
  if (text === old) return { kind: 'only-line-ends' };

  const { prefix, suffix } = commonEnds(old, text);
  const from = start + prefix;
  const to = end - suffix;
  const middle = text.slice(prefix, text.length - suffix);
  const own = endingsIn(normal, from, to);
  const last = own.at(-1) ?? endingBefore(normal, start, from) ?? around[0] ?? '\n';
  const written = withEndings(middle, [...own, last], keepCrlf);
  const firstLine = lineAt(normal.text, from);
  return {
    kind: 'edited',
    bytes: splice(file, fileOffset(normal, from), fileOffset(normal, to), written),
    firstLine,
    lastLine: firstLine + countNewlines(middle),
  };
}

/**
 * Puts whole lines after line `line` (0: before the first). A final line end of `text` is not
 * needed and not doubled; a file without a final line end stays without one.
 */
export function insertLines(bytes: Uint8Array, line: number, text: string): InsertOutcome {
  if (text === '') return { kind: 'empty-text' };
  const file = toUnits(bytes);
  if (!file) return { kind: 'binary' };
  const normal = toNormal(file.units);
  const lineCount = splitLines(normal.text).length;
  if (line < 0 || line > lineCount) return { kind: 'out-of-range', lineCount };
  const units = writable(text, file.encoding);
  if (typeof units !== 'string') return units;

  const at = startOfLine(normal.text, line);
  const [ending = '\n'] = endingsAround(normal, at === 0 ? 0 : at - 1, at);
  const keepCrlf = ending === '\n';
  const lines = keepCrlf ? units : normalizeFor(units, normal.style);
  const body = withEndings(lines.replace(/\r?\n$/, ''), [ending], keepCrlf);
  const opensLine = at > 0 && normal.text[at - 1] !== '\n';
  const offset = fileOffset(normal, at);
  return {
    kind: 'edited',
    bytes: splice(file, offset, offset, opensLine ? ending + body : body + ending),
    firstLine: line + 1,
    lastLine: line + 1 + countNewlines(lines.replace(/\n$/, '')),
  };
}

function writable(text: string, encoding: Encoding): string | Unwritable {
  if (/\p{Cs}/u.test(text)) return { kind: 'lone-surrogate' };
  return textToUnits(text, encoding) ?? { kind: 'not-in-encoding', encoding };
}

function several(text: string, matches: readonly number[], length: number): ReplaceOutcome {
  return {
    kind: 'several',
    lines: matches.slice(0, MATCHES).map((offset) => lineAt(text, offset)),
    more: matches.length > MATCHES,
    overlapping: matches.some((offset, index) => offset - (matches[index - 1] ?? -length) < length),
  };
}

/** Offsets of matches, overlapping ones too, at most `limit`. */
function findAll(text: string, wanted: string, limit: number): number[] {
  const found: number[] = [];
  let at = text.indexOf(wanted);
  while (at !== -1 && found.length < limit) {
    found.push(at);
    at = text.indexOf(wanted, at + 1);
  }
  return found;
}

function commonEnds(a: string, b: string): { readonly prefix: number; readonly suffix: number } {
  const most = Math.min(a.length, b.length);
  let prefix = 0;
  while (prefix < most && a[prefix] === b[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < most - prefix && a[a.length - 1 - suffix] === b[b.length - 1 - suffix]) {
    suffix += 1;
  }
  return { prefix, suffix };
}

/** The file's line ends between two offsets, in order. */
function endingsIn(normal: NormalText, from: number, to: number): string[] {
  const found: string[] = [];
  for (let at = normal.text.indexOf('\n', from); at !== -1 && at < to; ) {
    found.push(endingAt(normal, at));
    at = normal.text.indexOf('\n', at + 1);
  }
  return found;
}

/** The last line end between two offsets. */
function endingBefore(normal: NormalText, start: number, to: number): string | undefined {
  const at = to === 0 ? -1 : normal.text.lastIndexOf('\n', to - 1);
  return at >= start ? endingAt(normal, at) : undefined;
}

/** Line ends inside the place; where it has none, the one that ends its line, else the one before. */
function endingsAround(normal: NormalText, start: number, end: number): readonly string[] {
  const inside = endingsIn(normal, start, end);
  if (inside.length > 0) return inside;
  const next = normal.text.indexOf('\n', end);
  if (next !== -1) return [endingAt(normal, next)];
  const previous = endingBefore(normal, 0, start);
  return previous === undefined ? [] : [previous];
}

/** The k-th line end becomes `endings[k]`, later ones the last of them. */
function withEndings(text: string, endings: readonly string[], keepCrlf: boolean): string {
  let index = 0;
  return text.replace(keepCrlf ? /\r?\n/g : /\n/g, (written) => {
    const ending = endings[Math.min(index, endings.length - 1)] ?? '\n';
    index += 1;
    return written === '\r\n' ? written : ending;
  });
}

function startOfLine(text: string, line: number): number {
  let at = 0;
  for (let passed = 0; passed < line; passed++) {
    const next = text.indexOf('\n', at);
    if (next === -1) return text.length;
    at = next + 1;
  }
  return at;
}

function splice(file: FileUnits, from: number, to: number, text: string): Uint8Array {
  const units = file.units.slice(0, from) + text + file.units.slice(to);
  return toBytes({ ...file, units });
}
