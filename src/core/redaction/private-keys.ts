import type { Finding } from './finding.ts';

/**
 * Private key blocks, also inside a numbered view, a diff or a JSON string, and where one end of
 * the block was cut away. Line by line, so that line numbers and prefixes stay.
 */

const BEGIN = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/g;
/** `    12\t`, `12:`, `file:12:`, `+`, `> `: what views and tools put in front of a line. */
const PREFIX = /^(?:\s*\d+[\t:|-]\s?|[^\s:]+:\d+:|[ \t]+|[bruf]?["'`])*/;
/** The same in a diff or a quotation. Kept apart: a line of a key may begin with `+`. */
const MARKED_PREFIX = /^(?:\s*\d+[\t:|-]\s?|[^\s:]+:\d+:|[+>-](?!----)|[ \t]+|[bruf]?["'`])*/;
/** A line of base64, perhaps inside a string of a program, or a header as in old keys. */
const BODY = /^(?:[A-Za-z0-9+/=\\]+["'`,;+. \\]*|[A-Za-z-]+: .*|["'`,;+. ]+)?$/;

export function findPrivateKeys(text: string): readonly Finding[] {
  if (!text.includes('PRIVATE KEY')) return [];
  const findings: Finding[] = [];
  let from = 0;
  const begins = [...text.matchAll(BEGIN)];
  for (const [index, begin] of begins.entries()) {
    if (begin.index < from) continue;
    END.lastIndex = begin.index;
    const end = END.exec(text);
    const next = begins[index + 1]?.index ?? text.length;
    const after = begin.index + begin[0].length;
    const closed =
      end !== null && end.index < next && text.slice(after, end.index).split('\n').every(isBody);
    const stop = closed ? end.index + end[0].length : bodyEnd(text, after);
    // The first line alone, as programs that read keys have it, is no secret.
    if (stop > after) {
      pushLines(text, begin.index, stop, prefixAt(text, begin.index), findings);
    }
    from = Math.max(stop, after);
  }
  for (const end of text.matchAll(END)) {
    if (end.index < from || findings.some((f) => end.index >= f.start && end.index < f.end))
      continue;
    const start = bodyStart(text, end.index);
    if (start === end.index) continue;
    pushLines(text, start, end.index + end[0].length, prefixAt(text, end.index), findings);
  }
  return findings;
}

/** The block's end is missing: everything after `at` that still looks like a key. */
function bodyEnd(text: string, at: number): number {
  let stop = at;
  let lineEnd = endOfLine(text, at);
  const rest = text.slice(at, lineEnd);
  const sameLine = /^(?:\\[nr]|[A-Za-z0-9+/=])*/.exec(rest)?.[0].length ?? 0;
  stop = at + sameLine;
  if (rest.slice(sameLine).trim() !== '') return stop;
  while (lineEnd < text.length) {
    const start = lineEnd + 1;
    lineEnd = endOfLine(text, start);
    if (!isBody(text.slice(start, lineEnd))) break;
    stop = lineEnd;
  }
  return stop;
}

/** The block's beginning is missing: the lines before `at` that look like a key. */
function bodyStart(text: string, at: number): number {
  let start = at;
  let lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const before = text.slice(lineStart, at);
  const sameLine = /[A-Za-z0-9+/=\\]*$/.exec(before)?.[0].length ?? 0;
  start = at - sameLine;
  while (lineStart > 0) {
    const previous = text.lastIndexOf('\n', lineStart - 2) + 1;
    const line = text.slice(previous, lineStart - 1);
    if (line.replace(MARKED_PREFIX, '').length < 16 || !isBody(line)) break;
    start = previous;
    lineStart = previous;
  }
  return start;
}

function isBody(line: string): boolean {
  return BODY.test(line.replace(MARKED_PREFIX, '').trimEnd());
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

function prefixAt(text: string, at: number): RegExp {
  const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /[+>-]\s?$/.test(before) ? MARKED_PREFIX : PREFIX;
}

function pushLines(
  text: string,
  start: number,
  stop: number,
  prefix: RegExp,
  findings: Finding[],
): void {
  let at = start;
  while (at < stop) {
    const lineEnd = Math.min(endOfLine(text, at), stop);
    const line = text.slice(at, lineEnd);
    const skip =
      at === start && text.startsWith('-----', at) ? 0 : (prefix.exec(line)?.[0].length ?? 0);
    const length = line.trimEnd().length;
    if (length > skip) {
      findings.push({ start: at + skip, end: at + length, kind: 'private-key' });
    }
    at = lineEnd + 1;
  }
}
