import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/rust';
import { type Converted, convertTree } from './convert.ts';
import { childrenOf, type Grammar, pairs, type Role } from './grammar.ts';
import type { OperatorId } from './operator-table.ts';

const ROLES: Readonly<Record<string, Role>> = {
  BinaryExpression: 'binary',
  RangeExpression: 'binary',
  UnaryExpression: 'unary',
  AssignmentExpression: 'assignment',
  CallExpression: 'call',
  MemberExpression: 'member',
  ParenthesizedExpression: 'parenthesized',
  AwaitExpression: 'await',
  String: 'string',
  Boolean: 'boolean',
  VariableName: 'variable',
  PropertyName: 'property',
  FunctionDeclaration: 'function',
  ClosureExpression: 'function',
  Block: 'block',
  IfStatement: 'if',
  ForStatement: 'loop',
  WhileStatement: 'loop',
  ReturnStatement: 'return',
  TailExpression: 'return',
  ContinueStatement: 'continue',
  VariableDeclaration: 'declaration',
  ExpressionStatement: 'expression-statement',
};

/** Names of the parser → those that the families know. */
const NAMES: Readonly<Record<string, string>> = {
  FieldExpression: 'MemberExpression',
  IndexExpression: 'MemberExpression',
  ScopedIdentifier: 'MemberExpression',
  FunctionItem: 'FunctionDeclaration',
  IfExpression: 'IfStatement',
  ForExpression: 'ForStatement',
  WhileExpression: 'WhileStatement',
  LoopExpression: 'WhileStatement',
  MatchExpression: 'MatchStatement',
  ReturnExpression: 'ReturnStatement',
  BreakExpression: 'BreakStatement',
  ContinueExpression: 'ContinueStatement',
  UseDeclaration: 'ImportDeclaration',
  LoopLabel: 'Label',
  Lifetime: 'Label',
  Integer: 'Number',
  Float: 'Number',
};

const SKIPPED = new Set([
  'ImportDeclaration',
  'Attribute',
  'InnerAttribute',
  'TestItem',
  'ArrayType',
  'TypeArgList',
  'TypeParamList',
  'WhereClause',
  'StructItem',
  'EnumItem',
  'UnionItem',
  'TypeItem',
  'MacroDefinition',
]);

/** Items that are compiled for tests only. */
const OF_TESTS =
  /^#!?\s*\[\s*(?:cfg\s*\((?=[\s\S]*\btest\b)|(?:\w+\s*::\s*)*(?:test|rstest|test_case|quickcheck|proptest|bench)\b)/;

/** Expressions that stand as statements without a semicolon. */
const COMPOUND = /^(?:If|For|While|Loop|Match)Expression$|^(?:Unsafe)?Block$/;

/** What the compiler refuses, or what Rust writes in another way. */
const NEVER: ReadonlySet<OperatorId> = new Set<OperatorId>([
  'return-add',
  'return-remove',
  'await-add',
  'await-remove',
  'sign-add',
  'sign-remove',
  'call-unwrap',
  'argument-drop',
]);

export function rustGrammar(): Grammar {
  return {
    kind: 'rust',
    parse: (text) => convertTree(parser.parse(text), (node) => convert(node, text)),
    role: roleOf,
    skipped: SKIPPED,
    never: NEVER,
    negation: '!',
    comparisons: {
      'compare-boundary': pairs(['<', '<='], ['>', '>='], ['..', '..=']),
      'compare-direction': pairs(['<', '>'], ['<=', '>=']),
      'compare-negate': pairs(['==', '!='], ['<', '>='], ['>', '<=']),
      'compare-kind': pairs(),
    },
    arithmetic: pairs(
      ['+', '-'],
      ['*', '/'],
      ['/', '%'],
      ['+', '*'],
      ['<<', '>>'],
      ['&', '|'],
      ['|', '^'],
    ),
    compound: pairs(
      ['+=', '-='],
      ['+=', '='],
      ['-=', '='],
      ['*=', '/='],
      ['*=', '+='],
      ['*=', '='],
      ['|=', '&='],
      ['<<=', '>>='],
    ),
    booleans: pairs(['&&', '||']),
    literals: pairs(['true', 'false']),
    functions: FUNCTIONS,
    conditions,
    ternary: () => undefined,
    isReference: (node) => node.name === 'VariableName',
    isDefinition: (node) => node.name === 'VariableDefinition',
    statements(node) {
      if (node.name !== 'Block') return undefined;
      return childrenOf(node).filter((child) => /(?:Statement|Declaration)$/.test(child.name));
    },
    functionName: (node) =>
      node.name === 'FunctionDeclaration'
        ? (node.getChild('VariableDefinition') ?? undefined)
        : undefined,
  };
}

