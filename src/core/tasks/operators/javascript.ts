import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/javascript';
import { childrenOf, type Grammar, pairs, type Role } from './grammar.ts';

const ROLES: Readonly<Record<string, Role>> = {
  BinaryExpression: 'binary',
  UnaryExpression: 'unary',
  PostfixExpression: 'update',
  AssignmentExpression: 'assignment',
  CallExpression: 'call',
  NewExpression: 'new',
  MemberExpression: 'member',
  ParenthesizedExpression: 'parenthesized',
  ConditionalExpression: 'conditional',
  AwaitExpression: 'await',
  Number: 'number',
  String: 'string',
  BooleanLiteral: 'boolean',
  null: 'null',
  RegExp: 'regexp',
  VariableName: 'variable',
  PropertyName: 'property',
  PrivatePropertyName: 'property',
  FunctionDeclaration: 'function',
  FunctionExpression: 'function',
  ArrowFunction: 'function',
  MethodDeclaration: 'function',
  Block: 'block',
  Script: 'block',
  IfStatement: 'if',
  ForStatement: 'loop',
  WhileStatement: 'loop',
  DoStatement: 'loop',
  ReturnStatement: 'return',
  BreakStatement: 'break',
  ContinueStatement: 'continue',
  VariableDeclaration: 'declaration',
  ExpressionStatement: 'expression-statement',
};

const SKIPPED = new Set([
  'ImportDeclaration',
  'ExportGroup',
  'TypeAnnotation',
  'TypeArgList',
  'TypeParamList',
  'TypeAliasDeclaration',
  'InterfaceDeclaration',
  'AmbientDeclaration',
  'AmbientFunctionDeclaration',
  'Decorator',
  'JSXOpenTag',
  'JSXCloseTag',
]);
// JSX attributes hold behaviour; only the tag's own name must stay.
SKIPPED.delete('JSXOpenTag');

const STATEMENT_END = /(?:Statement|Declaration)$/;

export function javascriptGrammar(dialect: string): Grammar {
  const configured = parser.configure({ dialect });
  return {
    kind: 'javascript',
    parse: (text) => configured.parse(text),
    role: roleOf,
    skipped: SKIPPED,
    negation: '!',
    comparisons: {
      'compare-boundary': pairs(['<', '<='], ['>', '>=']),
      'compare-direction': pairs(['<', '>'], ['<=', '>=']),
      'compare-negate': pairs(['===', '!=='], ['==', '!='], ['<', '>='], ['>', '<=']),
      'compare-kind': pairs(['==', '==='], ['!=', '!==']),
    },
    arithmetic: pairs(
      ['+', '-'],
      ['*', '/'],
      ['/', '%'],
      ['+', '*'],
      ['*', '**'],
      ['<<', '>>'],
      ['>>', '>>>'],
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
      ['||=', '??='],
      ['&&=', '||='],
      ['|=', '&='],
      ['<<=', '>>='],
    ),
    booleans: pairs(['&&', '||'], ['||', '??']),
    literals: pairs(['true', 'false'], ['null', 'undefined']),
    conditions,
    ternary(node) {
      const [test, , yes, , no] = childrenOf(node);
      if (test === undefined || yes === undefined || no === undefined) return undefined;
      return { test, yes, no };
    },
    isReference: (node) => node.name === 'VariableName',
    isDefinition: (node) => node.name === 'VariableDefinition',
    statements(node) {
      if (node.name !== 'Block' && node.name !== 'Script') return undefined;
      return childrenOf(node).filter((child) => STATEMENT_END.test(child.name));
    },
    functionName(node) {
      if (node.name === 'ArrowFunction') return ownerName(node);
      const own = childrenOf(node).find(
        (child) =>
          child.name === 'VariableDefinition' ||
          child.name === 'PropertyDefinition' ||
          child.name === 'PrivatePropertyDefinition',
      );
      return own ?? ownerName(node);
    },
  };
}

function roleOf(node: SyntaxNode): Role | undefined {
  if (node.name === 'UnaryExpression') {
    return node.firstChild?.name === 'ArithOp' && node.firstChild.to - node.firstChild.from === 2
      ? 'update'
      : 'unary';
  }
  if (node.name === 'Property' && node.getChild('ParamList') !== null) return 'function';
  return ROLES[node.name];
}

/** `const f = () => …`, `f: function () …`, `this.f = () => …`: the name that the function is given. */
function ownerName(node: SyntaxNode): SyntaxNode | undefined {
  const before = node.prevSibling;
  if (before === null || (before.name !== 'Equals' && before.name !== ':')) return undefined;
  let name = before.prevSibling;
  if (name?.name === 'TypeAnnotation') name = name.prevSibling;
  if (name === null) return undefined;
  if (name.name === 'MemberExpression') return name.lastChild ?? undefined;
  return /^(?:VariableDefinition|PropertyDefinition|PrivatePropertyDefinition|VariableName)$/.test(
    name.name,
  )
    ? name
    : undefined;
}

function conditions(node: SyntaxNode): readonly SyntaxNode[] {
  switch (node.name) {
    case 'IfStatement':
    case 'WhileStatement':
    case 'DoStatement': {
      const inner = node.getChild('ParenthesizedExpression')?.firstChild?.nextSibling;
      return inner === null || inner === undefined || inner.type.isError ? [] : [inner];
    }
    case 'ForStatement': {
      const spec = node.getChild('ForSpec');
      const middle = spec === null ? undefined : childrenOf(spec).filter((c) => c.name !== '(')[1];
      return middle !== undefined && /Expression$|^VariableName$/.test(middle.name) ? [middle] : [];
    }
    case 'ConditionalExpression':
      return node.firstChild === null ? [] : [node.firstChild];
    default:
      return [];
  }
}
