import { OPERATORS } from './operators/operator-table.ts';
import { createChance } from './random.ts';
import type { Task } from './task.ts';

/**
 * `train`, and `held-out`, which shares neither a template family, nor an operator kind, nor a
 * normalised tree with it. The other two share one of them: they tell what new families and new
 * operators each cost, and are for neither training nor the gate.
 */
export type SplitName = 'train' | 'held-out' | 'new-family' | 'new-operator';

export interface Split {
  readonly parts: ReadonlyMap<string, SplitName>;
  readonly heldOutFamilies: readonly string[];
  /** Kinds of operators (`operatorKind`). */
  readonly heldOutOperators: readonly string[];
  /** Tasks that are in no part since their normalised tree is on the other side as well. */
  readonly duplicates: readonly string[];
}

export interface SplitOptions {
  readonly seed: number;
  /** Share of the tasks whose family is held out, 0 to 1. */
  readonly families?: number;
  /** Share of the tasks whose kind of operator is held out, 0 to 1. */
  readonly operators?: number;
}

/** Splits tasks; the same tasks and seed give the same split, in whatever order they come. */
export function splitTasks(tasks: readonly Task[], options: SplitOptions): Split {
  const { seed } = options;
  const families = counted(tasks.map(groupOf));
  const heldOutFamilies = new Set(
    chooseByWeight(
      families,
      options.families ?? 0.3,
      createChance('families', seed).shuffle([...families.keys()]),
    ),
  );
  const kinds = counted(tasks.map((task) => operatorKind(task.bug.operator)));
  const heldOutOperators = new Set(
    chooseByWeight(
      kinds,
      options.operators ?? 0.15,
      createChance('operators', seed).shuffle([...kinds.keys()]),
    ),
  );
  const parts = new Map<string, SplitName>();
  const heldOutShapes = new Set<string>();
  const sides = tasks.map((task) => {
    const family = heldOutFamilies.has(groupOf(task));
    const operator = heldOutOperators.has(operatorKind(task.bug.operator));
    const part: SplitName = family
      ? operator
        ? 'held-out'
        : 'new-family'
      : operator
        ? 'new-operator'
        : 'train';
    if (part === 'held-out') for (const shape of shapesOf(task)) heldOutShapes.add(shape);
    return { task, part };
  });
  const duplicates: string[] = [];
  for (const { task, part } of sides) {
    const leaks = part !== 'held-out' && shapesOf(task).some((shape) => heldOutShapes.has(shape));
    // `new-family` tasks are other bugs of the same modules as held-out ones; that is what they are.
    if (leaks && part !== 'new-family') duplicates.push(task.id);
    else parts.set(task.id, part);
  }
  return {
    parts,
    heldOutFamilies: [...heldOutFamilies].sort(),
    heldOutOperators: [...heldOutOperators].sort(),
    duplicates,
  };
}

/** An operator and the one that undoes it are one kind: who has seen one knows the other. */
export function operatorKind(operator: string): string {
  const inverse =
    operator in OPERATORS ? OPERATORS[operator as keyof typeof OPERATORS].inverse : null;
  return [...new Set([operator, inverse ?? operator])].sort().join('/');
}

/** Template family; the tasks of one repository belong together. */
export function groupOf(task: Task): string {
  return task.source.kind === 'generated' ? task.source.template : `repository ${task.source.name}`;
}

function shapesOf({ shapes }: Task): readonly string[] {
  return [shapes.original, shapes.bug];
}

function counted(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of [...names].sort()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** From the front of the list, as long as it does not go (much) beyond the share; never all. */
function chooseByWeight(
  counts: ReadonlyMap<string, number>,
  share: number,
  order: readonly string[],
): readonly string[] {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const chosen: string[] = [];
  let weight = 0;
  for (const name of order) {
    const next = counts.get(name) ?? 0;
    if (weight >= share * total || chosen.length >= counts.size - 1) break;
    if (weight > 0 && weight + next > share * total * 1.25) continue;
    chosen.push(name);
    weight += next;
  }
  return chosen;
}
