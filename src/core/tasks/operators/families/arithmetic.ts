import type { SyntaxNode } from '@lezer/common';
import {
  type BinaryParts,
  binaryParts,
  type Family,
  isAtom,
  precedence,
  precedenceOf,
  type Scan,
  textOf,
} from '../scan.ts';

export const arithmetic: Family = (node, role, scan) => {
  if (role === 'binary') {
    const parts = binaryParts(scan, node);
    if (parts === undefined || !scan.grammar.arithmetic.has(parts.operator)) return;
    replaceOperator(scan, parts);
    swapOperands(scan, parts);
    groupOperands(scan, parts);
  } else if (role === 'assignment') {
    compoundOperator(node, scan);
  } else if (role === 'update') {
    const operator = [node.firstChild, node.lastChild].find((child) => child?.name === 'ArithOp');
    if (operator === undefined || operator === null) return;
    const other = { '++': '--', '--': '++' }[textOf(scan, operator)];
    if (other !== undefined) {
      scan.emit('update-direction', operator, other, `${textOf(scan, operator)} becomes ${other}`);
    }
  } else if (role === 'unary') {
    removeSign(node, scan);
  } else {
    addSign(node, scan);
  }
};

function replaceOperator(scan: Scan, parts: BinaryParts): void {
  const strings = isText(scan, parts.left) || isText(scan, parts.right);
  if (strings) return;
  for (const other of scan.grammar.arithmetic.get(parts.operator) ?? []) {
    const next = scan.text[parts.to];
    // `a+-b` must not become `a--b`, nor `a*/x/` a comment.
    if (next !== undefined && '+-*/'.includes(next)) continue;
    if (other === '**' && !powerBase(scan, parts.left)) continue;
    scan.emit('arithmetic-operator', parts, other, `${parts.operator} becomes ${other}`);
  }
}

/** JavaScript forbids a sign in front of the base of `**`. */
function powerBase(scan: Scan, left: SyntaxNode): boolean {
  const base = scan.grammar.role(left) === 'binary' ? lastOperand(scan, left) : left;
  return isAtom(scan, base);
}

function lastOperand(scan: Scan, node: SyntaxNode): SyntaxNode {
  const right = binaryParts(scan, node)?.right;
  if (right === undefined) return node;
  return scan.grammar.role(right) === 'binary' ? lastOperand(scan, right) : right;
}

export function isText(scan: Scan, node: SyntaxNode): boolean {
  const role = scan.grammar.role(node);
  return (
    role === 'string' ||
    /^(?:TemplateString|FormatString|ContinuedString)$/.test(node.name) ||
    (role === 'binary' &&
      [node.firstChild, node.lastChild].some((child) => child !== null && isText(scan, child)))
  );
}

function swapOperands(scan: Scan, parts: BinaryParts): void {
  const { left, right, operator } = parts;
  const strings = isText(scan, left) || isText(scan, right);
  const commutes = /^(?:\+|\*|&|\||\^)$/.test(operator);
  if ((commutes && !(strings && operator === '+')) || operator === '@') return;
  if (operator === '%' && strings) return;
  // Operands that bind looser would need parentheses of their own.
  if (Math.min(precedenceOf(scan, left), precedenceOf(scan, right)) <= precedence(operator)) return;
  const [a, b] = [textOf(scan, left), textOf(scan, right)];
  const between = scan.text.slice(left.to, right.from);
  scan.emit(
    'operand-swap',
    { from: left.from, to: right.to },
    b + between + a,
    `operands of ${operator} swapped`,
  );
}

