import type { SyntaxNode } from '@lezer/common';
import { type Family, type Scan, textOf } from '../scan.ts';
import { collectNames, type Names, type Scope } from '../scopes.ts';
import { isCalled } from './calls.ts';

/** A fresh family per source, because it looks at the whole source once. */
export function createNames(): Family {
  let known: { scan: Scan; names: Names } | undefined;
  return (node, role, scan) => {
    if (role !== 'variable' && role !== 'property') return;
    if (known?.scan !== scan)
      known = { scan, names: collectNames(scan.text, scan.tree, scan.grammar) };
    if (role === 'variable') variable(node, scan, known.names);
    else property(node, scan, known.names);
  };
}

function variable(node: SyntaxNode, scan: Scan, names: Names): void {
  if (!scan.grammar.isReference(node)) return;
  const text = textOf(scan, node);
  if (text === 'undefined' || text === 'self' || text === 'cls' || text === 'super') return;
  const called = isCalled(node);
  const inner = names.scopeAt(node);
  const own = lookUp(inner, text);
  // A global of the language (Math, len): other names seldom are meant.
  if (own === undefined) return;
  // Used before it is defined (a closure, a hoisted name): what else fits cannot be told.
  const atHome = inner !== undefined && inner.names.get(text) === own;
  if (atHome && own.kind === 'local' && isTooEarly(node, own.from, scan)) return;
  const wasCallable = own.kind === 'function' || own.kind === 'import';
  let distance = 0;
  for (let scope = inner; scope !== undefined; scope = scope.parent) {
    for (const [name, defined] of scope.names) {
      if (name === text || name === 'self' || name === 'cls') continue;
      if (lookUp(inner, name) !== defined) continue;
      const isCallable = defined.kind === 'function' || defined.kind === 'import';
      if (isCallable !== wasCallable) continue;
      if (called && isTypeName(name) !== isTypeName(text)) continue;
      if (scope === inner && defined.kind === 'local' && isTooEarly(node, defined.from, scan))
        continue;
      const outermost = scope.parent === undefined && inner?.parent !== undefined;
      const weight =
        (0.5 + similarity(text, name) * 0.6) *
        (defined.kind === own.kind ? 1 : 0.85) *
        (outermost && !wasCallable ? 0.4 : 0.85 ** distance);
      scan.emit(
        called ? 'callee-replace' : 'variable-replace',
        node,
        name,
        `${text} becomes ${name}`,
        weight,
      );
    }
    distance += 1;
  }
}

/** Not yet defined where it would be used (its own initializer included). */
function isTooEarly(node: SyntaxNode, from: number, scan: Scan): boolean {
  return from > node.from || initializes(node, from, scan);
}

function lookUp(scope: Scope | undefined, name: string) {
  for (let at = scope; at !== undefined; at = at.parent) {
    const found = at.names.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isTypeName(name: string): boolean {
  return /^[A-Z][a-z]/.test(name);
}

/** The definition at `from` is of the very statement that the reference is part of. */
function initializes(node: SyntaxNode, from: number, scan: Scan): boolean {
  for (let at: SyntaxNode | null = node; at !== null; at = at.parent) {
    const role = scan.grammar.role(at);
    if (role === 'declaration' || role === 'assignment') return at.from <= from && from < at.to;
    if (role === 'block' || role === 'function') return false;
  }
  return false;
}

function property(node: SyntaxNode, scan: Scan, names: Names): void {
  const member = node.parent;
  const receiver = member?.firstChild;
  if (member === null || receiver === null || receiver === undefined) return;
  if (scan.grammar.role(member) !== 'member') return;
  const text = textOf(scan, node);
  const object = textOf(scan, receiver);
  const called = isCalled(node);
  const seen = (called ? names.methods : names.properties).get(object) ?? new Set<string>();
  if (called && seen.size < 2 && object !== 'this' && object !== 'self') return;
  const candidates = new Map<string, number>();
  for (const name of seen) candidates.set(name, 1);
  if (!called && !/^[A-Z]/.test(object) && names.keys.has(text)) {
    for (const name of names.keys) if (!candidates.has(name)) candidates.set(name, 0.6);
  }
  candidates.delete(text);
  for (const [name, weight] of candidates) {
    if (name.startsWith('#') !== text.startsWith('#')) continue;
    const alike = 0.5 + similarity(text, name) * 0.6;
    scan.emit(
      'property-replace',
      node,
      name,
      `.${text} becomes .${name}`,
      weight * alike * (called ? 0.5 : 1),
    );
  }
}

/** 0 to 1: shared words of camelCase and snake_case, or a shared beginning. */
export function similarity(a: string, b: string): number {
  const [first, second] = [words(a), words(b)];
  const shared = first.filter((word) => second.includes(word)).length;
  if (shared > 0) return (2 * shared) / (first.length + second.length);
  if (a.length === 1 && b.length === 1) return 0.8;
  let common = 0;
  while (common < Math.min(a.length, b.length) && a[common] === b[common]) common += 1;
  return common / Math.max(a.length, b.length);
}

function words(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$#\d]+/)
    .filter((word) => word !== '');
}
