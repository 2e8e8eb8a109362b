import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../../src/core/agent/outcomes.ts';
import type { AttemptReport } from '../../../src/core/fix/attempt.ts';
import { bestOf, changedLines } from '../../../src/core/fix/series.ts';

const report = (
  attemptId: string,
  verdict: 'passed' | 'passed_with_test_changes' | 'failed',
  patch: string,
): AttemptReport => ({
  attemptId,
  row: outcomeOf({ kind: 'submitted' }, verdict),
  end: { kind: 'submitted' },
  patch,
  summary: '',
  totals: { turns: 1, promptTokens: 0, completionTokens: 0 },
  effort: { edits: 1, testRuns: 1, tries: 1 },
  durationMs: 1,
  endedAt: '2026-01-01T00:00:00.000Z',
});

describe('the best of a series', () => {
  it('is the smallest solved patch', () => {
    const best = bestOf([
      report('a', 'passed', '-x\n+y\n+z\n'),
      report('b', 'passed', '-x\n+y\n'),
      report('c', 'failed', '+a\n'),
    ]);
    expect(best?.attemptId).toBe('b');
  });

  it('prefers any solved patch to one that needs its changes to tests', () => {
    const best = bestOf([
      report('a', 'passed_with_test_changes', '+y\n'),
      report('b', 'passed', '+y\n+y\n+y\n'),
    ]);
    expect(best?.attemptId).toBe('b');
  });

  it('is none when all have failed', () => {
    expect(bestOf([report('a', 'failed', '+y\n')])).toBeUndefined();
  });

  it('does not count the headers of files as changed lines', () => {
    expect(changedLines('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n')).toBe(2);
  });
});
