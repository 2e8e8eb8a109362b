import { describe, expect, it } from 'vitest';
import { dayOf, groupAttempts } from '../../../../src/editor/attempts-view/groups.ts';
import { attempt } from './make.ts';

const shape = (groups: ReturnType<typeof groupAttempts>) =>
  groups.map(({ key, attempts }) => [key, attempts.map(({ id }) => id)]);

describe('attempts', () => {
  const late = new Date(2026, 2, 9, 23, 59);
  const early = new Date(2026, 2, 9, 0, 0);
  const before = new Date(2026, 2, 8, 23, 59);
  const attempts = [
    attempt({ id: 'd', seriesId: 's2', startedAt: late }),
    attempt({ id: 'c', seriesId: 's1', startedAt: early }),
    attempt({ id: 'b', seriesId: 's1', startedAt: before }),
    attempt({ id: 'a', seriesId: '', startedAt: undefined, outcome: 'damaged' }),
    attempt({ id: '0', seriesId: '', startedAt: undefined, outcome: 'damaged' }),
  ];

  it('are together by the day of the user’s clock', () => {
    expect(shape(groupAttempts(attempts, 'day'))).toEqual([
      ['2026-03-09', ['d', 'c']],
      ['2026-03-08', ['b']],
      ['', ['a', '0']],
    ]);
  });

  it('are together by the fix that made them; one without a fix is alone', () => {
    expect(shape(groupAttempts(attempts, 'fix'))).toEqual([
      ['s2', ['d']],
      ['s1', ['c', 'b']],
      ['a', ['a']],
      ['0', ['0']],
    ]);
  });

  it('have days that sort as text', () => {
    expect(dayOf(new Date(2026, 0, 2))).toBe('2026-01-02');
  });
});
