import type { SyntaxNode } from '@lezer/common';
import type { Family, Scan } from '../scan.ts';
import { stringParts, textOf } from '../scan.ts';

export const constants: Family = (node, role, scan) => {
  if (role === 'number') numbers(node, scan);
  else if (role === 'string') strings(node, scan);
  else if (role === 'boolean' || role === 'null' || role === 'variable') {
    const text = textOf(scan, node);
    if (role === 'variable' && text !== 'undefined') return;
    for (const other of scan.grammar.literals.get(text) ?? []) {
      const operator = role === 'boolean' ? 'boolean-literal' : 'null-literal';
      scan.emit(operator, node, other, `${text} becomes ${other}`);
    }
  }
};

function numbers(node: SyntaxNode, scan: Scan): void {
  const text = textOf(scan, node);
  const parent = node.parent;
  if (parent === null) return;
  // `1.5.toFixed()` and keys of objects cannot take a sign.
  const isKey =
    (parent.name === 'Property' ||
      parent.name === 'PatternProperty' ||
      parent.name === 'PropertyDeclaration') &&
    parent.firstChild?.from === node.from;
  const isReceiver =
    scan.grammar.role(parent) === 'member' && parent.firstChild?.from === node.from;
  if (isKey || isReceiver || parent.name === 'LiteralType') return;
  const sign = parent.firstChild;
  const signed =
    scan.grammar.role(parent) === 'unary' &&
    sign !== null &&
    textOf(scan, sign) === '-' &&
    sign.to === node.from;
  if (scan.grammar.role(parent) === 'unary' && !signed) return;
  const range = signed ? parent : node;
  const inPower = [parent, parent.parent].some(
    (around) =>
      around !== null && around.getChild('ArithOp') !== null && /\*\*/.test(textOf(scan, around)),
  );
  // After `-` or a sign a minus of its own would become `--`.
  const mayBeNegative =
    !inPower && !/[-+]$/.test(scan.text.slice(Math.max(0, range.from - 1), range.from));
  const replace = (
    operator: 'integer-step' | 'number-sign' | 'number-scale',
    value: string,
    weight = 1,
  ) => {
    if (value.startsWith('-') && !mayBeNegative) return;
    scan.emit(
      operator,
      range,
      value,
      `${scan.text.slice(range.from, range.to)} becomes ${value}`,
      weight,
    );
  };
  if (!/^(?:0|[1-9]\d{0,14})$/.test(text)) {
    const decimal = /^(\d{1,6})\.(\d{1,6})$/.exec(text);
    if (decimal !== null && !signed && mayBeNegative) replace('number-sign', `-${text}`, 0.5);
    if (decimal !== null && signed) replace('number-sign', text, 0.5);
    return;
  }
  const value = signed ? -Number(text) : Number(text);
  // `-0` is a literal of its own.
  if (signed && value === 0) return;
  // Small numbers are boundaries; large ones seldom are off by one.
  const weight = Math.abs(value) <= 2 ? 1 : Math.abs(value) <= 12 ? 0.6 : 0.3;
  replace('integer-step', String(value - 1), value === 0 ? 0.5 : weight);
  replace('integer-step', String(value + 1), weight);
  if (value !== 0) replace('number-sign', String(-value), Math.abs(value) === 1 ? 1 : 0.4);
  for (const factor of [10, 100]) {
    if (Math.abs(value) >= 1 && Math.abs(value) <= 1e6)
      replace('number-scale', String(value * factor), value === 1 ? 0.2 : 0.6);
    if (value !== 0 && value % factor === 0) replace('number-scale', String(value / factor), 1);
  }
}

/** Separators by what people confuse; every set is symmetric. */
const SEPARATORS: readonly (readonly string[])[] = [
  [',', ', ', ';', ' '],
  ['-', '_', ' ', ''],
  ['/', '\\\\', '.'],
  [':', ': ', '='],
  ['\\n', ' ', '\\n\\n', ''],
  ['\\n', '\\r\\n'],
  ['\\t', ' '],
  ['|', ' | ', ','],
  ['&', '?', '&&'],
  ['asc', 'desc'],
  ['0', ' '],
];

function strings(node: SyntaxNode, scan: Scan): void {
  const parts = stringParts(textOf(scan, node));
  const parent = node.parent;
  if (parts === undefined || parent === null || parts.close.length !== 1) return;
  // Directives, docstrings and what is glued to a neighbour.
  if (scan.grammar.role(parent) === 'expression-statement' || parent.name === 'ContinuedString')
    return;
  if (/^(?:Property|PatternProperty)$/.test(parent.name) && parent.firstChild?.from === node.from)
    return;
  if (parent.name === 'LiteralType' || /[rbf]/i.test(parts.open)) return;
  if (/Import|Export/.test(parent.name) || isModuleName(node, scan)) return;
  const { open, body, close } = parts;
  const range = { from: node.from + open.length, to: node.to - close.length };
  if (body === '') scan.emit('string-blank', range, ' ', 'empty string becomes a space');
  if (body === ' ') scan.emit('string-blank', range, '', 'space becomes an empty string');
  const seen = new Set([body, body === '' ? ' ' : body === ' ' ? '' : body]);
  for (const set of SEPARATORS) {
    if (!set.includes(body)) continue;
    for (const other of set) {
      if (seen.has(other)) continue;
      seen.add(other);
      scan.emit(
        'string-separator',
        range,
        other,
        `"${body}" becomes "${other}"`,
        body === '' ? 0.4 : 1,
      );
    }
  }
  if (body.length < 3 || body.length > 60 || seen.size > 1 || /\\$/.test(body)) return;
  if (/\w \w|[:,] ?$/.test(body)) {
    const end = { from: range.to, to: range.to };
    if (body.endsWith(' '))
      scan.emit('string-end-space', { from: range.to - 1, to: range.to }, '', 'last space removed');
    else scan.emit('string-end-space', end, ' ', 'space added at the end', 0.5);
  }
}

function isModuleName(node: SyntaxNode, scan: Scan): boolean {
  const call = node.parent?.parent;
  const callee = call?.firstChild;
  if (callee === null || callee === undefined) return false;
  return /^(?:require|import)$/.test(textOf(scan, callee));
}
