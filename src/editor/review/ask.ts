import type * as vscode from 'vscode';
import type { Review, Unit } from './model.ts';

/** Asks before what a person should not take without a look: the only modal question of a review. */
export async function ask(
  vs: typeof vscode,
  review: Review,
  units: readonly Unit[],
): Promise<boolean> {
  const { l10n } = vs;
  const files = [...new Set(units.map(({ file }) => file))];
  const later = files.filter(({ file }) => file.runsLater).map(({ file }) => file.path);
  const withTests = review.input.outcome === 'solved_with_test_changes' && !review.confirmed;
  if (later.length === 0 && !withTests) return true;

  const steering = review.files.filter(({ file }) => file.steersTests).map(({ file }) => file.path);
  const detail = [
    ...(withTests
      ? [
          l10n.t(
            'The tests pass only because tests, or how they are run, are changed as well: {0}. The bug may still be there.',
            steering.join(', '),
          ),
        ]
      : []),
    ...(later.length > 0
      ? [
          l10n.t(
            'What is in these files runs by itself later, for example when the folder is opened or at a commit: {0}. Read it first.',
            later.join(', '),
          ),
        ]
      : []),
  ];
  const accept = l10n.t('Accept');
  const answer = await vs.window.showWarningMessage(
    l10n.t('Accept this change all the same?'),
    { modal: true, detail: detail.join('\n\n') },
    accept,
  );
  if (answer !== accept) return false;
  review.confirmed = true;
  return true;
}
