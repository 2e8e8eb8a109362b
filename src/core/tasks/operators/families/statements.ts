import type { SyntaxNode } from '@lezer/common';
import { childrenOf } from '../grammar.ts';
import { type Family, isAtom, type Scan, textOf } from '../scan.ts';

export const statements: Family = (node, role, scan) => {
  switch (role) {
    case 'block':
      block(node, scan);
      return;
    case 'break':
    case 'continue': {
      const word = node.firstChild;
      const other = role === 'break' ? 'continue' : 'break';
      if (word === null || childrenOf(node).some((child) => child.name === 'Label')) return;
      if (inLoop(node, scan)) scan.emit('break-continue', word, other, `${role} becomes ${other}`);
      return;
    }
    case 'conditional': {
      const parts = scan.grammar.ternary(node);
      if (parts === undefined) return;
      const [yes, no] = [textOf(scan, parts.yes), textOf(scan, parts.no)];
      const nests = scan.grammar.role(parts.no) === 'conditional';
      if (yes === no || nests || parts.no.from < parts.yes.to) return;
      if (scan.grammar.kind === 'python' && /Lambda/.test(parts.no.name)) return;
      const between = scan.text.slice(parts.yes.to, parts.no.from);
      scan.emit(
        'branch-swap',
        { from: parts.yes.from, to: parts.no.to },
        no + between + yes,
        'branches swapped',
      );
      return;
    }
    case 'return':
      removeReturn(node, scan);
      return;
    case 'await': {
      const [word, value] = childrenOf(node);
      if (word === undefined || value === undefined || scan.grammar.role(value) !== 'call') return;
      if (
        scan.text.slice(word.from, value.from) !== 'await ' ||
        (node.from > 0 &&
          scan.text[node.from - 1] === '(' &&
          node.parent?.parent?.name === 'MemberExpression')
      )
        return;
      scan.emit('await-remove', { from: node.from, to: value.from }, '', 'await left out');
      return;
    }
    case 'call':
      addAwait(node, scan);
      addNew(node, scan);
      return;
    case 'new': {
      const callee = childrenOf(node)[1];
      if (
        callee?.name === 'VariableName' &&
        /^[A-Z]/.test(textOf(scan, callee)) &&
        node.getChild('ArgList') !== null
      ) {
        if (scan.text.slice(node.from, callee.from) === 'new ') {
          scan.emit('new-remove', { from: node.from, to: callee.from }, '', 'new left out');
        }
      }
      return;
    }
    case 'declaration': {
      const word = node.firstChild;
      if (word === null || scan.grammar.kind !== 'javascript') return;
      const other = { var: 'let', let: 'var' }[textOf(scan, word)];
      if (other !== undefined)
        scan.emit('declaration-kind', word, other, `${textOf(scan, word)} becomes ${other}`);
      return;
    }
    case 'function':
      mutableDefaults(node, scan);
      return;
    default:
      return;
  }
};

function inLoop(node: SyntaxNode, scan: Scan): boolean {
  for (let at = node.parent; at !== null; at = at.parent) {
    if (at.name === 'SwitchStatement' || scan.grammar.role(at) === 'function') return false;
    if (scan.grammar.role(at) === 'loop') return true;
  }
  return false;
}

/** The innermost function around a node; undefined at the top of the file. */
function functionAround(node: SyntaxNode, scan: Scan): SyntaxNode | undefined {
  for (let at = node.parent; at !== null; at = at.parent) {
    if (scan.grammar.role(at) === 'function') return at;
    if (/^Class(?:Body|Definition)$/.test(at.name)) return undefined;
  }
  return undefined;
}

function addAwait(node: SyntaxNode, scan: Scan): void {
  const around = functionAround(node, scan);
  const parent = node.parent;
  if (around === undefined || parent === null || around.getChild('async') === null) return;
  // The signature itself cannot wait.
  if (node.from < (around.lastChild?.from ?? 0)) return;
  const role = scan.grammar.role(parent);
  if (role === 'await' || role === 'member' || role === 'call' || role === 'new') return;
  if (/^(?:ArrayComprehension|Comprehension|Spread|YieldStatement|Decorator)/.test(parent.name))
    return;
  scan.emit('await-add', { from: node.from, to: node.from }, 'await ', 'await added');
}

