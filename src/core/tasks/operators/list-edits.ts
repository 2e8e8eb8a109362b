import type { SyntaxNode } from '@lezer/common';
import type { Edit, Language, TextRange } from './edit.ts';
import { callArguments } from './families/arguments.ts';
import { arithmetic } from './families/arithmetic.ts';
import { boolean } from './families/boolean.ts';
import { boundaries } from './families/boundaries.ts';
import { calls } from './families/calls.ts';
import { comparison } from './families/comparison.ts';
import { constants } from './families/constants.ts';
import { createNames } from './families/names.ts';
import { statements } from './families/statements.ts';
import { grammarOf } from './grammars.ts';
import { OPERATORS } from './operator-table.ts';
import type { Scan } from './scan.ts';

export interface ListEditsOptions {
  /** Only edits that start inside one of these; default: the whole source. */
  readonly ranges?: readonly TextRange[];
}

/**
 * Every single edit of a source, ordered by place, then by end, then by likelihood; no two of them
 * give the same text, and each one gives a text that parses as well as the source does.
 */
export function listEdits(
  source: string,
  language: Language,
  options: ListEditsOptions = {},
): readonly Edit[] {
  const grammar = grammarOf(language);
  const tree = grammar.parse(source);
  const { ranges } = options;
  const inRange = (from: number) =>
    ranges === undefined || ranges.some((range) => range.from <= from && from < range.to);
  const lineAt = lineCounter(source);
  const found = new Map<string, Edit>();
  const scan: Scan = {
    text: source,
    grammar,
    tree,
    emit(operator, { from, to }, newText, description, weight = 1) {
      const oldText = source.slice(from, to);
      if (newText === oldText || !inRange(from) || grammar.never?.has(operator)) return;
      const key = canonicalKey(source, from, to, newText);
      const prior = Math.min(1, OPERATORS[operator].prior * weight);
      const known = found.get(key);
      if (known !== undefined && known.prior >= prior) return;
      found.set(key, {
        operator,
        from,
        to,
        oldText,
        newText,
        line: lineAt(from),
        description,
        prior,
      });
    },
  };
  const families = [
    comparison,
    arithmetic,
    boolean,
    constants,
    boundaries,
    callArguments,
    calls,
    createNames(),
    statements,
  ];
  const visit = (node: SyntaxNode): void => {
    // A place that the parser did not understand is not one to edit.
    if (node.type.isError || grammar.skipped.has(node.name)) return;
    const role = grammar.role(node);
    if (role !== undefined) for (const family of families) family(node, role, scan);
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      if (ranges === undefined || ranges.some((r) => r.from < child.to && child.from <= r.to)) {
        visit(child);
      }
    }
  };
  visit(tree.topNode);
  return [...found.values()].sort(
    (a, b) =>
      a.from - b.from || a.to - b.to || b.prior - a.prior || compareText(a.newText, b.newText),
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The same for all edits that give the same text: what differs, as far left as possible. */
function canonicalKey(source: string, from: number, to: number, newText: string): string {
  let [start, end, text] = [from, to, newText];
  while (start < end && text !== '' && source[start] === text[0]) {
    start += 1;
    text = text.slice(1);
  }
  while (start < end && text !== '' && source[end - 1] === text.at(-1)) {
    end -= 1;
    text = text.slice(0, -1);
  }
  if (start === end) {
    while (start > 0 && text !== '' && source[start - 1] === text.at(-1)) {
      start -= 1;
      end -= 1;
      text = text.at(-1) + text.slice(0, -1);
    }
  } else if (text === '') {
    while (start > 0 && source[start - 1] === source[end - 1]) {
      start -= 1;
      end -= 1;
    }
  }
  return `${start}:${end}:${text}`;
}

/** 1-based line of an offset. */
function lineCounter(source: string): (offset: number) => number {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1))
    starts.push(at + 1);
  return (offset) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
