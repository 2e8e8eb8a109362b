/**
 * The one table of outcomes (DESIGN.md). Everything that must know whether an attempt counts, and
 * with which reward, asks here.
 */

/** Why the agent's part of an attempt ended. */
export type AttemptEnd =
  | { readonly kind: 'submitted' }
  /** Strict rules only: a call that is not well-formed. */
  | { readonly kind: 'invalid_tool_call'; readonly reason: string }
  | { readonly kind: 'budget'; readonly budget: BudgetKind }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'infrastructure'; readonly reason: string; readonly remedy?: string };

/**
 * `reply`: the model's reply was cut off by its token limit. `no_call`: it stopped calling tools.
 * `tries`: it wanted to test one more state of the files than it may.
 */
export type BudgetKind =
  | 'turns'
  | 'context_tokens'
  | 'generated_tokens'
  | 'time'
  | 'reply'
  | 'no_call'
  | 'tries';

/** What grading the submitted patch found. */
export type Verdict =
  | 'passed'
  /** Only with the patch's changes to tests or to what steers them. */
  | 'passed_with_test_changes'
  | 'failed';

export type Outcome =
  | 'solved'
  | 'solved_with_test_changes'
  | 'failed'
  | 'invalid_tool_call'
  | 'out_of_budget'
  | 'invalid';

/** null: no reward at all (never 0 for what the policy did not cause). */
export const REWARDS: Readonly<Record<Outcome, 0 | 1 | null>> = {
  solved: 1,
  solved_with_test_changes: 0,
  failed: 0,
  invalid_tool_call: 0,
  out_of_budget: 0,
  invalid: null,
};

export interface OutcomeRow {
  readonly outcome: Outcome;
  /** As in `REWARDS`. */
  readonly reward: 0 | 1 | null;
  readonly inGroupMean: boolean;
  readonly inGradient: boolean;
  /** In words, for people and records. */
  readonly reason: string;
}

export interface OutcomeOptions {
  /** Train on attempts that ran out of budget as well. Off by default. */
  readonly trainOnOutOfBudget?: boolean;
}

const BUDGET_WORDS: Readonly<Record<BudgetKind, string>> = {
  turns: 'all turns were used',
  context_tokens: 'the conversation no longer fits into the context',
  generated_tokens: 'all generated tokens were used',
  time: 'the time was used up',
  reply: 'a reply was cut off by its token limit',
  no_call: 'the policy stopped calling tools without submitting',
  tries: 'all tries were used',
};

/** @param verdict grading's result; needed for `submitted`, ignored otherwise. */
export function outcomeOf(
  end: AttemptEnd,
  verdict: Verdict | undefined,
  options: OutcomeOptions = {},
): OutcomeRow {
  switch (end.kind) {
    case 'submitted':
      return submittedRow(verdict);
    case 'invalid_tool_call':
      return row('invalid_tool_call', true, true, `a call was not well-formed: ${end.reason}`);
    case 'budget':
      return row(
        'out_of_budget',
        true,
        options.trainOnOutOfBudget === true,
        BUDGET_WORDS[end.budget],
      );
    case 'cancelled':
      return row('invalid', false, false, 'cancelled');
    case 'infrastructure':
      return row('invalid', false, false, end.reason);
  }
}

function submittedRow(verdict: Verdict | undefined): OutcomeRow {
  switch (verdict) {
    case 'passed':
      return row('solved', true, true, 'all target tests pass, and none that passed before fails');
    case 'passed_with_test_changes':
      // Counts as unsolved in the group's mean, but is never trained on (DESIGN: two-way grading).
      return row(
        'solved_with_test_changes',
        true,
        false,
        'passes only with its changes to tests or configuration',
      );
    case 'failed':
      return row('failed', true, true, 'the submitted patch does not pass');
    case undefined:
      return row('invalid', false, false, 'the submitted patch could not be graded');
  }
}

function row(
  outcome: Outcome,
  inGroupMean: boolean,
  inGradient: boolean,
  reason: string,
): OutcomeRow {
  return { outcome, reward: REWARDS[outcome], inGroupMean, inGradient, reason };
}