function addNew(node: SyntaxNode, scan: Scan): void {
  const callee = node.firstChild;
  if (scan.grammar.kind !== 'javascript' || callee?.name !== 'VariableName') return;
  if (/^(?:String|Number|Boolean|Symbol|BigInt)$/.test(textOf(scan, callee))) return;
  if (/^[A-Z][a-z]/.test(textOf(scan, callee)) && callee.nextSibling?.name === 'ArgList') {
    scan.emit('new-add', { from: node.from, to: node.from }, 'new ', 'new added');
  }
}

function removeReturn(node: SyntaxNode, scan: Scan): void {
  const value = childrenOf(node)[1];
  if (value === undefined || !/^(?:CallExpression|AwaitExpression)$/.test(value.name)) return;
  if (scan.text.slice(node.from, value.from) !== 'return ') return;
  const holder = node.parent;
  if (holder === null || scan.grammar.statements(holder)?.at(-1)?.from !== node.from) return;
  scan.emit('return-remove', { from: node.from, to: value.from }, '', 'return left out');
}

/** A statement that stands alone on its lines; only such ones are moved. */
interface Line {
  readonly node: SyntaxNode;
  /** Start of the first line and end of the last one, without the line break. */
  readonly from: number;
  readonly to: number;
  readonly indent: string;
}

/** Python's compound statements take the line break behind them along. */
function endOf(node: SyntaxNode, scan: Scan): number {
  return node.from + textOf(scan, node).trimEnd().length;
}

function lineOf(node: SyntaxNode, scan: Scan): Line | undefined {
  const from = scan.text.lastIndexOf('\n', node.from - 1) + 1;
  const end = endOf(node, scan);
  const next = scan.text.indexOf('\n', end);
  let to = next < 0 ? scan.text.length : next;
  if (scan.text[to - 1] === '\r') to -= 1;
  const indent = scan.text.slice(from, node.from);
  if (indent.trim() !== '' || scan.text.slice(end, to).trim() !== '') return undefined;
  return { node, from, to: Math.max(end, to), indent };
}

const MOVABLE =
  /^(?:ExpressionStatement|AssignStatement|UpdateStatement|VariableDeclaration|ReturnStatement|IfStatement|DeleteStatement)$/;

function block(node: SyntaxNode, scan: Scan): void {
  const list = scan.grammar.statements(node);
  if (list === undefined || functionAroundOrSelf(node, scan) === undefined) return;
  for (const [index, statement] of list.entries()) {
    addReturn(statement, index === list.length - 1, scan);
    const line = lineOf(statement, scan);
    if (line === undefined) continue;
    remove(line, list, scan);
    const after = list[index + 1];
    if (after !== undefined) {
      swap(line, after, scan);
      moveIn(line, after, scan);
    }
    moveOut(line, list.length - 1 === index ? undefined : after, scan);
  }
}

function functionAroundOrSelf(node: SyntaxNode, scan: Scan): SyntaxNode | undefined {
  return functionAround(node, scan);
}

function addReturn(statement: SyntaxNode, isLast: boolean, scan: Scan): void {
  if (statement.name !== 'ExpressionStatement' || !isLast) return;
  const value = statement.firstChild;
  if (
    value === null ||
    scan.grammar.role(value) === 'string' ||
    scan.grammar.role(value) === 'assignment'
  )
    return;
  if (
    /^(?:YieldStatement|YieldExpression|update)$/.test(value.name) ||
    scan.grammar.role(value) === 'update'
  )
    return;
  scan.emit(
    'return-add',
    { from: statement.from, to: statement.from },
    'return ',
    'return added',
    isAtom(scan, value) || value.name === 'AwaitExpression' ? 1 : 0.8,
  );
}

