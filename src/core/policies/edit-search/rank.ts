import type { Edit, Language, TextRange } from '../../tasks/operators/edit.ts';
import type { FunctionOutline, Outline } from '../../tasks/operators/functions.ts';
import { listEdits } from '../../tasks/operators/list-edits.ts';
import { type FailureBlock, fileOf } from './failures.ts';
import type { Hints } from './hints.ts';
import type { Trace } from './trace.ts';

/** A source file that was viewed. */
export interface Subject {
  readonly path: string;
  readonly text: string;
  readonly language: Language;
  readonly outline: Outline;
  /** Imports between the failing test and this file; 0: the test file itself. */
  readonly depth: number;
  /** Tests and their support are read, never edited. */
  readonly editable: boolean;
}

export interface Candidate {
  readonly path: string;
  readonly edit: Edit;
  readonly score: number;
  /** The innermost function, for what is learnt about places. */
  readonly place: string;
}

/** Names that the failing tests use; those near the failing line first. */
export function seedsOf(
  failures: readonly FailureBlock[],
  subjects: readonly Subject[],
): ReadonlyMap<string, number> {
  const seeds = new Map<string, number>();
  const add = (name: string, distance: number) => {
    seeds.set(name, Math.min(seeds.get(name) ?? Number.POSITIVE_INFINITY, distance));
  };
  for (const failure of failures) {
    const test = subjects.find((subject) => subject.path === fileOf(failure.id));
    if (test === undefined) continue;
    const body = testBody(failure.id, test);
    const names =
      body?.uses ??
      new Set([...test.outline.topLevel, ...test.outline.functions.flatMap((f) => [...f.uses])]);
    for (const name of names) add(name, body === undefined ? 2 : 1.4);
    if (failure.at?.file !== test.path) continue;
    const lines = test.text
      .split('\n')
      .slice(Math.max(0, failure.at.line - 4), failure.at.line + 2);
    for (const name of lines.join('\n').match(/[A-Za-z_$][\w$]*/g) ?? [])
      if (names.has(name)) add(name, 1);
  }
  return seeds;
}

function testBody(id: string, test: Subject): FunctionOutline | undefined {
  const name =
    id
      .slice(fileOf(id).length)
      .split(/::| > /)
      .at(-1) ?? '';
  if (test.language === 'python') {
    const bare = name.replace(/\[[\s\S]*\]$/, '');
    return test.outline.functions.find((candidate) => candidate.name === bare);
  }
  for (const quote of ["'", '"', '`']) {
    const written = name.replaceAll(quote, `\\${quote}`);
    const at = test.text.indexOf(quote + written + quote);
    if (at >= 0) return test.outline.functions.find((candidate) => candidate.from > at);
  }
  return undefined;
}

/** Distance of every function from the failing test, over the names that functions use. */
export function distances(
  seeds: ReadonlyMap<string, number>,
  subjects: readonly Subject[],
): ReadonlyMap<FunctionOutline, number> {
  const byName = new Map<string, FunctionOutline[]>();
  const found = new Map<FunctionOutline, number>();
  for (const subject of subjects) {
    for (const item of subject.outline.functions) {
      found.set(item, 3 + subject.depth);
      const names = [item.name ?? ''];
      if (
        item.name === 'constructor' ||
        item.name === '__init__' ||
        item.name === '__post_init__'
      ) {
        names.push(classAround(subject.text, item.from));
      }
      for (const name of names) {
        if (name === '') continue;
        const list = byName.get(name);
        if (list === undefined) byName.set(name, [item]);
        else list.push(item);
      }
    }
  }
  let front = [...seeds];
  const reached = new Map<string, number>(seeds);
  while (front.length > 0) {
    const next: [string, number][] = [];
    for (const [name, distance] of front) {
      for (const item of byName.get(name) ?? []) {
        found.set(item, Math.min(found.get(item) ?? distance, distance));
        for (const used of item.uses) {
          const further = distance + 1;
          if (further < (reached.get(used) ?? 6)) {
            reached.set(used, further);
            next.push([used, further]);
          }
        }
      }
    }
    front = next;
  }
  return found;
}