function roleOf(node: SyntaxNode): Role | undefined {
  // `x.0` is a field, and `break value` cannot become `continue`.
  if (node.name === 'Number')
    return node.parent?.name === 'MemberExpression' && node.prevSibling?.name !== '['
      ? undefined
      : 'number';
  if (node.name === 'BreakStatement') {
    return childrenOf(node).every((child) => child.name === 'break' || child.name === 'Label')
      ? 'break'
      : undefined;
  }
  return ROLES[node.name];
}

function convert(node: SyntaxNode, text: string): Converted {
  const around = node.parent?.name ?? '';
  switch (node.name) {
    case 'Identifier':
      if (around === 'ScopedIdentifier') return { name: 'PropertyName' };
      if (around === 'ShorthandFieldInitializer') return { name: 'PropertyDefinition' };
      if (around === 'MacroInvocation' || around === 'MetaItem') return { name: 'MacroName' };
      // What a macro is given is not parsed: fields and methods look like names there.
      return {
        name:
          /Tokens$/.test(around) && /(?<!\.)\.$/.test(text.slice(node.from - 2, node.from))
            ? 'PropertyName'
            : 'VariableName',
      };
    case 'FieldIdentifier':
      return { name: around === 'FieldExpression' ? 'PropertyName' : 'PropertyDefinition' };
    case 'AttributeItem': {
      const isTest = node
        .getChildren('Attribute')
        .some(({ from, to }) => OF_TESTS.test(text.slice(from, to)));
      return isTest ? { name: 'TestItem', leaf: true } : {};
    }
    case 'BoundIdentifier':
      return { name: around === 'ModItem' ? 'ModuleName' : 'VariableDefinition' };
    case 'ExpressionStatement': {
      const { firstChild, lastChild } = node;
      if (lastChild?.name === ';' || firstChild === null) return {};
      if (COMPOUND.test(firstChild.name)) return { inner: firstChild };
      return { name: 'TailExpression' };
    }
    case 'MacroInvocation':
      return node.lastChild?.name === ';' ? { name: 'ExpressionStatement' } : {};
    case 'LetDeclaration':
      return { name: around === 'Block' ? 'VariableDeclaration' : 'LetCondition' };
    case 'RangeExpression': {
      const [left, right] = childrenOf(node);
      if (left === undefined || right === undefined || right.name === '..') return {};
      const at = text.indexOf('..=', left.to);
      if (at < 0 || at >= right.from) return {};
      return { leaves: [{ name: 'RangeOp', from: at, to: at + 3 }] };
    }
    default:
      return { name: NAMES[node.name] ?? node.name };
  }
}

function conditions(node: SyntaxNode): readonly SyntaxNode[] {
  if (node.name !== 'IfStatement' && node.name !== 'WhileStatement') return [];
  const condition = childrenOf(node)[1];
  if (condition === undefined || /^(?:Block|LetCondition|LetChain)$/.test(condition.name))
    return [];
  return [condition];
}

/** Of the standard library, each with what people take for it. */
const FUNCTIONS = pairs(
  ['min', 'max'],
  ['min_by_key', 'max_by_key'],
  ['min_by', 'max_by'],
  ['floor', 'ceil'],
  ['floor', 'round'],
  ['ceil', 'round'],
  ['floor', 'trunc'],
  ['starts_with', 'ends_with'],
  ['contains', 'starts_with'],
  ['strip_prefix', 'strip_suffix'],
  ['trim_start', 'trim_end'],
  ['trim', 'trim_start'],
  ['trim', 'trim_end'],
  ['to_uppercase', 'to_lowercase'],
  ['to_ascii_uppercase', 'to_ascii_lowercase'],
  ['is_uppercase', 'is_lowercase'],
  ['is_alphabetic', 'is_alphanumeric'],
  ['is_numeric', 'is_alphanumeric'],
  ['is_ascii_digit', 'is_ascii_alphanumeric'],
  ['find', 'rfind'],
  ['position', 'rposition'],
  ['split_once', 'rsplit_once'],
  ['splitn', 'rsplitn'],
  ['any', 'all'],
  ['first', 'last'],
  ['take', 'skip'],
  ['take_while', 'skip_while'],
  ['sum', 'product'],
  ['push_front', 'push_back'],
  ['pop_front', 'pop_back'],
  ['keys', 'values'],
  ['is_some', 'is_none'],
  ['is_ok', 'is_err'],
  ['is_lt', 'is_le'],
  ['is_gt', 'is_ge'],
  ['union', 'intersection'],
  ['is_subset', 'is_superset'],
  ['saturating_add', 'saturating_sub'],
  ['wrapping_add', 'wrapping_sub'],
  ['checked_add', 'checked_sub'],
  ['checked_mul', 'checked_div'],
  ['div_euclid', 'rem_euclid'],
  ['is_positive', 'is_negative'],
  ['chunks', 'windows'],
  ['append', 'extend'],
  ['and', 'or'],
  ['sort', 'reverse'],
  ['count_ones', 'count_zeros'],
);
