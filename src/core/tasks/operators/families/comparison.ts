import { binaryParts, type Family } from '../scan.ts';

const KINDS = ['compare-boundary', 'compare-negate', 'compare-direction', 'compare-kind'] as const;

export const comparison: Family = (node, role, scan) => {
  if (role !== 'binary') return;
  const parts = binaryParts(scan, node);
  if (parts === undefined) return;
  for (const kind of KINDS) {
    for (const other of scan.grammar.comparisons[kind].get(parts.operator) ?? []) {
      // `a<b` to `a in b` needs blanks; words only replace words.
      scan.emit(kind, parts, other, `${parts.operator} becomes ${other}`);
    }
  }
};
