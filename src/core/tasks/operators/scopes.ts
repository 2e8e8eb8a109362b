import type { SyntaxNode, Tree } from '@lezer/common';
import type { Grammar } from './grammar.ts';

/** Names that one function (or the file) defines itself, with where each is first defined. */
export interface Scope {
  readonly node: SyntaxNode;
  readonly names: ReadonlyMap<string, { readonly from: number; readonly kind: NameKind }>;
  readonly parent: Scope | undefined;
}

export type NameKind = 'parameter' | 'local' | 'function' | 'import';

export interface Names {
  scopeAt(node: SyntaxNode): Scope | undefined;
  /** Property names by the text of their receiver, called ones apart, in order of appearance. */
  readonly properties: ReadonlyMap<string, ReadonlySet<string>>;
  readonly methods: ReadonlyMap<string, ReadonlySet<string>>;
  /** Keys of object literals, patterns and classes of the file. */
  readonly keys: ReadonlySet<string>;
}

interface MutableScope extends Scope {
  readonly names: Map<string, { from: number; kind: NameKind }>;
}

export function collectNames(text: string, tree: Tree, grammar: Grammar): Names {
  const root: MutableScope = { node: tree.topNode, names: new Map(), parent: undefined };
  const scopes = new Map<number, MutableScope>([[-1, root]]);
  const properties = new Map<string, Set<string>>();
  const methods = new Map<string, Set<string>>();
  const keys = new Set<string>();

  const visit = (node: SyntaxNode, scope: MutableScope): void => {
    let inner = scope;
    if (node.name === 'TypeAnnotation' || node.name === 'TypeDef') return;
    const role = grammar.role(node);
    if (node.name === 'ImportDeclaration' || node.name === 'ImportStatement') {
      collectImports(node, text, scope);
      return;
    }
    if (role === 'function') {
      inner = { node, names: new Map(), parent: scope };
      scopes.set(node.from, inner);
    }
    if (role === 'property' && node.parent !== null && grammar.role(node.parent) === 'member') {
      const receiver = node.parent.firstChild;
      if (receiver !== null && receiver.to - receiver.from < 60) {
        const isMethod = node.parent.nextSibling?.name === 'ArgList';
        add(
          isMethod ? methods : properties,
          text.slice(receiver.from, receiver.to),
          text.slice(node.from, node.to),
        );
      }
    }
    if (/^(?:PropertyDefinition|PrivatePropertyDefinition)$/.test(node.name)) {
      const key = text.slice(node.from, node.to);
      if (node.parent?.getChild('ParamList') == null) keys.add(key);
      else add(methods, 'this', key);
    }
    if (grammar.isDefinition(node)) {
      const isFunctionName =
        node.parent !== null &&
        (grammar.role(node.parent) === 'function' || /^Class/.test(node.parent.name));
      // A function's own name belongs to the scope around it; a class has no scope of its own here.
      const isNested =
        isFunctionName && scope.parent !== undefined && scope.node.from === node.parent?.from;
      const ownScope = isNested && scope.parent !== undefined ? scope.parent : scope;
      const target = (isFunctionName ? ownScope : scope) as MutableScope;
      const name = text.slice(node.from, node.to);
      if (isFunctionName && node.parent?.parent?.parent?.name === 'ClassDefinition') {
        add(methods, 'self', name);
      } else if (isClassAttribute(node)) {
        add(properties, 'self', name);
      } else if (!target.names.has(name)) {
        const kind: NameKind = isFunctionName
          ? 'function'
          : node.parent?.name === 'ParamList' || isInParameters(node)
            ? 'parameter'
            : 'local';
        target.names.set(name, { from: startOfUse(node), kind });
      }
    }
    for (let child = node.firstChild; child !== null; child = child.nextSibling)
      visit(child, inner);
  };
  visit(tree.topNode, root);

  return {
    scopeAt(node) {
      for (let at: SyntaxNode | null = node; at !== null; at = at.parent) {
        if (grammar.role(at) === 'function') {
          const scope = scopes.get(at.from);
          if (scope !== undefined) return scope;
        }
      }
      return root;
    },
    properties,
    methods,
    keys,
  };
}

function collectImports(node: SyntaxNode, text: string, scope: MutableScope): void {
  const isPython = node.name === 'ImportStatement';
  let afterImport = !isPython;
  const visit = (at: SyntaxNode): void => {
    if (at.name === 'import') afterImport = true;
    const isName = at.name === 'VariableDefinition' || (isPython && at.name === 'VariableName');
    if (
      isName &&
      afterImport &&
      at.nextSibling?.name !== 'as' &&
      at.nextSibling?.name !== '.' &&
      at.prevSibling?.name !== '.'
    ) {
      scope.names.set(text.slice(at.from, at.to), { from: at.from, kind: 'import' });
    }
    for (let child = at.firstChild; child !== null; child = child.nextSibling) visit(child);
  };
  visit(node);
}

/** `x = 1` in the body of a Python class is no variable of its methods. */
function isClassAttribute(node: SyntaxNode): boolean {
  return (
    node.parent?.name === 'AssignStatement' &&
    node.parent.parent?.parent?.name === 'ClassDefinition'
  );
}

/** The variable of a comprehension is defined behind the expression that uses it. */
function startOfUse(node: SyntaxNode): number {
  let from = node.from;
  for (let at = node.parent; at !== null; at = at.parent) {
    if (/Comprehension/.test(at.name)) from = at.from;
    if (at.name === 'Body' || at.name === 'Script') break;
  }
  return from;
}

function isInParameters(node: SyntaxNode): boolean {
  for (let at = node.parent; at !== null; at = at.parent) {
    if (at.name === 'ParamList') return true;
    if (at.name === 'Block' || at.name === 'VariableDeclaration') return false;
  }
  return false;
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}
