import type { SyntaxNode } from '@lezer/common';
import { childrenOf } from '../grammar.ts';
import {
  argumentsOf,
  binaryParts,
  calleeName,
  type Family,
  isComparison,
  precedence,
  type Scan,
  textOf,
} from '../scan.ts';

const SLICES = /^(?:slice|substring|substr|subarray)$/;
const INDEX_CALLS =
  /^(?:slice|substring|substr|subarray|range|splice|charAt|charCodeAt|at|padStart|padEnd|repeat|fill|setDate|setMonth)$/;

export const boundaries: Family = (node, role, scan) => {
  const weight = positionWeight(node, scan);
  if (weight > 0) {
    if (isBase(node, scan)) {
      const counts = /length$|size$|count$|^len\(/i.test(textOf(scan, node)) ? 1.6 : 1;
      for (const step of [' - 1', ' + 1']) {
        scan.emit(
          'offset-add',
          { from: node.to, to: node.to },
          step,
          `${step.trim()} added`,
          weight * counts,
        );
      }
    }
    if (role === 'binary') {
      const parts = binaryParts(scan, node);
      const step = parts === undefined ? '' : scan.text.slice(parts.left.to, parts.right.to);
      if (parts !== undefined && /^ [-+] 1$/.test(step) && isBase(parts.left, scan)) {
        scan.emit(
          'offset-remove',
          { from: parts.left.to, to: node.to },
          '',
          `${step.trim()} removed`,
        );
      }
    }
  }
  if (role === 'call') sliceCall(node, scan);
  if (role === 'member') slice(node, scan);
};

/** An expression to which `+ 1` can be added without parentheses, and makes sense. */
function isBase(node: SyntaxNode, scan: Scan): boolean {
  const role = scan.grammar.role(node);
  if (role === 'variable') return !/^(?:undefined|NaN|Infinity|self|cls)$/.test(textOf(scan, node));
  if (role === 'member' || role === 'call' || role === 'parenthesized') return true;
  if (role !== 'binary') return false;
  const parts = binaryParts(scan, node);
  if (parts === undefined || !scan.grammar.arithmetic.has(parts.operator)) return false;
  return precedence(parts.operator) >= 7 && scan.grammar.role(parts.right) !== 'string';
}

/** 0: no place where being off by one is likely. */
function positionWeight(node: SyntaxNode, scan: Scan): number {
  const parent = node.parent;
  if (parent === null) return 0;
  switch (scan.grammar.role(parent)) {
    case 'member':
      return node.prevSibling?.name === '[' || node.prevSibling?.name === ':'
        ? 1
        : isSliceStart(node)
          ? 1
          : 0;
    case 'binary':
      if (parent.name === 'RangeExpression') return node.nextSibling === null ? 0.8 : 0.3;
      return isComparison(scan, parent) && /^[<>]/.test(binaryParts(scan, parent)?.operator ?? '')
        ? 0.8
        : 0;
    case 'return':
      return 0.35;
    case 'declaration':
    case 'assignment':
      return parent.lastChild?.from === node.from || node.prevSibling?.name === 'Equals' ? 0.3 : 0;
    default:
      break;
  }
  if (parent.name !== 'ArgList' || parent.parent === null) return 0;
  if (node.nextSibling?.name === 'AssignOp' || /^[*]/.test(node.prevSibling?.name ?? '')) return 0;
  const name = calleeName(parent.parent);
  if (name === undefined) return 0;
  return INDEX_CALLS.test(textOf(scan, name)) ? 1 : 0.25;
}

function isSliceStart(node: SyntaxNode): boolean {
  return node.nextSibling?.name === ':';
}

function sliceCall(node: SyntaxNode, scan: Scan): void {
  const name = calleeName(node);
  const list = argumentsOf(node);
  if (name === undefined || list === undefined || !SLICES.test(textOf(scan, name))) return;
  const [first, second] = list;
  if (first !== undefined && list.length === 1 && textOf(scan, name) !== 'substring') {
    scan.emit('slice-bound-add', { from: first.to, to: first.to }, ', -1', 'end -1 added');
  }
  if (first !== undefined && second !== undefined) {
    const end = scan.text.slice(first.to, second.to);
    if (end === ', -1')
      scan.emit('slice-bound-remove', { from: first.to, to: second.to }, '', 'end removed');
  }
}

/** Python's `s[a:b]`. */
function slice(node: SyntaxNode, scan: Scan): void {
  if (scan.grammar.kind !== 'python') return;
  const children = childrenOf(node);
  const colons = children.filter((child) => child.name === ':');
  const [colon] = colons;
  const close = children.at(-1);
  if (colon === undefined || colons.length !== 1 || close?.name !== ']') return;
  if (children.some((child) => child.name === ',')) return;
  if (close.from === colon.to) {
    scan.emit('slice-bound-add', { from: colon.to, to: colon.to }, '-1', 'end -1 added');
  } else if (scan.text.slice(colon.to, close.from) === '-1') {
    scan.emit('slice-bound-remove', { from: colon.to, to: close.from }, '', 'end removed');
  }
}