function classAround(text: string, at: number): string {
  return [...text.slice(0, at).matchAll(/\bclass\s+(\w+)/g)].at(-1)?.[1] ?? '';
}

export interface RankInput {
  readonly subjects: readonly Subject[];
  readonly failures: readonly FailureBlock[];
  readonly hints: Hints;
  /** undefined: unknown which blocks ran. */
  readonly trace: Trace | undefined;
  /** Spreads the order; undefined: the plain order. */
  readonly random: (() => number) | undefined;
}

/** Blocks that did not run come last of all. */
const NOT_RUN = 0.02;

export function rankCandidates(input: RankInput): readonly Candidate[] {
  const { subjects, failures, hints, trace, random } = input;
  const distance = distances(seedsOf(failures, subjects), subjects);
  const list: Candidate[] = [];
  for (const subject of subjects) {
    if (!subject.editable) continue;
    const frames = failures
      .flatMap((f) => [f.inside, f.at])
      .filter((place) => place?.file === subject.path);
    const blocks = trace?.blocks.filter((block) => block.path === subject.path) ?? [];
    for (const edit of listEdits(subject.text, subject.language)) {
      const around = innermost(subject.outline.functions, edit.from);
      const far =
        around === undefined ? 2.2 + subject.depth * 0.4 : ownDistance(subject, around, distance);
      let score = edit.prior * (hints.get(edit.operator) ?? 1) * locality(far);
      for (const frame of frames) {
        if (frame === undefined) continue;
        const lines = Math.abs(frame.line - edit.line);
        const sameFunction =
          around !== undefined && contains(around, lineStart(subject.text, frame.line));
        if (sameFunction) score *= 1.25;
        if (lines <= 3) score *= 1 + 0.5 / (1 + lines);
      }
      const block = innermost(blocks, edit.from);
      if (block !== undefined && trace !== undefined && !trace.ran.has(block.number))
        score *= NOT_RUN;
      if (
        /\b(?:throw|raise|console|logging|logger|print|warn)\b/.test(
          lineText(subject.text, edit.from),
        )
      )
        score *= 0.35;
      if (random !== undefined) score *= Math.exp((random() + random() + random() - 1.5) * 0.9);
      list.push({
        path: subject.path,
        edit,
        score,
        place: `${subject.path}:${around?.from ?? -1}`,
      });
    }
  }
  return list.sort(
    (a, b) => b.score - a.score || compareText(a.path, b.path) || a.edit.from - b.edit.from,
  );
}

function locality(distance: number): number {
  return distance < 1 ? 1.2 : 1 / (1 + 0.4 * (distance - 1));
}

/** Callbacks have no name that anybody calls: they are as far as the function around them. */
function ownDistance(
  subject: Subject,
  item: FunctionOutline,
  distance: ReadonlyMap<FunctionOutline, number>,
): number {
  let best = distance.get(item) ?? 5;
  for (const other of subject.outline.functions) {
    if (other.from <= item.from && item.to <= other.to)
      best = Math.min(best, distance.get(other) ?? 5);
  }
  return best;
}

export function innermost<Range extends TextRange>(
  ranges: readonly Range[],
  at: number,
): Range | undefined {
  let best: Range | undefined;
  for (const range of ranges) {
    if (!contains(range, at)) continue;
    if (best === undefined || range.to - range.from < best.to - best.from) best = range;
  }
  return best;
}

function contains(range: TextRange, at: number): boolean {
  return range.from <= at && at < range.to;
}

function lineStart(text: string, line: number): number {
  let at = 0;
  for (let count = 1; count < line; count++) {
    const next = text.indexOf('\n', at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  return at + (/^[ \t]*/.exec(text.slice(at, at + 200))?.[0].length ?? 0);
}

function lineText(text: string, at: number): string {
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const to = text.indexOf('\n', at);
  return text.slice(from, to < 0 ? text.length : to);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
