import { languageOf } from './operators/edit.ts';
import { shapeWords } from './shape.ts';
import { groupOf, operatorKind, type Split, type SplitName } from './split.ts';
import type { Task } from './task.ts';
import type { FileTree } from './tree.ts';
import { viewOf } from './views.ts';

export interface OverlapReport {
  readonly counts: Readonly<Record<SplitName, number>>;
  /** Left out of every part: their normalised tree is on the other side. */
  readonly duplicates: number;
  readonly heldOutFamilies: readonly string[];
  readonly heldOutOperators: readonly string[];
  /** What training and held-out have in common; all must be 0. */
  readonly shared: {
    readonly families: number;
    readonly operators: number;
    readonly shapes: number;
  };
  /** Likeness of a held-out task to the nearest one of training, 0 to 1. */
  readonly nearest: {
    readonly mean: number;
    readonly median: number;
    readonly highest: number;
    /** The most alike pairs, with different held-out families. */
    readonly pairs: readonly NearPair[];
  };
}

export interface NearPair {
  readonly heldOut: { readonly id: string; readonly family: string };
  readonly train: { readonly id: string; readonly family: string };
  /** Jaccard index over runs of `RUN` words of the normalised trees. */
  readonly likeness: number;
}

const RUN = 5;
const PAIRS = 10;

/** How far training and held-out tasks are from each other. */
export function overlapReport(
  tasks: readonly Task[],
  trees: ReadonlyMap<string, FileTree>,
  split: Split,
): OverlapReport {
  const of = (name: SplitName): readonly Task[] =>
    tasks.filter((task) => split.parts.get(task.id) === name);
  const [train, heldOut] = [of('train'), of('held-out')];
  const common = (pick: (task: Task) => readonly string[]): number => {
    const known = new Set(train.flatMap(pick));
    return new Set(heldOut.flatMap(pick).filter((item) => known.has(item))).size;
  };
  const pairs = nearestPairs(heldOut, train, trees);
  const likeness = pairs.map((pair) => pair.likeness).sort((a, b) => a - b);
  const byFamily = new Map<string, NearPair>();
  for (const pair of [...pairs].sort((a, b) => b.likeness - a.likeness)) {
    if (!byFamily.has(pair.heldOut.family)) byFamily.set(pair.heldOut.family, pair);
  }
  return {
    counts: {
      train: train.length,
      'held-out': heldOut.length,
      'new-family': of('new-family').length,
      'new-operator': of('new-operator').length,
    },
    duplicates: split.duplicates.length,
    heldOutFamilies: split.heldOutFamilies,
    heldOutOperators: split.heldOutOperators,
    shared: {
      families: common((task) => [groupOf(task)]),
      operators: common((task) => [operatorKind(task.bug.operator)]),
      shapes: common((task) => [task.shapes.original, task.shapes.bug]),
    },
    nearest: {
      mean: round(likeness.reduce((sum, value) => sum + value, 0) / Math.max(1, likeness.length)),
      median: round(likeness[likeness.length >> 1] ?? 0),
      highest: round(likeness.at(-1) ?? 0),
      pairs: [...byFamily.values()].slice(0, PAIRS),
    },
  };
}

export function renderOverlap(report: OverlapReport): string {
  const { counts, shared, nearest } = report;
  return `${[
    '# Overlap of training and held-out tasks',
    '',
    '| part | tasks |',
    '|---|---:|',
    ...Object.entries(counts).map(([name, count]) => `| ${name} | ${count} |`),
    `| in none: same normalised tree on the other side | ${report.duplicates} |`,
    '',
    `Held-out families: ${report.heldOutFamilies.join(', ')}.`,
    '',
    `Held-out operators: ${report.heldOutOperators.join(', ')}.`,
    '',
    `In common between training and held-out: ${shared.families} families, ${shared.operators} operators, ${shared.shapes} normalised trees.`,
    '',
    `Likeness of a held-out task to the nearest training task (Jaccard index over runs of ${RUN} words of the normalised trees): mean ${nearest.mean}, median ${nearest.median}, highest ${nearest.highest}.`,
    '',
    '| held-out | nearest in training | likeness |',
    '|---|---|---:|',
    ...nearest.pairs.map(
      ({ heldOut, train, likeness }) =>
        `| ${heldOut.family} \`${heldOut.id.slice(0, 8)}\` | ${train.family} \`${train.id.slice(0, 8)}\` | ${likeness} |`,
    ),
  ].join('\n')}\n`;
}

/** For each normalised tree of the first list the nearest one of the second. */
function nearestPairs(
  heldOut: readonly Task[],
  train: readonly Task[],
  trees: ReadonlyMap<string, FileTree>,
): readonly NearPair[] {
  const known = distinct(train).map((task) => ({ task, runs: runsOf(task, trees) }));
  const holders = new Map<string, number[]>();
  for (const [at, { runs }] of known.entries()) {
    for (const run of runs) {
      const list = holders.get(run);
      if (list === undefined) holders.set(run, [at]);
      else list.push(at);
    }
  }
  return distinct(heldOut).flatMap((task) => {
    const runs = runsOf(task, trees);
    const shared = new Uint32Array(known.length);
    for (const run of runs) {
      for (const at of holders.get(run) ?? []) shared[at] = (shared[at] ?? 0) + 1;
    }
    let best: { at: number; likeness: number } | undefined;
    for (const [at, { runs: other }] of known.entries()) {
      const both = shared[at] ?? 0;
      const likeness = both / Math.max(1, runs.size + other.size - both);
      if (best === undefined || likeness > best.likeness) best = { at, likeness };
    }
    const nearest = best === undefined ? undefined : known[best.at];
    if (best === undefined || nearest === undefined) return [];
    return [
      {
        heldOut: { id: task.id, family: groupOf(task) },
        train: { id: nearest.task.id, family: groupOf(nearest.task) },
        likeness: round(best.likeness),
      },
    ];
  });
}

function distinct(tasks: readonly Task[]): readonly Task[] {
  return [...new Map(tasks.map((task) => [task.shapes.bug, task])).values()];
}

function runsOf(task: Task, trees: ReadonlyMap<string, FileTree>): ReadonlySet<string> {
  const tree = trees.get(task.tree);
  if (tree === undefined) return new Set();
  const { path } = task.bug;
  const text = viewOf(task, tree, 'grading').get(path)?.content.toString('utf8') ?? '';
  const words = shapeWords(text, languageOf(path) ?? 'javascript');
  const runs = new Set<string>();
  for (let at = 0; at + RUN <= words.length; at++) runs.add(words.slice(at, at + RUN).join(' '));
  return runs;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
