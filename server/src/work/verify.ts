import {
  type AttemptEnd,
  type Outcome,
  outcomeOf,
  type Verdict,
} from '../../../src/core/agent/outcomes.ts';
import type { GradeReport } from '../../../src/core/grading/types.ts';
import type { Verification } from '../store/claims.ts';

interface Claimed {
  readonly claimedOutcome: string;
  readonly claimedReward: number | null;
}

/** What an attempt that was not submitted is worth: the table says it, whatever its patch does. */
export function verifyWithoutPatch(claimed: Claimed, end: AttemptEnd): Verification {
  const { outcome, reward } = outcomeOf(end, undefined);
  if (reward === null) {
    const reason = 'the attempt was invalid, which is no reward at all';
    return { claim: 'unverifiable', reason, outcome, reward, flags: [] };
  }
  return compared(claimed, outcome, reward, 'its record says that nothing was submitted', []);
}

/**
 * What a submitted patch is worth here. Where files of the snapshot are missing (their owner keeps what is ignored or
 * holds secrets), another result says nothing about who sent it.
 */
export function verifyGrade(
  claimed: Claimed & { readonly leftOut: number },
  { verdict, strict, flags }: GradeReport,
): Verification {
  const { outcome, reward } = outcomeOf({ kind: 'submitted' }, verdict satisfies Verdict);
  const words = flags.map(({ rule, file }) => `${rule}: ${file}`);
  const found = compared(claimed, outcome, reward, strict.explanation, words);
  if (found.claim !== 'broken' || claimed.leftOut === 0) return found;
  return unverifiable(
    `${claimed.leftOut} of its files stayed with their owner, and without them ${found.reason}`,
  );
}

export function unverifiable(reason: string): Verification {
  return { claim: 'unverifiable', reason, outcome: null, reward: null, flags: [] };
}

/** The reward is what is claimed; of two ways to get 0 the server's own is kept. */
function compared(
  { claimedOutcome, claimedReward }: Claimed,
  outcome: Outcome,
  reward: 0 | 1 | null,
  why: string,
  flags: readonly string[],
): Verification {
  if (claimedReward === reward) return { claim: 'holds', reason: null, outcome, reward, flags };
  const reason = `it claims ${claimedOutcome} (reward ${claimedReward}), here it is ${outcome} (reward ${reward}): ${why}`;
  return { claim: 'broken', reason, outcome, reward, flags };
}
