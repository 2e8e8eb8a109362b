import type { SyntaxNode } from '@lezer/common';
import type { Language, TextRange } from './edit.ts';
import { grammarOf } from './grammars.ts';

/** A function of a source; `calls` are the names that its text calls or hands over. */
export interface FunctionOutline extends TextRange {
  /** undefined: it has none (a callback). */
  readonly name: string | undefined;
  readonly uses: ReadonlySet<string>;
}

export interface Outline {
  readonly functions: readonly FunctionOutline[];
  /** Names used outside of every function. */
  readonly topLevel: ReadonlySet<string>;
}

/** Functions in order of place; a nested one is part of its outer one as well. */
export function outlineOf(source: string, language: Language): Outline {
  const grammar = grammarOf(language);
  const functions: (FunctionOutline & { readonly uses: Set<string> })[] = [];
  const topLevel = new Set<string>();
  const visit = (node: SyntaxNode, around: readonly Set<string>[]): void => {
    let inner = around;
    const role = grammar.role(node);
    if (role === 'function') {
      const name = grammar.functionName(node);
      const uses = new Set<string>();
      functions.push({
        name: name === undefined ? undefined : source.slice(name.from, name.to),
        from: node.from,
        to: node.to,
        uses,
      });
      inner = [...around, uses];
    }
    if (role === 'variable' || role === 'property') {
      const text = source.slice(node.from, node.to);
      if (inner.length === 0) topLevel.add(text);
      for (const uses of inner) uses.add(text);
    }
    for (let child = node.firstChild; child !== null; child = child.nextSibling)
      visit(child, inner);
  };
  visit(grammar.parse(source).topNode, []);
  return { functions, topLevel };
}

/** Number of places that the (error-tolerant) parser could not understand. */
export function errorCount(source: string, language: Language): number {
  let count = 0;
  grammarOf(language)
    .parse(source)
    .iterate({
      enter(node) {
        if (node.type.isError) count += 1;
      },
    });
  return count;
}
