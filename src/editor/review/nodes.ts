import type { ReviewTest } from '../ports.ts';
import { type Review, type ReviewedFile, type Unit, unitsOf } from './model.ts';

/** What the tree shows, and what menus hand to commands. */
export type ReviewNode =
  | { readonly kind: 'review'; readonly review: Review }
  | { readonly kind: 'evidence'; readonly review: Review }
  | { readonly kind: 'test'; readonly review: Review; readonly test: ReviewTest }
  | { readonly kind: 'file'; readonly review: Review; readonly file: ReviewedFile }
  | { readonly kind: 'unit'; readonly review: Review; readonly unit: Unit };

/** The same node for the same thing, always: the tree knows its elements by identity. */
export interface Nodes {
  review(review: Review): ReviewNode;
  evidence(review: Review): ReviewNode;
  file(file: ReviewedFile): ReviewNode;
  unit(unit: Unit): ReviewNode;
  test(review: Review, test: ReviewTest): ReviewNode;
  /** Is it one of ours? Arguments of commands can be anything. */
  isNode(value: unknown): value is ReviewNode;
}

export function createNodes(): Nodes {
  const known = new WeakMap<object, Map<ReviewNode['kind'], ReviewNode>>();
  const made = new WeakSet<object>();
  const nodeOf = (thing: object, node: ReviewNode): ReviewNode => {
    const nodes = known.get(thing) ?? new Map<ReviewNode['kind'], ReviewNode>();
    known.set(thing, nodes);
    const found = nodes.get(node.kind) ?? node;
    nodes.set(node.kind, found);
    made.add(found);
    return found;
  };
  return {
    review: (review) => nodeOf(review, { kind: 'review', review }),
    evidence: (review) => nodeOf(review, { kind: 'evidence', review }),
    file: (file) => nodeOf(file, { kind: 'file', review: file.review, file }),
    unit: (unit) => nodeOf(unit, { kind: 'unit', review: unit.file.review, unit }),
    test: (review, test) => nodeOf(test, { kind: 'test', review, test }),
    isNode: (value): value is ReviewNode =>
      typeof value === 'object' && value !== null && made.has(value),
  };
}

export function unitsOfNode(node: ReviewNode): readonly Unit[] {
  switch (node.kind) {
    case 'review':
    case 'evidence':
    case 'test':
      return unitsOf(node.review);
    case 'file':
      return node.file.units;
    case 'unit':
      return [node.unit];
  }
}
