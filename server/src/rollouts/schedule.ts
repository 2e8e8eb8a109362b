import type { Chance } from '../../../src/core/tasks/random.ts';

/** A task that could be rolled out, with what is known of it for the policy in use. */
export interface Candidate {
  readonly task: string;
  readonly origin: 'file' | 'attempt';
  /** Order in which tasks came. */
  readonly seq: number;
  /** Groups that are not complete. */
  readonly open: number;
  /** Groups that are. */
  readonly groups: number;
  /** Of the last complete group: which of its attempts solved the task; `none`: all were invalid. */
  readonly result: 'none' | 'mixed' | 'always' | 'never';
  /** Number of its last group; 0: none. Groups are counted up over all tasks. */
  readonly last: number;
  /** Since its last group ended. */
  readonly idleMs: number;
}

export type Reason = 'new' | 'mixed' | 'always solved' | 'never solved' | 'always invalid';

/** Of the groups that are not about new tasks, how many look at tasks whose groups taught nothing. */
export const RARE_SHARE = 0.05;

/** Such a task rests for so many groups of the policy, twice as long after each one … */
const FIRST_REST = 8;
const LONGEST_REST = 1024;
/** … or for so long: where nothing else is left, no groups are counted. */
const REST_MS = 60 * 60_000;

/**
 * The task of the next group: new failures first (those of people before those of files), then tasks
 * with mixed outcomes, the one that waited longest; rarely one that was always or never solved, since its
 * groups teach nothing until that changes. One group of a task at a time. undefined: nothing is worth a
 * group now.
 *
 * Pure; the order of the candidates does not matter.
 *
 * @param made number of the newest group of this policy
 */
export function chooseTask(
  candidates: readonly Candidate[],
  made: number,
  chance: Chance,
): { readonly task: string; readonly why: Reason } | undefined {
  const free = candidates.filter(({ open }) => open === 0);
  const [fresh] = free
    .filter(({ groups }) => groups === 0)
    .sort((a, b) => Number(a.origin === 'file') - Number(b.origin === 'file') || a.seq - b.seq);
  if (fresh) return { task: fresh.task, why: 'new' };
  const mixed = longestWaiting(free.filter(({ result }) => result === 'mixed'));
  const rare = longestWaiting(
    free.filter((candidate) => candidate.result !== 'mixed' && rested(candidate, made)),
  );
  if (rare && (!mixed || chance.chance(RARE_SHARE))) {
    return { task: rare.task, why: WORDS[rare.result] };
  }
  return mixed && { task: mixed.task, why: 'mixed' };
}

const WORDS: Readonly<Record<Candidate['result'], Reason>> = {
  none: 'always invalid',
  mixed: 'mixed',
  always: 'always solved',
  never: 'never solved',
};

function longestWaiting(candidates: readonly Candidate[]): Candidate | undefined {
  return [...candidates].sort((a, b) => a.last - b.last || a.seq - b.seq)[0];
}

function rested({ groups, last, idleMs }: Candidate, made: number): boolean {
  const rest = Math.min(LONGEST_REST, FIRST_REST * 2 ** (groups - 1));
  return made - last >= rest || idleMs >= REST_MS;
}
