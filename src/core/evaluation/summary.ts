import type { AttemptRecord, EvaluationResults } from './results-file.ts';
import { type Estimate, meanShare, passAtK, type Tally } from './statistics.ts';

/** Tries at which the share that is solved is told. */
export const TRIES_LADDER: readonly number[] = [1, 2, 3, 5, 8, 20];

export interface EvaluationSummary {
  readonly policy: string;
  readonly split: string;
  /** Tasks with at least one attempt that counts, of those that were chosen. */
  readonly tasks: number;
  readonly chosen: number;
  readonly attemptsPerTask: number;
  /** Attempts that count: all that were made and are not invalid. */
  readonly attempts: number;
  readonly invalid: number;
  /** Not made yet: the evaluation was interrupted. */
  readonly missing: number;
  /** Made a second time since the first was invalid. */
  readonly repeated: number;
  readonly maxTries: number | undefined;
  readonly passAt: readonly (Estimate & { readonly k: number; readonly tasks: number })[];
  /** Solved with at most so many tries, by one attempt. */
  readonly withinTries: readonly (Estimate & { readonly tries: number })[];
  readonly outcomes: readonly {
    readonly outcome: AttemptRecord['outcome'];
    readonly attempts: number;
    /** Without the names of tests; most frequent first. */
    readonly reasons: readonly { readonly reason: string; readonly attempts: number }[];
  }[];
  /** Means over attempts that count. */
  readonly means: Readonly<
    Record<'turns' | 'edits' | 'testRuns' | 'tries' | 'tokens' | 'seconds', number>
  >;
}

/** Everything that is reported of one evaluation. The same results give the same numbers. */
export function summarise({ header, records }: EvaluationResults): EvaluationSummary {
  const { settings, tasks, policy } = header;
  const { seed, attempts: wanted, budgets } = settings;
  const valid = records.filter(({ outcome }) => outcome !== 'invalid');
  const tallies = [...tally(valid, isSolved).values()];
  return {
    policy: policy.label,
    split: tasks.split,
    tasks: tallies.length,
    chosen: tasks.count,
    attemptsPerTask: wanted,
    attempts: valid.length,
    invalid: records.length - valid.length,
    missing: tasks.count * wanted - records.length,
    repeated: records.filter(({ repeated }) => repeated).length,
    maxTries: budgets.tries,
    passAt: ksUpTo(wanted).map((k) => {
      // An invalid attempt may leave too few for the largest k.
      const enough = tallies.filter(({ attempts }) => attempts >= k);
      const shares = enough.map((each) => passAtK(each, k));
      return { k, tasks: enough.length, ...meanShare(shares, seed) };
    }),
    withinTries: TRIES_LADDER.filter((tries) => tries <= (budgets.tries ?? tries)).map((tries) => ({
      tries,
      ...meanShare([...tally(valid, solvedWithin(tries)).values()].map(shareOf), seed),
    })),
    outcomes: countOutcomes(records),
    means: {
      turns: meanOf(valid, ({ turns }) => turns),
      edits: meanOf(valid, ({ edits }) => edits),
      testRuns: meanOf(valid, ({ testRuns }) => testRuns),
      tries: meanOf(valid, ({ tries }) => tries),
      tokens: meanOf(valid, ({ completionTokens }) => completionTokens),
      seconds: meanOf(valid, ({ seconds }) => seconds),
    },
  };
}

export function isSolved({ outcome }: AttemptRecord): boolean {
  return outcome === 'solved';
}

export function solvedWithin(limit: number): (record: AttemptRecord) => boolean {
  return (record) => isSolved(record) && record.tries <= limit;
}

/** Attempts and solved ones by task, in the order of the tasks' ids. */
export function tally(
  records: readonly AttemptRecord[],
  solved: (record: AttemptRecord) => boolean,
): ReadonlyMap<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const record of [...records].sort((a, b) => (a.task < b.task ? -1 : 1))) {
    const before = tallies.get(record.task) ?? { solved: 0, attempts: 0 };
    tallies.set(record.task, {
      solved: before.solved + (solved(record) ? 1 : 0),
      attempts: before.attempts + 1,
    });
  }
  return tallies;
}

function shareOf({ solved, attempts }: Tally): number {
  return solved / attempts;
}

/** 1, 2, 4, 8 … and the number of attempts itself. */
function ksUpTo(attempts: number): readonly number[] {
  const ks: number[] = [];
  for (let k = 1; k < attempts; k *= 2) ks.push(k);
  return [...ks, attempts];
}

function countOutcomes(records: readonly AttemptRecord[]): EvaluationSummary['outcomes'] {
  return frequencies(records, ({ outcome }) => outcome).map(([outcome, all]) => ({
    outcome,
    attempts: all.length,
    reasons: frequencies(all, ({ reason }) => kindOf(reason)).map(([reason, some]) => ({
      reason,
      attempts: some.length,
    })),
  }));
}

/** Groups of records, the largest first. */
function frequencies<Key extends string>(
  records: readonly AttemptRecord[],
  keyOf: (record: AttemptRecord) => Key,
): readonly (readonly [Key, readonly AttemptRecord[]])[] {
  const groups = new Map<Key, AttemptRecord[]>();
  for (const record of records) {
    const key = keyOf(record);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [record]);
    else group.push(record);
  }
  return [...groups].sort(([a, first], [b, second]) =>
    first.length === second.length ? (a < b ? -1 : 1) : second.length - first.length,
  );
}

/** What comes after a colon is of this attempt alone. */
function kindOf(reason: string): string {
  return (reason.split(': ')[0] ?? reason).replace(/\.$/, '').replace(/^\d+ (?=that )/, '');
}

function meanOf(
  records: readonly AttemptRecord[],
  value: (record: AttemptRecord) => number,
): number {
  return records.reduce((total, record) => total + value(record), 0) / records.length;
}
