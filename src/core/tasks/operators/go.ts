import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/go';
import { type Converted, convertTree } from './convert.ts';
import { withSemicolons } from './go-text.ts';
import { childrenOf, type Grammar, pairs, type Role } from './grammar.ts';
import type { OperatorId } from './operator-table.ts';

const ROLES: Readonly<Record<string, Role>> = {
  BinaryExpression: 'binary',
  UnaryExpression: 'unary',
  UpdateStatement: 'update',
  AssignStatement: 'assignment',
  CallExpression: 'call',
  MemberExpression: 'member',
  ParenthesizedExpression: 'parenthesized',
  Number: 'number',
  String: 'string',
  Boolean: 'boolean',
  VariableName: 'variable',
  PropertyName: 'property',
  FunctionDeclaration: 'function',
  FunctionLiteral: 'function',
  Block: 'block',
  IfStatement: 'if',
  ForStatement: 'loop',
  RangeStatement: 'loop',
  ReturnStatement: 'return',
  BreakStatement: 'break',
  ContinueStatement: 'continue',
  VariableDeclaration: 'declaration',
  ExpressionStatement: 'expression-statement',
};

/** Names of the parser → those that the families know. */
const NAMES: Readonly<Record<string, string>> = {
  BinaryExp: 'BinaryExpression',
  UnaryExp: 'UnaryExpression',
  ParenthesizedExpr: 'ParenthesizedExpression',
  CallExpr: 'CallExpression',
  Arguments: 'ArgList',
  TypeArgs: 'TypeArgList',
  Parameters: 'ParamList',
  SelectorExpr: 'MemberExpression',
  IndexExpr: 'MemberExpression',
  SliceExpr: 'MemberExpression',
  DefName: 'VariableDefinition',
  Bool: 'Boolean',
  Assignment: 'AssignStatement',
  IncDecStatement: 'UpdateStatement',
  IncDecOp: 'ArithOp',
  ExprStatement: 'ExpressionStatement',
  FunctionDecl: 'FunctionDeclaration',
  MethodDecl: 'FunctionDeclaration',
  ImportDecl: 'ImportDeclaration',
  LabelName: 'Label',
  TypeSwitchStatement: 'SwitchStatement',
  SelectStatement: 'SwitchStatement',
  ForClause: 'ForSpec',
};

const JUMPS: Readonly<Record<string, string>> = {
  break: 'BreakStatement',
  continue: 'ContinueStatement',
};

const SKIPPED = new Set([
  'ImportDeclaration',
  'PackageClause',
  'TypeDecl',
  'StructType',
  'InterfaceType',
  'ArrayType',
  'SliceType',
  'MapType',
  'ChannelType',
  'FunctionType',
  'PointerType',
  'ParameterizedType',
  'ParenthesizedType',
  'QualifiedType',
  'TypeName',
  'TypeArgList',
  'TypeParams',
]);

/** What the compiler refuses, or what Go writes in another way. */
const NEVER: ReadonlySet<OperatorId> = new Set<OperatorId>([
  'return-add',
  'return-remove',
  'await-add',
  'await-remove',
  'call-unwrap',
  'argument-drop',
]);

