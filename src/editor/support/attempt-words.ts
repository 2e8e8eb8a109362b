import type * as vscode from 'vscode';
import type { AttemptSummary } from '../../core/trajectories/summary.ts';
import { namesOf } from '../tests/test-tree.ts';

type L10n = Pick<typeof vscode.l10n, 't'>;

/** `grading`: the agent is done. `dropped`: another attempt at the same test was faster. */
export type ShownOutcome = AttemptSummary['outcome'] | 'running' | 'grading' | 'dropped';

/** How an attempt ended, or how it stands, in a word or two. */
export function outcomeWord(l10n: L10n, outcome: ShownOutcome): string {
  switch (outcome) {
    case 'solved':
      return l10n.t('Solved');
    case 'solved_with_test_changes':
      return l10n.t('Solved with test changes');
    case 'failed':
      return l10n.t('Not solved');
    case 'invalid_tool_call':
      return l10n.t('Invalid call');
    case 'out_of_budget':
      return l10n.t('Out of budget');
    case 'invalid':
      return l10n.t('Does not count');
    case 'unfinished':
      return l10n.t('Unfinished');
    case 'damaged':
      return l10n.t('Damaged');
    case 'running':
      return l10n.t('Running');
    case 'grading':
      return l10n.t('Checking the patch');
    case 'dropped':
      return l10n.t('Stopped');
  }
}

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(l10n: L10n, milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 9.95) return l10n.t('{0} s', seconds.toFixed(1));
  const whole = Math.round(seconds);
  if (whole < 60) return l10n.t('{0} s', whole);
  if (whole < 3600) return l10n.t('{0} min {1} s', Math.floor(whole / 60), whole % 60);
  const minutes = Math.round(whole / 60);
  return l10n.t('{0} h {1} min', Math.floor(minutes / 60), minutes % 60);
}

/** The last part of a test's id: what its author called it. */
export function testName(id: string): string {
  return namesOf(id).at(-1) || id;
}
