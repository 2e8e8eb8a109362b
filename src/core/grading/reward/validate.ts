import { makeBaseline } from '../baseline.ts';
import { gradePatch } from '../grade.ts';
import type { GradeSetup } from '../types.ts';

export interface ValidateRewardOptions {
  /** With a framework of `createRewardFramework`. */
  readonly setup: GradeSetup;
  /** From `rewardTestId`. */
  readonly target: string;
  /** Git patch that must score 1: the original code, or a fix. */
  readonly fix: string;
  /** Runs of each state; all must agree. */
  readonly repeats?: number;
  readonly signal?: AbortSignal;
}

export type RewardValidation =
  | { readonly kind: 'valid'; readonly runs: number }
  /** The reward itself is not fit for use. */
  | { readonly kind: 'rejected'; readonly reason: string; readonly remedy: string }
  /** The sandbox broke, or it was cancelled: nothing is known of the reward. */
  | { readonly kind: 'not-checked'; readonly reason: string };

/**
 * A reward is admitted like a task: the unchanged code scores 0, the fix scores 1, and repeats
 * agree, each on a fresh layer.
 */
export async function validateReward(options: ValidateRewardOptions): Promise<RewardValidation> {
  const { setup, target, fix, repeats = 3, signal } = options;
  const outcome = await makeBaseline(setup, { signal, runs: Math.max(2, repeats) });
  if (outcome.kind === 'cancelled') return { kind: 'not-checked', reason: 'cancelled' };
  if (outcome.kind === 'no-tests') return { kind: 'not-checked', reason: outcome.reason };
  if (outcome.kind === 'environment') {
    return { kind: 'rejected', reason: outcome.reason, remedy: outcome.remedy };
  }
  const { baseline } = outcome;
  if (baseline.passing.includes(target)) {
    return {
      kind: 'rejected',
      reason: 'The unchanged code already scores 1, so there is nothing to solve.',
      remedy: 'Make the reward check what the task asks for.',
    };
  }
  if (!baseline.failing.some(({ id }) => id === target)) return disagree('the unchanged code');
  let passed = 0;
  let explanation = '';
  let reverted: readonly string[] = [];
  for (let index = 0; index < repeats; index++) {
    const graded = await gradePatch({ setup, baseline, targets: [target], patch: fix, signal });
    if (graded.kind === 'not-graded') return { kind: 'not-checked', reason: graded.reason };
    if (graded.report.verdict === 'passed') passed += 1;
    else ({ reverted } = graded.report);
    explanation = graded.report.strict.explanation;
  }
  if (passed === repeats) return { kind: 'valid', runs: 2 * repeats };
  if (passed > 0) return disagree('the fix');
  const why = baseline.failing.find(({ id }) => id === target)?.failure?.message.split('\n')[0];
  return {
    kind: 'rejected',
    reason:
      reverted.length > 0
        ? `The fix changes what decides the reward (${reverted.join(', ')}), and without those changes it scores 0. ${explanation}`
        : `The fix scores 0. ${explanation}`,
    remedy: `Run the reward on the fixed code by hand. On the unchanged code it said: ${why ?? 'nothing'}`,
  };
}

function disagree(what: string): RewardValidation {
  return {
    kind: 'rejected',
    reason: `Repeats on ${what} do not agree: the reward is sometimes 0 and sometimes 1.`,
    remedy: 'Take chance, time and order out of the reward, or fix its seeds.',
  };
}
