import type * as vscode from 'vscode';
import type { FixReviewInput, ReviewPort, TestRunsPort } from '../ports.ts';
import { lazy } from '../support/lazy.ts';
import { showMessage } from '../support/messages.ts';
import type { VirtualDocuments } from '../support/virtual-documents.ts';

/** The plainest review: the patch as a document, taken as a whole or not at all. */
export function createPatchReview(
  vs: typeof vscode,
  documents: VirtualDocuments,
  testRuns: TestRunsPort,
): ReviewPort {
  const applying = lazy(() => import('./apply-patch.ts'));

  const apply = async (input: FixReviewInput): Promise<void> => {
    const { applyThroughEditor } = await applying();
    const outcome = await applyThroughEditor(vs, input.folder, input.patch);
    if (outcome.kind === 'refused') {
      return showMessage(vs, 'warning', outcome.reason, [
        { title: vs.l10n.t('Apply Again'), run: () => apply(input) },
      ]);
    }
    const ids = input.tests.filter(({ after }) => after === 'passed').map(({ id }) => id);
    const after = await testRuns.run(input.folder, ids);
    if (after === undefined) return;
    const red = after.filter(({ id, status }) => ids.includes(id) && status !== 'passed');
    if (red.length > 0) {
      void showMessage(
        vs,
        'warning',
        vs.l10n.t(
          'Applied, but these tests fail in the workspace: {0}',
          red.map(({ id }) => id).join(', '),
        ),
      );
    } else
      void showMessage(vs, 'information', vs.l10n.t('Applied. The tests pass in the workspace.'));
  };

  return {
    async open(input) {
      await documents.open('fix.diff', input.patch);
      const files = input.files.map(({ path }) => path).join(', ');
      const text =
        input.outcome === 'solved'
          ? vs.l10n.t('This change to {0} makes the tests pass. Apply it?', files)
          : vs.l10n.t(
              'This change to {0} makes the test pass only because it changes tests or configuration. Apply it all the same?',
              files,
            );
      // Not waited for: the review is open, and may be decided much later.
      void showMessage(vs, input.outcome === 'solved' ? 'information' : 'warning', text, [
        { title: vs.l10n.t('Apply'), run: () => apply(input) },
        { title: vs.l10n.t('Discard'), run: () => undefined },
      ]);
    },
  };
}
