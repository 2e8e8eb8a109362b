import {
  isUnique,
  type Replacement,
  toReplacement,
} from '../../policies/edit-search/replacement.ts';
import { WORKSPACE } from '../../sandbox/sandbox.ts';
import { applyEdit, type Edit, languageOf } from '../operators/edit.ts';
import { listEdits } from '../operators/list-edits.ts';
import type { Chance } from '../random.ts';
import { operatorKind } from '../split.ts';
import type { Task } from '../task.ts';
import type { FileTree } from '../tree.ts';
import { viewOf } from '../views.ts';

/** What the expert does at one task, before it has seen anything. */
export interface Plan {
  /** Files in the order in which they are looked at. */
  readonly views: readonly PlannedView[];
  /** Of the file with the bug, absolute as in the sandbox. */
  readonly path: string;
  /** Edits that do not fix it: made, tested, taken back. Never learnt. */
  readonly wrong: readonly Replacement[];
  /** The right edit with a slip in one of its texts: refused, then made well. */
  readonly slip?: Replacement;
  readonly right: Replacement;
}

export interface PlannedView {
  /** Relative to the workspace, as the first message names it. */
  readonly path: string;
  /** False: a path that does not exist, to show how one gets on. */
  readonly learnt: boolean;
}

export interface PlanOptions {
  /** Kinds of operators (`operatorKind`) that may not be seen, not even as wrong edits. */
  readonly heldOutOperators: ReadonlySet<string>;
  /** Likelihoods of 0, 1, 2 … wrong edits; their sum is 1. */
  readonly wrongEdits: readonly number[];
  /** Likelihood of a slip, and of a wrong path, 0 to 1. */
  readonly slips: number;
  readonly wrongPaths: number;
}

/** Of an edit's old text. */
export const MOST_LINES = 6;

/** Figures of the demonstrations that nano learnt from. */
export const DEMONSTRATION_OPTIONS: Omit<PlanOptions, 'heldOutOperators'> = {
  wrongEdits: [0.5, 0.2, 0.12, 0.08, 0.06, 0.04],
  slips: 0.12,
  wrongPaths: 0.02,
};

/** undefined: the fix cannot be written as one call. */
export function planDemonstration(
  task: Task,
  tree: FileTree,
  chance: Chance,
  options: PlanOptions,
): Plan | undefined {
  const { bug } = task;
  const source = viewOf(task, tree, 'agent').get(bug.path)?.content.toString('utf8') ?? '';
  const fix = { from: bug.from, to: bug.from + bug.newText.length, newText: bug.oldText };
  const right = toReplacement(source, fix, MOST_LINES);
  if (right === undefined) return undefined;
  const wrong: Replacement[] = [];
  const count = drawn(options.wrongEdits, chance.next());
  for (const edit of wrongCandidates(source, task, chance, options).slice(0, 3 * count)) {
    if (wrong.length >= count) break;
    const made = toReplacement(source, edit, MOST_LINES);
    if (made !== undefined) wrong.push(made);
  }
  const slip = chance.chance(options.slips) ? withSlip(source, right, chance) : undefined;
  const views = viewsOf(task, tree, chance.chance(options.wrongPaths));
  return { views, path: `${WORKSPACE}/${bug.path}`, wrong, right, ...(slip && { slip }) };
}

function drawn(likelihoods: readonly number[], at: number): number {
  let sum = 0;
  for (const [index, likelihood] of likelihoods.entries()) {
    sum += likelihood;
    if (at < sum) return index;
  }
  return likelihoods.length - 1;
}

/** Likely edits first, by chance; none that gives the original. */
function wrongCandidates(
  source: string,
  task: Task,
  chance: Chance,
  { heldOutOperators }: PlanOptions,
): readonly Edit[] {
  const { bug } = task;
  const original =
    source.slice(0, bug.from) + bug.oldText + source.slice(bug.from + bug.newText.length);
  return listEdits(source, languageOf(bug.path) ?? 'javascript')
    .filter((edit) => !heldOutOperators.has(operatorKind(edit.operator)))
    .filter((edit) => applyEdit(source, edit) !== original)
    .map((edit) => ({ edit, key: Math.log(1 - chance.next()) / (edit.prior + 0.01) }))
    .sort((a, b) => b.key - a.key)
    .map(({ edit }) => edit);
}

/** One of the ways in which the editor refuses an edit; undefined where this one cannot go wrong so. */
function withSlip(source: string, right: Replacement, chance: Chance): Replacement | undefined {
  return chance.pick([misspelt, tooShort, unchanged])(source, right, chance);
}

/** One word of the old text replaced, left out or doubled, so that it is not in the file. */
function misspelt(source: string, right: Replacement, chance: Chance): Replacement | undefined {
  const words = right.oldText.match(/\w+|\s+|[^\w\s]/g) ?? [];
  const places = words.flatMap((word, at) => (/^\s+$/.test(word) ? [] : [at]));
  const others = source.match(/\w+|[^\w\s]/g) ?? [];
  const [place] = chance.shuffle(places);
  const [other] = chance.shuffle(others);
  if (place === undefined || other === undefined) return undefined;
  const word = words[place] ?? '';
  const changed = [...words];
  changed[place] = chance.chance(0.5) ? other : chance.chance(0.5) ? '' : word + word;
  const oldText = changed.join('');
  return source.includes(oldText) ? undefined : { oldText, newText: right.newText };
}

/** The end of the old text alone, which stands in the file more than once. */
function tooShort(source: string, { oldText, newText }: Replacement): Replacement | undefined {
  for (let from = 1; from < oldText.length; from += 1) {
    const end = oldText.slice(from);
    if (end.trim() === '') return undefined;
    if (!isUnique(source, end)) return { oldText: end, newText };
  }
  return undefined;
}

function unchanged(_source: string, { oldText }: Replacement): Replacement {
  return { oldText, newText: oldText };
}

/** The module that the test imports, then the one with the bug where that is another. */
function viewsOf(task: Task, tree: FileTree, wrongPath: boolean): readonly PlannedView[] {
  const sources = [...tree.keys()].filter((path) => /^(?:src|lib)\//.test(path));
  const [main = task.bug.path] = sources;
  const views = [...new Set([main, task.bug.path])].map((path) => ({ path, learnt: true }));
  if (!wrongPath) return views;
  const other = main.startsWith('src/') ? main.replace(/^src/, 'lib') : main.replace(/^lib/, 'src');
  return [{ path: other, learnt: false }, ...views];
}