export function goGrammar(): Grammar {
  return {
    kind: 'go',
    parse: (text) => convertTree(parser.parse(withSemicolons(text)), (node) => convert(node, text)),
    role: (node) => ROLES[node.name],
    skipped: SKIPPED,
    never: NEVER,
    negation: '!',
    comparisons: {
      'compare-boundary': pairs(['<', '<='], ['>', '>=']),
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
      ['&', '&^'],
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
    isDefinition: (node) => node.name === 'VariableDefinition' || node.name === 'MethodName',
    statements(node) {
      if (node.name !== 'Block') return undefined;
      return childrenOf(node).filter((child) => /(?:Statement|Declaration)$/.test(child.name));
    },
    functionName: (node) =>
      node.name === 'FunctionDeclaration'
        ? (node.getChild('VariableDefinition') ?? node.getChild('MethodName') ?? undefined)
        : undefined,
  };
}

function convert(node: SyntaxNode, text: string): Converted {
  const around = node.parent?.name ?? '';
  switch (node.name) {
    case 'FieldName':
      if (around === 'SelectorExpr') return { name: 'PropertyName' };
      return { name: around === 'MethodDecl' ? 'MethodName' : 'PropertyDefinition' };
    case 'VariableName':
      // A key of a literal is mostly a field's name.
      return around === 'Key' ? { name: 'PropertyDefinition' } : {};
    case 'GotoStatement':
      return { name: JUMPS[node.firstChild?.name ?? ''] ?? node.name };
    case 'VarDecl':
    case 'ConstDecl':
      // Of `if x := f(); x > 0`, a declaration that is no statement of its own.
      return { name: around === 'Block' ? 'VariableDeclaration' : 'Definition' };
    case 'UnaryExp':
      // `&x`, `*p` and `<-c` are no signs.
      return /^[-+!^]/.test(text.slice(node.from, node.from + 1))
        ? { name: 'UnaryExpression' }
        : { name: 'Reference' };
    case 'ForStatement': {
      const behind = text.slice(node.from + 'for'.length, childrenOf(node)[1]?.from ?? node.to);
      const isRange = node.getChild('RangeClause') !== null || /^\s*range\b/.test(behind);
      return isRange ? { name: 'RangeStatement' } : {};
    }
    default:
      return { name: NAMES[node.name] ?? node.name };
  }
}

function conditions(node: SyntaxNode): readonly SyntaxNode[] {
  if (node.name !== 'IfStatement' && node.name !== 'ForStatement') return [];
  const clause = node.getChild('ForSpec');
  if (clause !== null) {
    const parts = childrenOf(clause);
    const first = parts.findIndex(({ name }) => name === ';');
    const condition = parts[first + 1];
    return condition === undefined || condition.name === ';' ? [] : [condition];
  }
  // The condition stands before the block, behind a statement of its own where there is one.
  const parts = childrenOf(node);
  const block = parts.findIndex(({ name }) => name === 'Block');
  const condition = parts[block - 1];
  return condition === undefined || /^(?:if|for|;)$/.test(condition.name) ? [] : [condition];
}

/** Of the standard library and built in, each with what people take for it. */
const FUNCTIONS = pairs(
  ['min', 'max'],
  ['Min', 'Max'],
  ['len', 'cap'],
  ['Floor', 'Ceil'],
  ['Floor', 'Round'],
  ['Ceil', 'Round'],
  ['Floor', 'Trunc'],
  ['HasPrefix', 'HasSuffix'],
  ['Contains', 'HasPrefix'],
  ['ContainsAny', 'Contains'],
  ['CutPrefix', 'CutSuffix'],
  ['TrimPrefix', 'TrimSuffix'],
  ['TrimLeft', 'TrimRight'],
  ['TrimPrefix', 'TrimLeft'],
  ['TrimSuffix', 'TrimRight'],
  ['Trim', 'TrimLeft'],
  ['Trim', 'TrimRight'],
  ['ToUpper', 'ToLower'],
  ['IsUpper', 'IsLower'],
  ['IsLetter', 'IsDigit'],
  ['Index', 'LastIndex'],
  ['IndexByte', 'LastIndexByte'],
  ['IndexAny', 'LastIndexAny'],
  ['Split', 'Fields'],
  ['Split', 'SplitAfter'],
  ['Before', 'After'],
  ['Atoi', 'ParseInt'],
  ['Quote', 'Itoa'],
  ['Keys', 'Values'],
  ['Sprint', 'Sprintln'],
  ['Lock', 'RLock'],
  ['Unlock', 'RUnlock'],
  ['Front', 'Back'],
  ['PushFront', 'PushBack'],
  ['Hours', 'Minutes'],
  ['Minutes', 'Seconds'],
  ['YearDay', 'Day'],
);
