/**
 * Line ends. A model writes `\n` whatever the file has, so texts are compared in *normal form*,
 * where every line end is one `\n`, and offsets lead back to the file as it is.
 */

export interface NormalText {
  readonly text: string;
  /** `cr`: a file without any `\n` (classic Mac OS), where `\r` ends lines. */
  readonly style: 'lf' | 'cr';
  /** Offsets in `text` of the `\n` that are `\r\n` in the file, ascending. */
  readonly crlf: readonly number[];
}

export function toNormal(units: string): NormalText {
  if (!units.includes('\n')) {
    return units.includes('\r')
      ? { text: units.replaceAll('\r', '\n'), style: 'cr', crlf: [] }
      : { text: units, style: 'lf', crlf: [] };
  }
  const crlf: number[] = [];
  for (let at = units.indexOf('\r\n'); at !== -1; at = units.indexOf('\r\n', at + 2)) {
    crlf.push(at - crlf.length);
  }
  return { text: units.replaceAll('\r\n', '\n'), style: 'lf', crlf };
}

/** A model's text in the normal form of a file. */
export function normalizeFor(text: string, style: NormalText['style']): string {
  const unix = text.replaceAll('\r\n', '\n');
  return style === 'cr' ? unix.replaceAll('\r', '\n') : unix;
}

/** Offset in normal form → offset in the file. */
export function fileOffset(normal: NormalText, offset: number): number {
  return offset + countBelow(normal.crlf, offset);
}

/** How the line end at this offset (a `\n` in normal form) is written in the file. */
export function endingAt(normal: NormalText, offset: number): string {
  if (normal.style === 'cr') return '\r';
  return normal.crlf[countBelow(normal.crlf, offset)] === offset ? '\r\n' : '\n';
}

/** Lines without their ends. An empty text has none; a final line end opens no new line. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (text.endsWith('\n')) lines.pop();
  return lines;
}

/** 1-based number of the line that holds this offset. */
export function lineAt(text: string, offset: number): number {
  return countNewlines(text.slice(0, offset)) + 1;
}

export function countNewlines(text: string): number {
  let found = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) found += 1;
  return found;
}

/** How many of the ascending numbers are below `limit`. */
function countBelow(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
