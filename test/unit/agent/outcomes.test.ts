import { describe, expect, it } from 'vitest';
import { type AttemptEnd, outcomeOf, type Verdict } from '../../../src/core/agent/outcomes.ts';

const submitted: AttemptEnd = { kind: 'submitted' };

describe('the table of outcomes', () => {
  it.each<[AttemptEnd, Verdict | undefined, string, 0 | 1 | null, boolean, boolean]>([
    [submitted, 'passed', 'solved', 1, true, true],
    [submitted, 'passed_with_test_changes', 'solved_with_test_changes', 0, true, false],
    [submitted, 'failed', 'failed', 0, true, true],
    [submitted, undefined, 'invalid', null, false, false],
    [{ kind: 'invalid_tool_call', reason: 'x' }, undefined, 'invalid_tool_call', 0, true, true],
    [{ kind: 'budget', budget: 'turns' }, undefined, 'out_of_budget', 0, true, false],
    [{ kind: 'budget', budget: 'context_tokens' }, undefined, 'out_of_budget', 0, true, false],
    [{ kind: 'budget', budget: 'generated_tokens' }, undefined, 'out_of_budget', 0, true, false],
    [{ kind: 'budget', budget: 'time' }, undefined, 'out_of_budget', 0, true, false],
    [{ kind: 'budget', budget: 'reply' }, undefined, 'out_of_budget', 0, true, false],
    [{ kind: 'budget', budget: 'no_call' }, undefined, 'out_of_budget', 0, true, false],
    [{ kind: 'budget', budget: 'tries' }, undefined, 'out_of_budget', 0, true, false],
    [{ kind: 'cancelled' }, undefined, 'invalid', null, false, false],
    [{ kind: 'infrastructure', reason: 'disk full' }, undefined, 'invalid', null, false, false],
  ])(
    '%o with verdict %s is %s, reward %s',
    (end, verdict, outcome, reward, inGroupMean, inGradient) => {
      expect(outcomeOf(end, verdict)).toMatchObject({ outcome, reward, inGroupMean, inGradient });
    },
  );

  it('never rewards an end other than a submission, whatever the verdict says', () => {
    for (const end of [{ kind: 'cancelled' }, { kind: 'budget', budget: 'time' }] as const) {
      expect(outcomeOf(end, 'passed').reward).not.toBe(1);
    }
  });

  it('trains on attempts out of budget only when told to', () => {
    const end: AttemptEnd = { kind: 'budget', budget: 'turns' };
    expect(outcomeOf(end, undefined, { trainOnOutOfBudget: true }).inGradient).toBe(true);
  });

  it('says the reason of an infrastructure failure in its own words', () => {
    expect(
      outcomeOf({ kind: 'infrastructure', reason: 'the disk is full' }, undefined).reason,
    ).toBe('the disk is full');
  });
});
