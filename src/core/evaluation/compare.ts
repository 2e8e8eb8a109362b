import { type AttemptRecord, differences, type EvaluationResults } from './results-file.ts';
import { type PairedDifference, pairedDifference } from './statistics.ts';
import { isSolved, solvedWithin, TRIES_LADDER, tally } from './summary.ts';

export interface ComparisonRow extends PairedDifference {
  /** With at most so many tries; undefined: in all. */
  readonly tries: number | undefined;
  /** Mean shares of the tasks that both have attempts at. */
  readonly first: number;
  readonly second: number;
}

export interface Comparison {
  readonly policies: readonly [first: string, second: string];
  readonly tasks: number;
  /** Tasks that only one of them has attempts at. */
  readonly unpaired: number;
  readonly rows: readonly ComparisonRow[];
  /** What makes the comparison less than fair, in sentences. */
  readonly warnings: readonly string[];
}

/**
 * Two evaluations paired by task, second minus first. Nothing is run. Invalid attempts count for
 * neither.
 */
export function compare(first: EvaluationResults, second: EvaluationResults): Comparison {
  const most = Math.min(
    ...[first, second].map(({ header }) => header.settings.budgets.tries ?? Infinity),
  );
  const limits = [...TRIES_LADDER.filter((tries) => tries <= most), undefined];
  const rows = limits.map((tries) => row(first, second, tries));
  const tasks = rows[0]?.tasks ?? 0;
  const all = new Set([...tasksOf(first), ...tasksOf(second)]);
  return {
    policies: [first.header.policy.label, second.header.policy.label],
    tasks,
    unpaired: all.size - tasks,
    rows,
    warnings: warningsFor(first, second, all.size - tasks),
  };
}

function row(
  first: EvaluationResults,
  second: EvaluationResults,
  tries: number | undefined,
): ComparisonRow {
  const solved = tries === undefined ? isSolved : solvedWithin(tries);
  const [a, b] = [first, second].map((results) => tally(validOf(results), solved));
  const pairs = [...(a ?? [])].flatMap(([task, own]) => {
    const other = b?.get(task);
    return other === undefined ? [] : [[own, other] as const];
  });
  const share = (side: 0 | 1): number =>
    pairs.reduce((sum, pair) => sum + pair[side].solved / pair[side].attempts, 0) / pairs.length;
  return {
    tries,
    first: share(0),
    second: share(1),
    ...pairedDifference(pairs, first.header.settings.seed),
  };
}

function validOf({ records }: EvaluationResults): readonly AttemptRecord[] {
  return records.filter(({ outcome }) => outcome !== 'invalid');
}

function tasksOf(results: EvaluationResults): readonly string[] {
  return validOf(results).map(({ task }) => task);
}

function warningsFor(
  first: EvaluationResults,
  second: EvaluationResults,
  unpaired: number,
): readonly string[] {
  const different = new Set(differences(first.header, second.header));
  const warnings: string[] = [];
  const [a, b] = [first.header.settings, second.header.settings];
  if (different.has('tries')) {
    const words = ({ budgets: { tries } }: typeof a): string =>
      tries === undefined ? 'any number' : `at most ${tries}`;
    warnings.push(
      `"In all" is not at equal tries: the first had ${words(a)}, the second ${words(b)}. The rows above it are.`,
    );
  }
  if (different.has('scaffold')) {
    warnings.push(
      'The two were evaluated with different prompts, tools or observations (scaffold hash).',
    );
  }
  if (different.has('rules')) {
    warnings.push(`The rules differ: ${a.rules} for the first, ${b.rules} for the second.`);
  }
  if (unpaired > 0) {
    warnings.push(
      unpaired === 1
        ? 'One task has attempts of only one of the two and is left out.'
        : `${unpaired} tasks have attempts of only one of the two and are left out.`,
    );
  }
  return warnings;
}
