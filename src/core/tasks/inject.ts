import type { Edit, Language } from './operators/edit.ts';
import { listEdits } from './operators/list-edits.ts';
import { OPERATORS, type OperatorId } from './operators/operator-table.ts';
import type { Chance } from './random.ts';

/** How often each operator has made a kept bug so far: rare ones come first. */
export type OperatorUse = Map<OperatorId, number>;

/**
 * Edits of a source to try as bugs, in the order to try them: one of each operator, then the next
 * of each; operators that were used less, measured against how likely they are, come first.
 */
export function candidateBugs(
  source: string,
  language: Language,
  used: ReadonlyMap<OperatorId, number>,
  chance: Chance,
): readonly Edit[] {
  const byOperator = new Map<OperatorId, Edit[]>();
  for (const edit of chance.shuffle(listEdits(source, language))) {
    const list = byOperator.get(edit.operator);
    if (list === undefined) byOperator.set(edit.operator, [edit]);
    else list.push(edit);
  }
  const share = (operator: OperatorId): number =>
    (used.get(operator) ?? 0) / (0.2 + OPERATORS[operator].prior);
  const operators = [...byOperator.keys()].sort((a, b) => share(a) - share(b));
  const ordered: Edit[] = [];
  for (let round = 0; ordered.length < [...byOperator.values()].flat().length; round++) {
    for (const operator of operators) {
      const edit = byOperator.get(operator)?.[round];
      if (edit !== undefined) ordered.push(edit);
    }
  }
  return ordered;
}

/** Why a candidate is no task. */
export type DropReason =
  | 'no test notices'
  | 'no test passes'
  | 'does not load'
  | 'does not end'
  | 'tests come or go'
  | 'runs differ'
  | 'nothing to hide'
  | 'visible tests behave differently alone'
  | 'known already'
  | 'the run broke';

export type Qualified =
  | {
      readonly kind: 'kept';
      readonly targets: readonly string[];
      readonly passing: readonly string[];
    }
  | { readonly kind: 'dropped'; readonly reason: DropReason };

/** Tests that pass on the original, against the same tests with the bug. */
export function qualify(
  original: readonly string[],
  withBug: ReadonlyMap<string, boolean>,
): Qualified {
  if (withBug.size === 0) return { kind: 'dropped', reason: 'does not load' };
  if (original.some((id) => !withBug.has(id)))
    return { kind: 'dropped', reason: 'tests come or go' };
  const targets = original.filter((id) => withBug.get(id) === false);
  const passing = original.filter((id) => withBug.get(id) === true);
  if (targets.length === 0) return { kind: 'dropped', reason: 'no test notices' };
  if (passing.length === 0) return { kind: 'dropped', reason: 'no test passes' };
  return { kind: 'kept', targets, passing };
}
