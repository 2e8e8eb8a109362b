import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import { duration, outcomeWord, type ShownOutcome, testName } from '../support/attempt-words.ts';
import { isLive, type ListedAttempt } from './listed.ts';

/** Shapes and colours of the editor itself; the word beside them says the same. */
const ICONS: Readonly<Record<ShownOutcome, readonly [icon: string, colour?: string]>> = {
  solved: ['pass-filled', 'testing.iconPassed'],
  solved_with_test_changes: ['warning', 'list.warningForeground'],
  failed: ['error', 'testing.iconFailed'],
  invalid_tool_call: ['error', 'testing.iconFailed'],
  out_of_budget: ['watch', 'testing.iconFailed'],
  invalid: ['circle-slash', 'disabledForeground'],
  unfinished: ['circle-large-outline', 'disabledForeground'],
  damaged: ['question', 'list.errorForeground'],
  running: ['loading~spin'],
  grading: ['loading~spin'],
  dropped: ['circle-slash', 'disabledForeground'],
};

export function outcomeIcon(vs: typeof vscode, outcome: ShownOutcome): vscode.ThemeIcon {
  const [icon, colour] = ICONS[outcome];
  return colour === undefined
    ? new vs.ThemeIcon(icon)
    : new vs.ThemeIcon(icon, new vs.ThemeColor(colour));
}

const OPEN: CommandId = 'primeAgent.openTranscript';

/**
 * @param named its test is in its label (else the group around it says so)
 * @param argument what its commands get
 */
export function attemptItem(
  vs: typeof vscode,
  attempt: ListedAttempt,
  named: boolean,
  argument: unknown,
): vscode.TreeItem {
  const word = outcomeWord(vs.l10n, attempt.outcome);
  const test = testsText(vs, attempt.targets);
  const facts = factsOf(vs, attempt);
  const item = new vs.TreeItem(
    named && test !== '' ? test : word,
    vs.TreeItemCollapsibleState.None,
  );
  item.id = attempt.id;
  item.description = (named && test !== '' ? [word, ...facts] : facts).join(' · ');
  item.iconPath = outcomeIcon(vs, attempt.outcome);
  item.contextValue = contextOf(attempt);
  item.tooltip = [
    attempt.reason === '' ? word : `${word}: ${attempt.reason}`,
    ...attempt.targets,
    attempt.startedAt === undefined ? '' : timeText(vs, attempt.startedAt),
    attempt.id,
  ]
    .filter((line) => line !== '')
    .join('\n');
  item.accessibilityInformation = { label: [word, test, ...facts].filter(Boolean).join(', ') };
  item.command = { title: vs.l10n.t('Open Transcript'), command: OPEN, arguments: [argument] };
  return item;
}

/** For `when` clauses of menus: `viewItem == attempt-recorded`. */
function contextOf(attempt: ListedAttempt): string {
  if (isLive(attempt)) return 'attempt-running';
  if (attempt.outcome === 'damaged') return 'attempt-damaged';
  return attempt.outcome === 'unfinished' ? 'attempt-unfinished' : 'attempt-recorded';
}

function factsOf(vs: typeof vscode, attempt: ListedAttempt): readonly string[] {
  const { l10n } = vs;
  const { policy, turns, durationMs, startedAt } = attempt;
  return [
    policy,
    turns === 1 ? l10n.t('1 turn') : l10n.t('{0} turns', turns),
    isLive(attempt) ? attempt.reason : '',
    durationMs === undefined ? '' : duration(l10n, durationMs),
    startedAt === undefined ? '' : clock(vs, startedAt),
  ].filter((fact) => fact !== '');
}

export function testsText({ l10n }: typeof vscode, targets: readonly string[]): string {
  const [first, ...more] = targets;
  if (first === undefined) return '';
  const name = testName(first);
  return more.length === 0 ? name : l10n.t('{0} and {1} more', name, more.length);
}

function clock({ env }: typeof vscode, time: Date): string {
  return new Intl.DateTimeFormat(env.language, { timeStyle: 'short' }).format(time);
}

export function timeText({ env }: typeof vscode, time: Date): string {
  const format = { dateStyle: 'medium', timeStyle: 'short' } as const;
  return new Intl.DateTimeFormat(env.language, format).format(time);
}
