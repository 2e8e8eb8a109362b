import type * as vscode from 'vscode';
import type { FixTarget, TestRunsPort } from '../ports.ts';
import {
  commandAction,
  type MessageAction,
  type MessageLevel,
  showMessage,
} from '../support/messages.ts';
import { ask } from './ask.ts';
import { openDocument } from './current.ts';
import type { FeedbackRecorder } from './feedback.ts';
import { openUnits, type Review, type ReviewedFile, type Unit, unitsOf } from './model.ts';
import { rerunTests } from './rerun.ts';
import { takeUnits, type UnitConflict, type UnsavedFile } from './take.ts';
import type { Watch } from './watch.ts';
import { changesText, conflictText, filesText } from './words.ts';

/** Taking and discarding, one decision after the other. */
export interface Decisions {
  accept(units: readonly Unit[]): Promise<void>;
  discard(units: readonly Unit[]): Promise<void>;
  /** A person, or the editor, has saved a file. */
  saved(uri: vscode.Uri): void;
  /** Runs work when the decisions before it are done, however fast the keys are. */
  inTurn(work: () => void | Promise<void>): Promise<void>;
}

export interface DecisionsDeps {
  readonly vs: typeof vscode;
  readonly log: vscode.LogOutputChannel;
  readonly feedback: FeedbackRecorder;
  readonly watch: Pick<Watch, 'holdWhile' | 'refresh'>;
  readonly testRuns: TestRunsPort;
  /** Everything that shows reviews. */
  readonly show: () => void;
  readonly showPatch: (file: ReviewedFile) => unknown;
  /** Nothing of it is open any more. */
  readonly decided: (review: Review) => void;
}

