import type { SyntaxNode } from '@lezer/common';
import { sameNode } from '../grammar.ts';
import { binaryParts, type Family, isAtom, isComparison, type Scan, textOf } from '../scan.ts';

export const boolean: Family = (node, role, scan) => {
  if (role === 'binary') {
    const parts = binaryParts(scan, node);
    if (parts === undefined) return;
    for (const other of scan.grammar.booleans.get(parts.operator) ?? []) {
      if (
        other === '??' &&
        (mixes(scan, node.parent) || mixes(scan, parts.left) || mixes(scan, parts.right))
      )
        continue;
      if (parts.operator === '??' && coalesces(scan, node.parent, parts.left, parts.right))
        continue;
      if (other !== '??' && coalesces(scan, node.parent, parts.left, parts.right)) continue;
      scan.emit('boolean-operator', parts, other, `${parts.operator} becomes ${other}`);
    }
    if (scan.grammar.booleans.has(parts.operator)) {
      scan.emit(
        'boolean-drop',
        { from: parts.left.to, to: parts.right.to },
        '',
        `right side of ${parts.operator} dropped`,
      );
      scan.emit(
        'boolean-drop',
        { from: parts.left.from, to: parts.right.from },
        '',
        `left side of ${parts.operator} dropped`,
      );
    }
  }
  if (role === 'unary' && looseNegation(node, scan)) return;
  const position = truthPosition(node, scan);
  if (position === undefined) return;
  if (role === 'unary') removeNegation(node, position, scan);
  else addNegation(node, position, scan);
};

function operatorOf(scan: Scan, node: SyntaxNode | null): string {
  if (node === null || scan.grammar.role(node) !== 'binary') return '';
  return binaryParts(scan, node)?.operator ?? '';
}

/** `??` may not stand next to `&&` or `||` without parentheses. */
function mixes(scan: Scan, node: SyntaxNode | null): boolean {
  return /^(?:&&|\|\|)$/.test(operatorOf(scan, node));
}

function coalesces(scan: Scan, ...nodes: readonly (SyntaxNode | null)[]): boolean {
  return nodes.some((node) => operatorOf(scan, node) === '??');
}

/** `whole`: nothing around it binds (a condition, a returned value); `operand`: of and/or. */
type Position = 'whole' | 'operand' | undefined;

function truthPosition(node: SyntaxNode, scan: Scan): Position {
  const parent = node.parent;
  if (parent === null) return undefined;
  const role = scan.grammar.role(parent);
  if (role === 'if' || role === 'loop' || role === 'conditional') {
    if (scan.grammar.conditions(parent).some((condition) => sameNode(condition, node))) {
      return role === 'conditional' ? 'operand' : 'whole';
    }
    return undefined;
  }
  if (role === 'binary') {
    const operator = operatorOf(scan, parent);
    if (operator === '??' || !scan.grammar.booleans.has(operator)) return undefined;
    return 'operand';
  }
  if (role === 'return') return 'whole';
  if (role === 'parenthesized' && parent.parent !== null) {
    const holder = scan.grammar.role(parent.parent);
    if (holder === 'if' || (holder === 'loop' && parent.parent.name !== 'ForStatement')) {
      return scan.grammar.conditions(parent.parent).some((c) => sameNode(c, node))
        ? 'whole'
        : undefined;
    }
  }
  if (parent.name === 'ForSpec' && parent.parent !== null) {
    return scan.grammar.conditions(parent.parent).some((c) => sameNode(c, node))
      ? 'whole'
      : undefined;
  }
  if (node.prevSibling?.name === 'Arrow') return 'operand';
  return undefined;
}

/**
 * The parser reads `not a and b` as `not (a and b)`; Python does not. The word belongs to the first
 * operand, and is removed from there.
 */
function looseNegation(node: SyntaxNode, scan: Scan): boolean {
  if (scan.grammar.negation !== 'not ') return false;
  let first = node.lastChild;
  if (first === null || !scan.grammar.booleans.has(operatorOf(scan, first))) return false;
  while (first?.firstChild && scan.grammar.booleans.has(operatorOf(scan, first))) {
    first = first.firstChild;
  }
  if (first !== null && isAtom(scan, first) && textOf(scan, node).startsWith('not ')) {
    const inner = first.firstChild?.nextSibling;
    const holdsComparison =
      scan.grammar.role(first) === 'parenthesized' && inner != null && isComparison(scan, inner);
    const literal = /^(?:number|string|boolean|null)$/.test(scan.grammar.role(first) ?? '');
    if (!holdsComparison && !literal && first.from === node.from + 4) {
      scan.emit('negation-remove', { from: node.from, to: first.from }, '', 'negation removed');
    }
  }
  return true;
}

function addNegation(node: SyntaxNode, position: Position, scan: Scan): void {
  const role = scan.grammar.role(node);
  if (role === undefined || role === 'block' || isComparison(scan, node)) return;
  if (role === 'number' || role === 'string' || role === 'boolean' || role === 'null') return;
  const returned = node.parent !== null && scan.grammar.role(node.parent) === 'return';
  const weight = returned ? 0.3 : 1;
  const { negation } = scan.grammar;
  if (role === 'parenthesized') {
    if (position === 'whole') return;
    scan.emit(
      'negation-add',
      { from: node.from, to: node.from },
      negation,
      'negation added',
      weight,
    );
  } else if (isAtom(scan, node)) {
    scan.emit(
      'negation-add',
      { from: node.from, to: node.from },
      negation,
      'negation added',
      weight,
    );
  } else if (role === 'binary' && position === 'whole') {
    scan.emit('negation-add', node, `${negation}(${textOf(scan, node)})`, 'negation added', weight);
  }
}

function removeNegation(node: SyntaxNode, position: Position, scan: Scan): void {
  const operand = node.lastChild;
  const { negation } = scan.grammar;
  if (operand === null || scan.text.slice(node.from, operand.from) !== negation) return;
  const inner = operand.firstChild?.nextSibling;
  if (scan.grammar.role(operand) === 'parenthesized' && inner !== null && inner !== undefined) {
    if (isComparison(scan, inner)) return;
    const whole = position === 'whole' && scan.grammar.role(inner) === 'binary';
    if (position === 'whole' && !whole) return;
    if (whole && (inner.from !== operand.from + 1 || inner.to !== operand.to - 1)) return;
    if (whole) {
      scan.emit('negation-remove', node, textOf(scan, inner), 'negation removed');
      return;
    }
  } else if (!isAtom(scan, operand)) return;
  scan.emit('negation-remove', { from: node.from, to: operand.from }, '', 'negation removed');
}
