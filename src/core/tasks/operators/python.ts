import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';
import { childrenOf, type Grammar, pairs, type Role } from './grammar.ts';

const ROLES: Readonly<Record<string, Role>> = {
  BinaryExpression: 'binary',
  UnaryExpression: 'unary',
  AssignStatement: 'assignment',
  UpdateStatement: 'assignment',
  CallExpression: 'call',
  MemberExpression: 'member',
  ParenthesizedExpression: 'parenthesized',
  ConditionalExpression: 'conditional',
  AwaitExpression: 'await',
  Number: 'number',
  String: 'string',
  Boolean: 'boolean',
  None: 'null',
  VariableName: 'variable',
  PropertyName: 'property',
  FunctionDefinition: 'function',
  LambdaExpression: 'function',
  Body: 'block',
  Script: 'block',
  IfStatement: 'if',
  ForStatement: 'loop',
  WhileStatement: 'loop',
  ReturnStatement: 'return',
  BreakStatement: 'break',
  ContinueStatement: 'continue',
  ExpressionStatement: 'expression-statement',
};

const SKIPPED = new Set([
  'ImportStatement',
  'TypeDef',
  'Decorator',
  'ScopeStatement',
  'MatchClause',
]);
// The body of a `case` holds behaviour; its pattern is skipped by name instead.
SKIPPED.delete('MatchClause');
for (const name of [
  'LiteralPattern',
  'CapturePattern',
  'ClassPattern',
  'SequencePattern',
  'MappingPattern',
  'OrPattern',
  'AsPattern',
  'StarPattern',
  'AttributePattern',
]) {
  SKIPPED.add(name);
}

const STATEMENT = /Statement$|Definition$/;

export function pythonGrammar(): Grammar {
  return {
    kind: 'python',
    parse: (text) => parser.parse(text),
    role: (node) => ROLES[node.name],
    skipped: SKIPPED,
    negation: 'not ',
    comparisons: {
      'compare-boundary': pairs(['<', '<='], ['>', '>=']),
      'compare-direction': pairs(['<', '>'], ['<=', '>=']),
      'compare-negate': pairs(
        ['==', '!='],
        ['<', '>='],
        ['>', '<='],
        ['in', 'not in'],
        ['is', 'is not'],
      ),
      'compare-kind': pairs(['is', '=='], ['is not', '!=']),
    },
    arithmetic: pairs(
      ['+', '-'],
      ['*', '/'],
      ['/', '//'],
      ['//', '%'],
      ['+', '*'],
      ['*', '**'],
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
      ['/=', '//='],
      ['|=', '&='],
    ),
    booleans: pairs(['and', 'or']),
    literals: pairs(['True', 'False']),
    conditions,
    ternary(node) {
      const [yes, , test, , no] = childrenOf(node);
      if (test === undefined || yes === undefined || no === undefined) return undefined;
      return { test, yes, no };
    },
    isReference: (node) => node.name === 'VariableName' && kindOf(node) === 'reference',
    isDefinition: (node) => node.name === 'VariableName' && kindOf(node) === 'definition',
    statements(node) {
      if (node.name !== 'Body' && node.name !== 'Script') return undefined;
      return childrenOf(node).filter((child) => STATEMENT.test(child.name));
    },
    functionName: (node) =>
      node.name === 'FunctionDefinition' ? (node.getChild('VariableName') ?? undefined) : undefined,
  };
}

function kindOf(node: SyntaxNode): 'definition' | 'reference' | 'other' {
  const parent = node.parent;
  if (parent === null) return 'other';
  const before = node.prevSibling?.name;
  const after = node.nextSibling?.name;
  switch (parent.name) {
    case 'FunctionDefinition':
    case 'ClassDefinition':
      return 'definition';
    case 'ParamList':
      return before === 'AssignOp' ? 'reference' : 'definition';
    case 'ArgList':
      return after === 'AssignOp' ? 'other' : 'reference';
    case 'AssignStatement':
      return isTarget(node, 'AssignOp') ? 'definition' : 'reference';
    case 'ForStatement':
    case 'ArrayComprehensionExpression':
    case 'ComprehensionExpression':
    case 'SetComprehensionExpression':
    case 'DictionaryComprehensionExpression':
      return isBetween(node, 'for', 'in') ? 'definition' : 'reference';
    case 'WithStatement':
    case 'TryStatement':
      return before === 'as' ? 'definition' : 'reference';
    case 'NamedExpression':
      return before === undefined ? 'definition' : 'reference';
    case 'TupleExpression': {
      const owner = parent.parent;
      if (owner === null) return 'reference';
      const target =
        owner.name === 'AssignStatement'
          ? isTarget(parent, 'AssignOp')
          : isBetween(parent, 'for', 'in');
      return target ? 'definition' : 'reference';
    }
    case 'ScopeStatement':
    case 'ImportStatement':
    case 'DeleteStatement':
      return 'other';
    default:
      return 'reference';
  }
}

/** Before the last `=` of an assignment. */
function isTarget(node: SyntaxNode, operator: string): boolean {
  for (let next = node.nextSibling; next !== null; next = next.nextSibling) {
    if (next.name === operator) return true;
  }
  return false;
}

function isBetween(node: SyntaxNode, open: string, close: string): boolean {
  let before = node.prevSibling;
  while (before !== null && before.name !== open && before.name !== close) {
    before = before.prevSibling;
  }
  return before?.name === open;
}

function conditions(node: SyntaxNode): readonly SyntaxNode[] {
  if (node.name === 'ConditionalExpression') {
    const test = childrenOf(node)[2];
    return test === undefined ? [] : [test];
  }
  if (node.name !== 'IfStatement' && node.name !== 'WhileStatement') return [];
  return childrenOf(node).filter((child) =>
    /^(?:if|elif|while)$/.test(child.prevSibling?.name ?? ''),
  );
}