export function createDecisions(deps: DecisionsDeps): Decisions {
  const { vs, log, feedback, watch, testRuns, show, showPatch, decided } = deps;
  const { l10n } = vs;
  let queue: Promise<void> = Promise.resolve();
  /** Files that must be saved before the tests can say anything. */
  const waiting = new Map<Review, Set<string>>();

  function inTurn(work: () => void | Promise<void>): Promise<void> {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  }

  async function accept(units: readonly Unit[]): Promise<void> {
    const [first] = units;
    if (!first) return tellNothing();
    const { review } = first.file;
    if (!(await ask(vs, review, units))) return;
    const outcome = await watch.holdWhile(() => takeUnits(vs, units));
    if (outcome.kind === 'conflicts') {
      await watch.refresh(review);
      return tellConflicts(units, outcome.conflicts);
    }
    if (outcome.kind === 'refused') return tellRefused(units);
    for (const { file, units: own, before, after } of outcome.files) {
      for (const unit of own) unit.decision = 'accepted';
      file.taken.push({ units: own, before, after });
      file.undone.length = 0;
    }
    feedback.decided(review, 'accepted', units);
    await watch.refresh(review);
    const unsaved = outcome.unsaved.filter(
      ({ file }) => openDocument(vs, file.uri)?.isDirty === true,
    );
    if (unsaved.length > 0) return tellUnsaved(review, unsaved);
    finish(review, l10n.t('Accepted: {0}.', changesText(vs, units.length)));
  }

  async function discard(units: readonly Unit[]): Promise<void> {
    const [first] = units;
    if (!first) return tellNothing();
    const { review } = first.file;
    for (const unit of units) unit.decision = 'discarded';
    feedback.decided(review, 'discarded', units);
    await watch.refresh(review);
    finish(review, l10n.t('Discarded: {0}.', changesText(vs, units.length)));
  }

  /** When everything is decided, the tests say whether it was right. */
  function finish(review: Review, text: string): void {
    const units = unitsOf(review);
    if (openUnits(units).length > 0) {
      vs.window.setStatusBarMessage(text, 5_000);
      return;
    }
    decided(review);
    if (units.every(({ decision }) => decision === 'discarded')) {
      tell('information', l10n.t('Discarded. Your files are as they were.'), []);
      return;
    }
    // Not waited for: tests may take long, and the next decision need not wait for them.
    void rerun(review).catch((error: unknown) => log.error(String(error)));
  }

  async function rerun(review: Review): Promise<void> {
    review.rerun = 'running';
    show();
    review.rerun = await rerunTests(review, testRuns);
    if (review.rerun) {
      feedback.tested(review, review.rerun.passed, review.rerun.failed.length);
      tellRerun(review, review.rerun);
    }
    show();
  }

  function tellRerun(
    review: Review,
    { passed, failed }: { readonly passed: number; readonly failed: readonly string[] },
  ): void {
    const units = unitsOf(review);
    const accepted = units.filter(({ decision }) => decision === 'accepted').length;
    const what =
      accepted === units.length
        ? l10n.t('Accepted.')
        : l10n.t('{0} of {1} changes accepted.', accepted, units.length);
    if (failed.length === 0) {
      const result =
        passed === 1
          ? l10n.t('The test passes in the workspace.')
          : l10n.t('All {0} tests pass in the workspace.', passed);
      tell('information', `${what} ${result}`, []);
      return;
    }
    const target: FixTarget = { uri: review.input.folder.uri, tests: failed };
    const result = l10n.t(
      'In the workspace these tests fail: {0}. Undo takes the change back.',
      failed.join(', '),
    );
    tell('warning', `${what} ${result}`, [
      commandAction(vs, l10n.t('Fix Again'), 'primeAgent.fixTest', target),
    ]);
  }

  function tellUnsaved(review: Review, unsaved: readonly UnsavedFile[]): void {
    const uris = unsaved.map(({ file }) => file.uri);
    waiting.set(review, new Set(uris.map(String)));
    const paths = unsaved.map(({ file }) => file.file.path).join(', ');
    const text = unsaved.some(({ reason }) => reason === 'mine')
      ? l10n.t(
          'The change is in {0}, which has unsaved changes of yours. Save it to test the change.',
          paths,
        )
      : l10n.t(
          'The change is in {0}, which could not be saved. Save it to test the change.',
          paths,
        );
    const save = async (): Promise<void> => {
      for (const uri of uris) await (await vs.workspace.openTextDocument(uri)).save();
    };
    tell('warning', text, [{ title: l10n.t('Save'), run: save }]);
  }

  /** However it came to be saved: with the button, by hand or by the editor itself. */
  function saved(uri: vscode.Uri): void {
    for (const [review, uris] of waiting) {
      if (!uris.delete(uri.toString()) || uris.size > 0) continue;
      waiting.delete(review);
      finish(review, l10n.t('Saved.'));
    }
  }

  function tellConflicts(units: readonly Unit[], conflicts: readonly UnitConflict[]): void {
    const [first] = conflicts;
    if (!first) return;
    const { file } = first.unit;
    const blocked = new Set(conflicts.map(({ unit }) => unit));
    const others = units.filter((unit) => !blocked.has(unit));
    const actions: MessageAction[] = [
      ...(others.length > 0
        ? [{ title: l10n.t('Accept the Others'), run: () => inTurn(() => accept(others)) }]
        : []),
      { title: l10n.t('Show Patch'), run: () => showPatch(file) },
      { title: l10n.t('Discard'), run: () => inTurn(() => discard([...blocked])) },
    ];
    const more = new Set(conflicts.map(({ unit }) => unit.file)).size - 1;
    const text = [
      ...(units.length > 1 ? [l10n.t('Nothing was changed.')] : []),
      conflictText(vs, file.file.path, first.kind),
      ...(more > 0 ? [l10n.t('The same is true of {0} more.', filesText(vs, more))] : []),
    ];
    tell('warning', text.join(' '), actions);
  }

  function tellRefused(units: readonly Unit[]): void {
    const text = l10n.t('The editor did not take the change. Your files are as they were.');
    tell('error', text, [{ title: l10n.t('Try Again'), run: () => inTurn(() => accept(units)) }]);
  }

  function tellNothing(): void {
    tell('information', l10n.t('There is no open change here.'), []);
  }

  /** Shown without waiting for an answer, and without taking the focus. */
  function tell(level: MessageLevel, text: string, actions: readonly MessageAction[]): void {
    log.info(text);
    void showMessage(vs, level, text, actions);
  }

  return { accept, discard, saved, inTurn };
}
