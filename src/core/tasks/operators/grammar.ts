import type { SyntaxNode, Tree } from '@lezer/common';
import type { OperatorId } from './operator-table.ts';

/** What a node is, whatever the language calls it. */
export type Role =
  | 'binary'
  | 'unary'
  | 'update'
  | 'assignment'
  | 'call'
  | 'new'
  | 'member'
  | 'parenthesized'
  | 'conditional'
  | 'await'
  | 'number'
  | 'string'
  | 'boolean'
  | 'null'
  | 'regexp'
  | 'variable'
  | 'property'
  | 'function'
  | 'block'
  | 'if'
  | 'loop'
  | 'return'
  | 'break'
  | 'continue'
  | 'declaration'
  | 'expression-statement';

export interface Ternary {
  readonly test: SyntaxNode;
  readonly yes: SyntaxNode;
  readonly no: SyntaxNode;
}

/** One language. A further one is one more file like `python.ts`. */
export interface Grammar {
  readonly kind: 'javascript' | 'python' | 'rust' | 'go';
  parse(text: string): Tree;
  role(node: SyntaxNode): Role | undefined;
  /** Subtrees without behaviour or out of bounds: types, imports, decorators. */
  readonly skipped: ReadonlySet<string>;
  /** Operators that this language has no use for. */
  readonly never?: ReadonlySet<OperatorId>;
  readonly negation: '!' | 'not ';
  /** Operators that may take each other's place, by operator id. Symmetric. */
  readonly comparisons: OperatorPairs;
  readonly arithmetic: ReadonlyMap<string, readonly string[]>;
  readonly compound: ReadonlyMap<string, readonly string[]>;
  readonly booleans: ReadonlyMap<string, readonly string[]>;
  /** Literals that may take each other's place. */
  readonly literals: ReadonlyMap<string, readonly string[]>;
  /** Functions of libraries that may take each other's place. */
  readonly functions?: ReadonlyMap<string, readonly string[]>;
  /** Expressions that are only asked for truth, of a node of role `if`, `loop` or `conditional`. */
  conditions(node: SyntaxNode): readonly SyntaxNode[];
  ternary(node: SyntaxNode): Ternary | undefined;
  /** A use of a name as a value: neither a definition, a keyword argument nor a type. */
  isReference(node: SyntaxNode): boolean;
  /** The node defines the name that it spells: parameter, local, loop variable, function. */
  isDefinition(node: SyntaxNode): boolean;
  /** Statements of a block in order; undefined for other nodes. */
  statements(node: SyntaxNode): readonly SyntaxNode[] | undefined;
  /** Name of a function node, where it has one of its own. */
  functionName(node: SyntaxNode): SyntaxNode | undefined;
}

export type OperatorPairs = Readonly<
  Record<
    'compare-boundary' | 'compare-direction' | 'compare-negate' | 'compare-kind',
    ReadonlyMap<string, readonly string[]>
  >
>;

/** A symmetric table from pairs. */
export function pairs(
  ...list: readonly (readonly [string, string])[]
): ReadonlyMap<string, readonly string[]> {
  const table = new Map<string, string[]>();
  const add = (from: string, to: string) => {
    const known = table.get(from);
    if (known === undefined) table.set(from, [to]);
    else if (!known.includes(to)) known.push(to);
  };
  for (const [a, b] of list) {
    add(a, b);
    add(b, a);
  }
  return table;
}

/** Children without comments and without the parser's error marks. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const list: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (!child.type.isError && !child.name.endsWith('Comment') && child.name !== 'Comment') {
      list.push(child);
    }
  }
  return list;
}

export function sameNode(a: SyntaxNode | null, b: SyntaxNode | null): boolean {
  return a !== null && b !== null && a.from === b.from && a.to === b.to && a.name === b.name;
}
