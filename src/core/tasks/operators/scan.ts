import type { SyntaxNode, Tree } from '@lezer/common';
import { childrenOf, type Grammar, type Role } from './grammar.ts';
import type { OperatorId } from './operator-table.ts';

/** One pass over one source, as the families see it. */
export interface Scan {
  readonly text: string;
  readonly grammar: Grammar;
  readonly tree: Tree;
  /** @param weight factor on the operator's base likelihood. */
  emit(
    operator: OperatorId,
    range: { readonly from: number; readonly to: number },
    newText: string,
    description: string,
    weight?: number,
  ): void;
}

/** A family looks at one node and emits the edits that start there. */
export type Family = (node: SyntaxNode, role: Role, scan: Scan) => void;

export function textOf(scan: { readonly text: string }, node: SyntaxNode): string {
  return scan.text.slice(node.from, node.to);
}

export interface BinaryParts {
  readonly left: SyntaxNode;
  readonly right: SyntaxNode;
  /** Place of the operator, which may have two words (`not in`). */
  readonly from: number;
  readonly to: number;
  readonly operator: string;
}

/** Parts of a binary expression or of an assignment with one operator. */
export function binaryParts(scan: Scan, node: SyntaxNode): BinaryParts | undefined {
  const children = childrenOf(node);
  const left = children[0];
  const right = children.at(-1);
  const first = children[1];
  const last = children.at(-2);
  if (left === undefined || right === undefined || first === undefined || last === undefined) {
    return undefined;
  }
  if (children.length < 3 || children.length > 4) return undefined;
  const operator = scan.text.slice(first.from, last.to);
  return { left, right, from: first.from, to: last.to, operator };
}

const PRECEDENCE: Readonly<Record<string, number>> = {
  '**': 9,
  '*': 8,
  '/': 8,
  '//': 8,
  '%': 8,
  '@': 8,
  '+': 7,
  '-': 7,
  '<<': 6,
  '>>': 6,
  '>>>': 6,
  '&&': 2,
  and: 2,
  '||': 1,
  or: 1,
  '??': 1,
};

/** Only for operators that the families combine; everything unknown binds like a comparison. */
export function precedence(operator: string): number {
  return PRECEDENCE[operator] ?? 4;
}

/** Atoms bind tighter than every operator. */
export function precedenceOf(scan: Scan, node: SyntaxNode): number {
  const role = scan.grammar.role(node);
  if (role === 'binary') return precedence(binaryParts(scan, node)?.operator ?? '');
  return isAtom(scan, node) ? 20 : 0;
}

export function isAtom(scan: Scan, node: SyntaxNode): boolean {
  switch (scan.grammar.role(node)) {
    case 'call':
    case 'member':
    case 'variable':
    case 'parenthesized':
    case 'number':
    case 'string':
    case 'boolean':
    case 'null':
      return true;
    default:
      return (
        node.name === 'this' || node.name === 'TemplateString' || node.name === 'ArrayExpression'
      );
  }
}

export function isComparison(scan: Scan, node: SyntaxNode): boolean {
  if (scan.grammar.role(node) !== 'binary') return false;
  const operator = binaryParts(scan, node)?.operator ?? '';
  return scan.grammar.comparisons['compare-negate'].has(operator);
}

/** Positional arguments of a call; undefined where an argument is spread or the list is odd. */
export function argumentsOf(call: SyntaxNode): readonly SyntaxNode[] | undefined {
  const list = call.getChild('ArgList');
  if (list === null) return undefined;
  const found: SyntaxNode[] = [];
  let expectComma = false;
  for (const child of childrenOf(list).slice(1, -1)) {
    const isComma = child.name === ',';
    if (isComma !== expectComma) return undefined;
    if (!isComma) found.push(child);
    expectComma = !isComma;
  }
  return found;
}

/** The name that is called: `f` of `f(x)`, `m` of `a.b.m(x)`. */
export function calleeName(call: SyntaxNode): SyntaxNode | undefined {
  const callee = call.firstChild;
  if (callee === null) return undefined;
  if (callee.name === 'VariableName') return callee;
  const last = callee.lastChild;
  return callee.name === 'MemberExpression' && last?.name === 'PropertyName' ? last : undefined;
}

export function receiverOf(call: SyntaxNode): SyntaxNode | undefined {
  const callee = call.firstChild;
  return callee?.name === 'MemberExpression' ? (callee.firstChild ?? undefined) : undefined;
}
/** A string literal's parts, where it is a plain one. */
export function stringParts(
  text: string,
): { readonly open: string; readonly body: string; readonly close: string } | undefined {
  const found = /^([A-Za-z]{0,2})("""|'''|"|')([\s\S]*)\2$/.exec(text);
  const prefix = found?.[1];
  const quote = found?.[2];
  const body = found?.[3];
  if (prefix === undefined || quote === undefined || body === undefined) return undefined;
  return { open: prefix + quote, body, close: quote };
}
