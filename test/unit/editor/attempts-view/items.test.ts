import { describe, expect, it } from 'vitest';
import { attemptItem } from '../../../../src/editor/attempts-view/attempt-item.ts';
import { groupItem } from '../../../../src/editor/attempts-view/group-item.ts';
import { groupAttempts } from '../../../../src/editor/attempts-view/groups.ts';
import type { ListedAttempt } from '../../../../src/editor/attempts-view/listed.ts';
import type { ShownOutcome } from '../../../../src/editor/support/attempt-words.ts';
import { createFakeVs } from '../../../support/fake-vs.ts';
import { attempt } from './make.ts';

const { vs } = createFakeVs();
const item = (over: Partial<ListedAttempt>, named = true) =>
  attemptItem(vs, attempt(over), named, 'the node');

describe('the row of an attempt', () => {
  it('says test, outcome, policy, turns and times, in words', () => {
    expect(item({})).toMatchObject({
      id: 'a-1',
      label: 'adds tax',
      description: expect.stringMatching(/^Solved · edit-search · 5 turns · 12 s · 2:03\sPM$/),
      iconPath: { id: 'pass-filled', color: { id: 'testing.iconPassed' } },
      contextValue: 'attempt-recorded',
      accessibilityInformation: {
        label: expect.stringMatching(/^Solved, adds tax, edit-search, 5 turns, 12 s, 2:03\sPM$/),
      },
      command: { command: 'primeAgent.openTranscript', arguments: ['the node'] },
    });
    expect(item({}).tooltip).toMatch(
      /^Solved: all target tests pass\ntest\/cart\.test\.js::cart > adds tax\nMar 9, 2026, 2:03\sPM\na-1$/,
    );
  });

  it('does not repeat the test below a group that names it', () => {
    expect(item({ turns: 1 }, false)).toMatchObject({
      label: 'Solved',
      description: expect.stringMatching(/^edit-search · 1 turn · 12 s/),
    });
  });

  it('says of several tests how many more there are', () => {
    expect(item({ targets: ['a::one', 'a::two', 'a::three'] }).label).toBe('one and 2 more');
  });

  it('says what a running one does', () => {
    const running = { outcome: 'running', reason: 'bash', durationMs: undefined } as const;
    expect(item(running)).toMatchObject({
      description: expect.stringMatching(/^Running · edit-search · 5 turns · bash · /),
      iconPath: { id: 'loading~spin' },
      contextValue: 'attempt-running',
    });
  });

  it('of a damaged record says why', () => {
    const damaged = {
      outcome: 'damaged',
      targets: [],
      startedAt: undefined,
      durationMs: undefined,
      policy: '',
      turns: 0,
      reason: 'line 1: not JSON',
    } as const;
    expect(item(damaged)).toMatchObject({
      label: 'Damaged',
      contextValue: 'attempt-damaged',
      tooltip: 'Damaged: line 1: not JSON\na-1',
    });
  });

  it('has a word of its own for every outcome, and an icon', () => {
    const outcomes: readonly ShownOutcome[] = [
      'solved',
      'solved_with_test_changes',
      'failed',
      'invalid_tool_call',
      'out_of_budget',
      'invalid',
      'unfinished',
      'damaged',
      'running',
      'grading',
      'dropped',
    ];
    const words = outcomes.map((outcome) => String(item({ outcome }, false).label));
    expect(new Set(words).size).toBe(outcomes.length);
  });
});

describe('the row of a group', () => {
  const now = new Date(2026, 2, 9, 20, 0);
  const rows = (attempts: readonly ListedAttempt[], grouping: 'day' | 'fix') =>
    groupAttempts(attempts, grouping).map((group, at) => groupItem(vs, group, now, at === 0));

  it('of a day says which, how many, and how many are solved', () => {
    const found = rows(
      [
        attempt({ id: 'c' }),
        attempt({ id: 'b', outcome: 'failed' }),
        attempt({ id: 'y', startedAt: new Date(2026, 2, 8) }),
        attempt({ id: 'x', startedAt: new Date(2026, 1, 1), outcome: 'failed' }),
        attempt({ id: 'w', startedAt: undefined, outcome: 'damaged' }),
      ],
      'day',
    );
    expect(
      found.map(({ label, description, collapsibleState }) => [
        label,
        description,
        collapsibleState,
      ]),
    ).toEqual([
      ['Today', '2 attempts · 1 solved', 2],
      ['Yesterday', '1 attempt · 1 solved', 1],
      ['Sunday, February 1, 2026', '1 attempt', 1],
      ['Without a date', '1 attempt', 1],
    ]);
  });

  it('of a fix says its tests, and is worth its best attempt', () => {
    const [row] = rows(
      [
        attempt({ id: 'c', outcome: 'invalid' }),
        attempt({ id: 'b' }),
        attempt({ id: 'a', outcome: 'failed' }),
      ],
      'fix',
    );
    expect(row).toMatchObject({
      label: 'adds tax',
      description: expect.stringMatching(/^3 attempts · 1 solved · Mar 9, 2026/),
      iconPath: { id: 'pass-filled' },
      accessibilityInformation: { label: expect.stringMatching(/^Solved, adds tax, 3 attempts/) },
    });
  });
});
