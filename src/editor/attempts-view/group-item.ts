import type * as vscode from 'vscode';
import { outcomeWord, type ShownOutcome } from '../support/attempt-words.ts';
import { outcomeIcon, testsText, timeText } from './attempt-item.ts';
import { type AttemptGroup, dayOf } from './groups.ts';

/** @param now decides what *today* is */
export function groupItem(
  vs: typeof vscode,
  group: AttemptGroup,
  now: Date,
  first: boolean,
): vscode.TreeItem {
  const { l10n } = vs;
  const { attempts, grouping, key } = group;
  const count =
    attempts.length === 1 ? l10n.t('1 attempt') : l10n.t('{0} attempts', attempts.length);
  const label = grouping === 'day' ? dayText(vs, key, now) : fixText(vs, group);
  const item = new vs.TreeItem(
    label,
    // The newest is what people look for.
    first ? vs.TreeItemCollapsibleState.Expanded : vs.TreeItemCollapsibleState.Collapsed,
  );
  item.id = `${grouping} ${key}`;
  item.contextValue = 'attempt-group';
  const solved = attempts.filter(({ outcome }) => outcome === 'solved').length;
  const solvedText = solved === 0 ? '' : l10n.t('{0} solved', solved);
  const [newest] = attempts;
  const time = grouping === 'fix' && newest?.startedAt ? timeText(vs, newest.startedAt) : '';
  item.description = [count, solvedText, time].filter(Boolean).join(' · ');
  if (grouping === 'fix') {
    const best = bestOf(group);
    item.iconPath = outcomeIcon(vs, best);
    item.accessibilityInformation = {
      label: [outcomeWord(l10n, best), label, item.description].join(', '),
    };
  }
  return item;
}

function fixText(vs: typeof vscode, { attempts }: AttemptGroup): string {
  const targets = [...new Set(attempts.flatMap((attempt) => attempt.targets))];
  return testsText(vs, targets) || vs.l10n.t('Damaged record');
}

const BEST_FIRST: readonly ShownOutcome[] = [
  'solved',
  'solved_with_test_changes',
  'failed',
  'out_of_budget',
];

/** A fix is worth its best attempt. */
function bestOf({ attempts }: AttemptGroup): ShownOutcome {
  const outcomes = attempts.map(({ outcome }) => outcome);
  return BEST_FIRST.find((outcome) => outcomes.includes(outcome)) ?? outcomes[0] ?? 'unfinished';
}

function dayText({ l10n, env }: typeof vscode, key: string, now: Date): string {
  if (key === '') return l10n.t('Without a date');
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (key === dayOf(now)) return l10n.t('Today');
  if (key === dayOf(yesterday)) return l10n.t('Yesterday');
  const [year = 0, month = 1, day = 1] = key.split('-').map(Number);
  return new Intl.DateTimeFormat(env.language, { dateStyle: 'full' }).format(
    new Date(year, month - 1, day),
  );
}
