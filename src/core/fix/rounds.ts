import type { TestResult } from '../frameworks/framework.ts';
import type { Policy } from '../policies/policy.ts';
import type { AttemptReport, AttemptSetup } from './attempt.ts';
import { bestOf, runSeries, type SeriesOptions } from './series.ts';
import { passingWith, type SolvedPatch } from './stack.ts';

export interface TargetReport {
  readonly target: TestResult;
  readonly framework: string;
  readonly attempts: readonly AttemptReport[];
  /** The attempt whose patch was taken, or the nearest one that was not (`row` tells). */
  readonly best?: AttemptReport;
  /** Solved without an attempt of its own, by the patch for this other target. */
  readonly solvedBy?: string;
  /** Why no attempt was made, where that is not for lack of time. */
  readonly skipped?: { readonly reason: string; readonly remedy?: string };
}

export interface RoundsOptions extends Omit<SeriesOptions, 'made'> {
  readonly policy: Policy;
}

const NOT_TRIED = { reason: 'not tried: it would have ended in the same way' };

export type TargetSetup = Omit<AttemptSetup, 'attemptId' | 'seed'>;

export interface RoundsReport {
  readonly targets: readonly TargetReport[];
  readonly patches: readonly SolvedPatch[];
}

/** What is known of one target while the rounds go on. */
interface Open {
  readonly target: TestResult;
  readonly setup: TargetSetup;
  readonly attempts: AttemptReport[];
  solvedBy?: string;
  over: boolean;
}

/**
 * Every target gets a first try before any gets a second one: a hard test must not keep the easy
 * ones waiting. What may run at the same time goes to different targets first, then to further
 * attempts at the same one. A patch that solves other targets too saves their attempts.
 */
export async function runRounds(
  targets: readonly { readonly target: TestResult; readonly setup: TargetSetup }[],
  options: RoundsOptions,
): Promise<RoundsReport> {
  const { attempts, parallel, signal } = options;
  const side = Math.max(1, Math.floor(parallel / targets.length));
  const perRound = Math.min(side, attempts);
  const rounds: Rounds = {
    entries: targets.map((entry): Open => ({ ...entry, attempts: [], over: false })),
    patches: [],
    broken: false,
  };
  for (let made = 0; made < attempts && !rounds.broken; made += perRound) {
    const waiting = [...rounds.entries.entries()];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [index, entry] = next;
        if (signal.aborted || rounds.broken) return;
        if (entry.over) continue;
        await tryTarget(rounds, entry, index, {
          ...options,
          attempts: Math.min(perRound, attempts - made),
          made,
        });
      }
    };
    const workers = Math.max(1, Math.floor(parallel / perRound));
    await Promise.all(Array.from({ length: Math.min(workers, targets.length) }, worker));
  }
  return {
    targets: rounds.entries.map(({ target, setup, attempts: all, solvedBy, over }) => ({
      target,
      framework: setup.grade.framework.id,
      attempts: all,
      best: bestOf(all),
      solvedBy,
      ...(rounds.broken && !over && all.length === 0 ? { skipped: NOT_TRIED } : {}),
    })),
    patches: rounds.patches,
  };
}

interface Rounds {
  readonly entries: readonly Open[];
  readonly patches: SolvedPatch[];
  /** An attempt ended for reasons of the environment: the others would as well. */
  broken: boolean;
}

async function tryTarget(
  rounds: Rounds,
  entry: Open,
  index: number,
  options: RoundsOptions & SeriesOptions,
): Promise<void> {
  const { entries, patches } = rounds;
  const { target, setup } = entry;
  options.listener?.({ kind: 'target', target: target.id, index, of: entries.length });
  const series = await runSeries(setup, options);
  entry.attempts.push(...series.attempts);
  // Meanwhile a patch for another target may have solved this one too: one patch is enough.
  if (series.best?.row.outcome === 'solved' && !entry.over) {
    entry.over = true;
    patches.push(await withAllThatItSolves(entry, series.best, patches, entries, options));
  }
  rounds.broken ||= series.attempts.some(({ end }) => end.kind === 'infrastructure');
  entry.over ||= series.attempts.some((report) => nothingLeft(options.policy, setup, report));
}

async function withAllThatItSolves(
  { target, setup }: Open,
  best: AttemptReport,
  earlier: readonly SolvedPatch[],
  entries: readonly Open[],
  { signal }: RoundsOptions,
): Promise<SolvedPatch> {
  const { grade, baseline } = setup;
  const own = { setup: grade, baseline, patch: best.patch, targets: [target.id] };
  const open = entries.filter((entry) => !entry.over).map((entry) => entry.target.id);
  const passing = await passingWith(grade, [...earlier, own], open, signal);
  for (const entry of entries) {
    if (entry.over || !passing.has(entry.target.id)) continue;
    entry.over = true;
    entry.solvedBy = target.id;
  }
  return { ...own, targets: [target.id, ...passing] };
}

/** A search that came to its end within its budget finds nothing in another order either. */
function nothingLeft(policy: Policy, { budgets }: TargetSetup, report: AttemptReport): boolean {
  return (
    policy.description.kind === 'edit-search' &&
    report.end.kind === 'submitted' &&
    report.patch === '' &&
    report.totals.turns < budgets.turns * 0.9
  );
}