function remove(line: Line, list: readonly SyntaxNode[], scan: Scan): void {
  const { node } = line;
  const movable =
    MOVABLE.test(node.name) || /^(?:Break|Continue|Raise|Throw)Statement$/.test(node.name);
  if (!movable || (node.firstChild !== null && scan.grammar.role(node.firstChild) === 'string'))
    return;
  const weight = node.name === 'VariableDeclaration' || node.name === 'ReturnStatement' ? 0.4 : 1;
  if (scan.grammar.kind === 'python' && list.length === 1) {
    scan.emit('statement-remove', node, 'pass', 'statement left out', weight);
    return;
  }
  const end = scan.text.indexOf('\n', line.to);
  if (end < 0) return;
  scan.emit('statement-remove', { from: line.from, to: end + 1 }, '', 'statement left out', weight);
}

const SWAPPABLE =
  /^(?:ExpressionStatement|AssignStatement|UpdateStatement|VariableDeclaration|IfStatement)$/;

function swap(line: Line, after: SyntaxNode, scan: Scan): void {
  if (!SWAPPABLE.test(line.node.name) || !SWAPPABLE.test(after.name)) return;
  const next = lineOf(after, scan);
  if (next === undefined || next.indent !== line.indent) return;
  if (
    [line.node, after].some(
      (node) => node.firstChild !== null && scan.grammar.role(node.firstChild) === 'string',
    )
  )
    return;
  const [a, b] = [line.node, after].map((node) => textOf(scan, node).trimEnd()) as [string, string];
  if (a === b || a.length + b.length > 600 || needsSemicolon(a, scan) || needsSemicolon(b, scan))
    return;
  // Comments between the two stay where they are.
  const between = scan.text.slice(endOf(line.node, scan), after.from);
  scan.emit(
    'statement-swap',
    { from: line.node.from, to: endOf(after, scan) },
    b + between + a,
    'neighbouring statements swapped',
    line.node.name === 'IfStatement' || after.name === 'IfStatement' ? 1 : 0.5,
  );
}

