/** Every text that a model sees of `search`. Pure; part of the scaffold. */

import { showPath } from '../paths.ts';
import { count, sliceWhole, withCommas } from '../text.ts';

export interface Match {
  /** Relative to the workspace. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

export interface SearchLimits {
  readonly matches: number;
  /** Characters of a line. */
  readonly lineChars: number;
}

export const SEARCH_LIMITS: SearchLimits = { matches: 50, lineChars: 200 };

/** In one order, whatever program found them. Reads `path NUL line (':' or NUL) text`; lines that are not like this are notes of the program. */
export function parseMatches(output: string): readonly Match[] {
  const matches: Match[] = [];
  // A path may hold line breaks, so paths end at the NUL, not lines at the line break alone.
  const entry = /([^\0]+)\0(\d+)[:\0]([^\n]*)(?:\n|$)/y;
  for (let found = entry.exec(output); found; found = entry.exec(output)) {
    const [, path = '', line = '', text = ''] = found;
    const relative = path.startsWith('./') ? path.slice(2) : path;
    matches.push({ path: relative, line: Number(line), text });
  }
  return matches.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

export interface Found {
  readonly matches: readonly Match[];
  /** The program's output was cut: there are more than `matches`. */
  readonly more: boolean;
}

/** @param term cut lines show the part around it; undefined for patterns. */
export function renderMatches(
  { matches, more }: Found,
  term: string | undefined,
  limits: SearchLimits = SEARCH_LIMITS,
): string {
  const shown = matches.slice(0, limits.matches);
  const lines = shown.map(
    ({ path, line, text }) =>
      `${showPath(path)}:${line}: ${cutAround(text, term, limits.lineChars)}`,
  );
  const rest = matches.slice(shown.length);
  if (rest.length > 0 || more) {
    const files = new Set(rest.map((match) => match.path)).size;
    const atLeast = more ? 'at least ' : '';
    lines.push(
      `[… ${atLeast}${count(rest.length, 'more match', 'more matches')} in ` +
        `${count(files, 'file', 'files')}; narrow the path or the term …]`,
    );
  }
  return lines.join('\n');
}

export function noMatchText(term: string, path: string): string {
  return `No match for ${JSON.stringify(shorten(term))} in ${showPath(path)}.`;
}

export const EMPTY_TERM = 'search_term is empty.';
export const NUL_IN_TERM = 'search_term has a NUL character in it.';

export function oneLineNote(term: string): string {
  return `[search works line by line; this is for the line ${JSON.stringify(shorten(term))}]`;
}

export function missingPathText(path: string): string {
  return `${showPath(path)} does not exist.`;
}

export function badPatternText(message: string): string {
  return `The search failed: ${message.trim().split('\n').slice(0, 6).join('\n').slice(0, 600)}`;
}

export function timedOutNote(seconds: number): string {
  return `[the search was ended after ${seconds} s; narrow the path]`;
}

function cutAround(text: string, term: string | undefined, limit: number): string {
  const line = text.replace(/\r$/, '').replace(/(?!\t)\p{Cc}/gu, '\ufffd');
  if (line.length <= limit) return line;
  const at = term === undefined ? 0 : Math.max(0, line.indexOf(term));
  const start = at + (term?.length ?? 0) <= limit ? 0 : at - Math.floor(limit / 4);
  const end = start + limit;
  const before = start > 0 ? `[… ${withCommas(start)} characters …]` : '';
  const after = end < line.length ? ' [… line cut …]' : '';
  return `${before}${sliceWhole(line, start, end)}${after}`;
}

function shorten(term: string): string {
  return term.length > 100 ? `${term.slice(0, 100)}…` : term;
}

/** Each template once, on fixed inputs, for the scaffold hash. */
export function observationSamples(): Readonly<Record<string, string>> {
  const matches: Match[] = [
    { path: 'src/a.js', line: 3, text: '  const total = 1;' },
    { path: 'src/a.js', line: 9, text: `${'x'.repeat(30)} total ${'y'.repeat(30)}` },
    { path: 'src/b.js', line: 1, text: 'total();' },
  ];
  return {
    matches: renderMatches({ matches, more: false }, 'total'),
    cut: renderMatches({ matches, more: false }, 'total', { matches: 2, lineChars: 20 }),
    cutByProgram: renderMatches({ matches, more: true }, undefined, { matches: 1, lineChars: 20 }),
    noMatch: noMatchText('total', '/workspace/src'),
    emptyTerm: EMPTY_TERM,
    nulInTerm: NUL_IN_TERM,
    oneLine: oneLineNote('total'),
    missingPath: missingPathText('/workspace/nowhere'),
    badPattern: badPatternText('regex parse error'),
    timedOut: timedOutNote(30),
  };
}