/** `a + b * c` and `(a + b) * c`. */
function groupOperands(scan: Scan, parts: BinaryParts): void {
  const { left, right, operator } = parts;
  if (isText(scan, left) || isText(scan, right)) return;
  if (scan.grammar.role(right) === 'binary') {
    const inner = binaryParts(scan, right);
    if (inner !== undefined && precedence(inner.operator) > precedence(operator)) {
      if (inner.operator === '**' || !scan.grammar.arithmetic.has(inner.operator)) return;
      if (scan.grammar.role(left) === 'binary') return;
      const range = { from: left.from, to: inner.left.to };
      scan.emit(
        'group-add',
        range,
        `(${scan.text.slice(range.from, range.to)})`,
        'parentheses added',
      );
    }
  } else if (scan.grammar.role(left) === 'binary') {
    const inner = binaryParts(scan, left);
    if (inner !== undefined && precedence(inner.operator) > precedence(operator)) {
      if (inner.operator === '**' || !scan.grammar.arithmetic.has(inner.operator)) return;
      const range = { from: inner.right.from, to: right.to };
      scan.emit(
        'group-add',
        range,
        `(${scan.text.slice(range.from, range.to)})`,
        'parentheses added',
      );
    }
  }
  for (const side of [left, right]) {
    if (scan.grammar.role(side) !== 'parenthesized') continue;
    const content = side.firstChild?.nextSibling;
    if (content === null || content === undefined) continue;
    const inner = binaryParts(scan, content);
    if (inner === undefined || !scan.grammar.arithmetic.has(inner.operator)) continue;
    if (scan.grammar.role(content) !== 'binary' || operator === '**') continue;
    if (precedence(inner.operator) >= precedence(operator)) continue;
    // Only what `group-add` makes: the parentheses touch their content, the other operand is plain.
    if (content.from !== side.from + 1 || content.to !== side.to - 1) continue;
    const outer = side === left ? right : left;
    const innermost = side === left ? inner.left : inner.right;
    if (!isAtom(scan, outer) || !isAtom(scan, innermost)) continue;
    const parent = scan.grammar.role(parts.left.parent?.parent ?? parts.left);
    if (parent === 'binary') continue;
    scan.emit('group-remove', side, textOf(scan, content), 'parentheses removed');
  }
}

function compoundOperator(node: SyntaxNode, scan: Scan): void {
  const parts = binaryParts(scan, node);
  if (parts === undefined) return;
  const role = scan.grammar.role(parts.left);
  if (role !== 'member' && role !== 'variable') return;
  if (node.getChild('TypeDef') !== null) return;
  for (const other of scan.grammar.compound.get(parts.operator) ?? []) {
    const plain = parts.operator === '=';
    // From `=` there are too many ways; `+=` and `-=` are what people forget.
    if (plain && other !== '+=' && other !== '-=' && other !== '*=') continue;
    if (plain && !scan.text.slice(0, parts.from).endsWith(' ')) continue;
    scan.emit(
      'compound-operator',
      parts,
      other,
      `${parts.operator} becomes ${other}`,
      plain ? 0.45 : other === '=' ? 0.6 : 1,
    );
  }
}

/** Where a sign is easily forgotten: results, values, arguments of arithmetic. */
function isSignPosition(node: SyntaxNode, scan: Scan): boolean {
  const parent = node.parent;
  if (parent === null) return false;
  const role = scan.grammar.role(parent);
  const before = node.prevSibling?.name;
  return (
    role === 'return' ||
    before === 'Arrow' ||
    (before === 'Equals' && parent.name === 'VariableDeclaration')
  );
}

function addSign(node: SyntaxNode, scan: Scan): void {
  const role = scan.grammar.role(node);
  if (role !== 'variable' && role !== 'member' && role !== 'call') return;
  if (!isSignPosition(node, scan)) return;
  scan.emit('sign-add', { from: node.from, to: node.from }, '-', 'sign added');
}

function removeSign(node: SyntaxNode, scan: Scan): void {
  const operand = node.lastChild;
  const sign = node.firstChild;
  if (operand === null || sign === null || textOf(scan, sign) !== '-') return;
  const role = scan.grammar.role(operand);
  if (role !== 'variable' && role !== 'member' && role !== 'call') return;
  if (operand.from !== sign.to || !isSignPosition(node, scan)) return;
  scan.emit('sign-remove', sign, '', 'sign removed');
}