/** Without semicolons the next line may continue the statement in its new place. */
function needsSemicolon(text: string, scan: Scan): boolean {
  return (scan.grammar.kind === 'javascript' && !/[;}]$/.test(text)) || /^[([`/+-]/.test(text);
}

/** The block that a compound statement ends with, and how deep its statements stand. */
function lastBlock(node: SyntaxNode, scan: Scan): SyntaxNode | undefined {
  const role = scan.grammar.role(node);
  if (role !== 'if' && role !== 'loop') return undefined;
  const last = node.lastChild;
  return last !== null && scan.grammar.role(last) === 'block' ? last : undefined;
}

const UNIT = /^(?: {2,8}|\t)$/;

/** `line` ends with a block: its last statement moves behind it. */
function moveOut(line: Line, after: SyntaxNode | undefined, scan: Scan): void {
  const inner = lastBlock(line.node, scan);
  const list = inner === undefined ? undefined : scan.grammar.statements(inner);
  const last = list?.at(-1);
  if (inner === undefined || last === undefined || list === undefined || list.length < 2) return;
  const moved = lineOf(last, scan);
  if (moved === undefined || !MOVABLE.test(last.name) || textOf(scan, last).includes('\n')) return;
  if (!moved.indent.startsWith(line.indent) || !UNIT.test(moved.indent.slice(line.indent.length)))
    return;
  if (last.name === 'ReturnStatement' && after !== undefined) return;
  if (last.name === 'VariableDeclaration') return;
  const text = textOf(scan, last);
  if (needsSemicolon(text, scan)) return;
  if (scan.grammar.kind === 'python') {
    if (endOf(last, scan) !== endOf(line.node, scan)) return;
    scan.emit(
      'statement-out',
      { from: moved.from, to: last.from },
      line.indent,
      'statement moved out of the block',
    );
    return;
  }
  const closing = scan.text.slice(endOf(last, scan), endOf(line.node, scan));
  if (!/^\r?\n[ \t]*\}$/.test(closing)) return;
  const lineBreak = closing.startsWith('\r') ? '\r\n' : '\n';
  const from = scan.text.lastIndexOf('\n', moved.from - 1);
  const start = scan.text[from - 1] === '\r' ? from - 1 : from;
  scan.emit(
    'statement-out',
    { from: start, to: endOf(line.node, scan) },
    closing + lineBreak + line.indent + text,
    'statement moved out of the block',
  );
}

/** `line` ends with a block: the statement behind it becomes its last one. */
function moveIn(line: Line, after: SyntaxNode, scan: Scan): void {
  const inner = lastBlock(line.node, scan);
  const list = inner === undefined ? undefined : scan.grammar.statements(inner);
  const last = list?.at(-1);
  const moved = lineOf(after, scan);
  if (
    inner === undefined ||
    last === undefined ||
    moved === undefined ||
    moved.indent !== line.indent
  )
    return;
  const lastLine = lineOf(last, scan);
  if (lastLine === undefined || !MOVABLE.test(after.name) || textOf(scan, after).includes('\n'))
    return;
  if (after.name === 'VariableDeclaration') return;
  if (
    !lastLine.indent.startsWith(line.indent) ||
    !UNIT.test(lastLine.indent.slice(line.indent.length))
  )
    return;
  const text = textOf(scan, after);
  if (
    needsSemicolon(text, scan) ||
    /^(?:Return|Break|Continue|Raise|Throw)Statement$/.test(last.name)
  )
    return;
  if (!/^\r?\n[ \t]*$/.test(scan.text.slice(endOf(line.node, scan), after.from))) return;
  if (scan.grammar.kind === 'python') {
    if (endOf(last, scan) !== endOf(line.node, scan)) return;
    scan.emit(
      'statement-in',
      { from: moved.from, to: after.from },
      lastLine.indent,
      'statement moved into the block',
    );
    return;
  }
  const closing = scan.text.slice(endOf(last, scan), endOf(line.node, scan));
  if (!/^\r?\n[ \t]*\}$/.test(closing)) return;
  const lineBreak = closing.startsWith('\r') ? '\r\n' : '\n';
  scan.emit(
    'statement-in',
    { from: endOf(last, scan), to: endOf(after, scan) },
    lineBreak + lastLine.indent + text + closing,
    'statement moved into the block',
  );
}

/** Python evaluates a default once: `[]` is shared by all calls. */
function mutableDefaults(node: SyntaxNode, scan: Scan): void {
  if (node.name !== 'FunctionDefinition') return;
  const parameters = node.getChild('ParamList');
  const body = node.getChild('Body');
  if (parameters === null || body === null) return;
  const own = scan.grammar.statements(body) ?? [];
  const isDocstring =
    own[0]?.firstChild != null && scan.grammar.role(own[0].firstChild) === 'string';
  const first = own[isDocstring ? 1 : 0];
  const line = first === undefined ? undefined : lineOf(first, scan);
  if (first === undefined || line === undefined) return;
  for (const value of childrenOf(parameters)) {
    if (value.prevSibling?.name !== 'AssignOp') continue;
    const text = textOf(scan, value);
    if (!/^(?:\[\]|\{\}|set\(\)|list\(\)|dict\(\))$/.test(text)) continue;
    const before = value.prevSibling.prevSibling;
    const name = before?.name === 'TypeDef' ? before.prevSibling : before;
    if (name === null || name === undefined) continue;
    const parameter = textOf(scan, name);
    const deeper = line.indent.includes('\t') ? '\t' : '    ';
    scan.emit(
      'mutable-default',
      { from: value.from, to: first.from },
      `None${scan.text.slice(value.to, first.from)}if ${parameter} is None:\n${line.indent}${deeper}${parameter} = ${text}\n${line.indent}`,
      `a fresh ${text} for ${parameter} at every call`,
    );
  }
}
