import type * as vscode from 'vscode';
import { touchedPaths } from '../../core/snapshot/apply-compute.ts';
import type { CommandId } from '../contract/commands.ts';
import { CONTEXT_KEYS } from '../contract/context-keys.ts';
import { VIEWS } from '../contract/views.ts';
import type { FixReviewInput, ReviewPort, TestRunsPort } from '../ports.ts';
import { showMessage } from '../support/messages.ts';
import { namesOf } from '../tests/test-tree.ts';
import { createDecisions } from './decisions.ts';
import { createReviewDiffs } from './diffs.ts';
import { createReviewDocuments, REVIEW_SCHEME } from './documents.ts';
import { createFeedbackRecorder } from './feedback.ts';
import { createKeeper, decideAgain, keptReviews } from './kept-reviews.ts';
import { createReviewLenses } from './lenses.ts';
import { openUnits, type Review, type ReviewedFile, type Unit, unitsOf } from './model.ts';
import { createNodes, type ReviewNode } from './nodes.ts';
import { openReview } from './open-review.ts';
import { toLines } from './patch/apply.ts';
import { createTargets } from './targets.ts';
import { createReviewTree } from './tree.ts';
import { isKept } from './view.ts';
import { createWatch } from './watch.ts';
import { changesText } from './words.ts';

export type ReviewCommand = Extract<
  CommandId,
  | 'primeAgent.acceptChange'
  | 'primeAgent.discardChange'
  | 'primeAgent.acceptFile'
  | 'primeAgent.discardFile'
  | 'primeAgent.acceptAll'
  | 'primeAgent.discardAll'
  | 'primeAgent.showChanges'
  | 'primeAgent.showEvidence'
  | 'primeAgent.closeReview'
>;

export interface Reviews extends ReviewPort, vscode.Disposable {
  run(command: ReviewCommand, args: readonly unknown[]): Promise<void>;
  /** Shows the reviews that the last window left, without taking the focus. */
  restore(): Promise<void>;
  /** Resolves when everything that was decided is recorded. */
  settled(): Promise<void>;
}

export interface ReviewsDeps {
  readonly vs: typeof vscode;
  readonly log: vscode.LogOutputChannel;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly testRuns: TestRunsPort;
  /** Of the workspace: open reviews outlive their window. */
  readonly memento: vscode.Memento;
}

/** So many closed reviews have their accepted lines followed. */
const MOST_CLOSED = 20;

/** Reviews of verified patches: what is shown, what is decided, and what becomes of it. */
export function createReviews(deps: ReviewsDeps): Reviews {
  const { vs, log, environment, testRuns, memento } = deps;
  const { l10n } = vs;
  /** Newest first. */
  const reviews: Review[] = [];
  const closed: Review[] = [];
  const nodes = createNodes();
  const changed = new vs.EventEmitter<void>();
  const keep = createKeeper(memento);
  const feedback = createFeedbackRecorder(log, environment);
  const documents = createReviewDocuments(vs, () => reviews);
  const diffs = createReviewDiffs(vs, documents);
  const tree = vs.window.createTreeView<ReviewNode>(VIEWS.review, {
    treeDataProvider: createReviewTree(vs, nodes, () => reviews, changed.event),
    canSelectMany: true,
  });
  const watch = createWatch({
    vs,
    reviews: () => reviews,
    changed: show,
    undone: (review, units) => feedback.decided(review, 'undone', units),
    redone: (review, units) => feedback.decided(review, 'accepted', units),
    saved(uri, text) {
      recordEdits(uri, text);
      decisions.saved(uri);
    },
  });
  const decisions = createDecisions({
    ...{ vs, log, feedback, watch, testRuns, show },
    showPatch: (file) => vs.window.showTextDocument(documents.patch(file)),
    decided: diffs.close,
  });
  const targets = createTargets({ vs, nodes, tree, reviews: () => reviews, filesOf });

  function filesOf(uri: vscode.Uri): readonly ReviewedFile[] {
    if (uri.scheme === REVIEW_SCHEME) {
      const file = documents.fileOf(uri);
      return file ? [file] : [];
    }
    const key = uri.toString();
    return reviews.flatMap(({ files }) => files.filter((file) => file.uri.toString() === key));
  }

  function show(): void {
    changed.fire();
    documents.refresh(reviews);
    keep(reviews).then(undefined, (error: unknown) => log.warn(String(error)));
    const units = openUnits(reviews.flatMap(unitsOf));
    const conflicts = units.filter((unit) => unit.file.view.conflicts.has(unit)).length;
    const tooltip = l10n.t('{0} open', changesText(vs, units.length));
    tree.badge = units.length === 0 ? undefined : { value: units.length, tooltip };
    tree.message =
      conflicts === 0
        ? undefined
        : l10n.t(
            '{0} cannot be accepted as things are: see the warnings below.',
            changesText(vs, conflicts),
          );
    setContext(CONTEXT_KEYS.reviewing, reviews.length > 0);
    showActive();
  }

  function showActive(): void {
    setContext(CONTEXT_KEYS.reviewActive, diffs.isActive(reviews));
  }

  function setContext(key: string, value: boolean): void {
    void vs.commands.executeCommand('setContext', key, value);
  }

  async function open(input: FixReviewInput): Promise<void> {
    const touched = touchedPaths(input.patch);
    if (touched.kind !== 'paths') {
      log.error(touched.reason);
      void showMessage(vs, 'error', touched.reason);
      return;
    }
    const known = reviews.find(({ id }) => id === input.id);
    // One that was discarded and is asked for once more begins anew.
    const again = known && !unitsOf(known).every(({ decision }) => decision === 'discarded');
    const review = again ? known : await begin(input);
    show();
    await diffs.showAll(review);
    await tree
      .reveal(nodes.review(review), { select: true, focus: false, expand: 2 })
      .then(undefined, (error: unknown) => log.warn(String(error)));
  }

  async function begin(input: FixReviewInput): Promise<Review> {
    const review = await openReview(vs, input, titleOf(input));
    for (const done of reviews.filter((other) => openUnits(unitsOf(other)).length === 0)) {
      close(done);
    }
    add(review);
    return review;
  }

  function add(review: Review): void {
    reviews.unshift(review);
    watch.follow(review);
  }

  async function restore(): Promise<void> {
    const folders = vs.workspace.workspaceFolders ?? [];
    for (const kept of keptReviews(memento, folders).toReversed()) {
      const { input } = kept;
      const known = reviews.some(({ id }) => id === input.id);
      if (known || touchedPaths(input.patch).kind !== 'paths') continue;
      const review = await openReview(vs, input, titleOf(input));
      decideAgain(review, kept);
      add(review);
    }
    show();
  }

  function titleOf({ tests }: FixReviewInput): string {
    const passing = tests.filter(({ after }) => after === 'passed');
    const [first] = passing.length > 0 ? passing : tests;
    if (!first || passing.length > 1) return l10n.t('Review: {0} tests', passing.length);
    return l10n.t('Review: {0}', namesOf(first.id).at(-1) ?? first.id);
  }

  function close(review: Review): void {
    reviews.splice(reviews.indexOf(review), 1);
    watch.unfollow(review);
    closed.unshift(review);
    closed.length = Math.min(closed.length, MOST_CLOSED);
    diffs.close(review);
  }

  function recordEdits(uri: vscode.Uri, text: string): void {
    const lines = toLines(text);
    const key = uri.toString();
    for (const review of [...reviews, ...closed]) {
      const edited = unitsOf(review).filter(
        ({ decision, change, edited, file }) =>
          decision === 'accepted' &&
          !edited &&
          change !== undefined &&
          file.uri.toString() === key &&
          !isKept(change, lines),
      );
      for (const unit of edited) unit.edited = true;
      feedback.decided(review, 'edited', edited);
    }
  }

  function openOf(args: readonly unknown[]): readonly Unit[] {
    const review = targets.review(args);
    return review ? openUnits(unitsOf(review)) : [];
  }

  async function showChanges(args: readonly unknown[]): Promise<void> {
    const [node] = targets.nodes(args);
    if (node?.kind === 'file') return diffs.showFile(node.file);
    if (node?.kind === 'unit') return diffs.showFile(node.unit.file, node.unit);
    const review = targets.review(args);
    if (review) await diffs.showAll(review);
  }

  async function showEvidence(args: readonly unknown[]): Promise<void> {
    const review = targets.review(args);
    if (!review) return;
    await vs.commands.executeCommand('markdown.showPreview', documents.evidence(review));
  }

  const { accept, discard, inTurn } = decisions;
  const handlers: Record<ReviewCommand, (args: readonly unknown[]) => Promise<void>> = {
    'primeAgent.acceptChange': (args) => inTurn(() => accept(takeable(targets.changes(args)))),
    'primeAgent.discardChange': (args) => inTurn(() => discard(openIn(targets.changes(args)))),
    'primeAgent.acceptFile': (args) => inTurn(() => accept(openIn(targets.file(args)))),
    'primeAgent.discardFile': (args) => inTurn(() => discard(openIn(targets.file(args)))),
    'primeAgent.acceptAll': (args) => inTurn(() => accept(openOf(args))),
    'primeAgent.discardAll': (args) => inTurn(() => discard(openOf(args))),
    'primeAgent.showChanges': showChanges,
    'primeAgent.showEvidence': showEvidence,
    async 'primeAgent.closeReview'(args) {
      const review = targets.review(args);
      if (review) close(review);
      show();
    },
  };

  const parts = vs.Disposable.from(
    watch,
    createReviewLenses(vs, nodes, filesOf, changed.event),
    vs.window.tabGroups.onDidChangeTabs(showActive),
    vs.window.tabGroups.onDidChangeTabGroups(showActive),
    tree,
    documents,
    changed,
  );
  return {
    open: (input) => inTurn(() => open(input)),
    restore: () => inTurn(restore),
    run: (command, args) => handlers[command](args),
    settled: feedback.settled,
    dispose() {
      parts.dispose();
      reviews.length = 0;
    },
  };
}

/** One that was discarded can still be taken; several together are those that are open. */
function takeable(units: readonly Unit[]): readonly Unit[] {
  const open = openIn(units);
  if (open.length > 0) return open;
  return units.length === 1 ? units.filter(({ decision }) => decision === 'discarded') : [];
}

/** One decision is about one review. */
function openIn(units: readonly Unit[]): readonly Unit[] {
  const open = openUnits(units);
  return open.filter(({ file }) => file.review === open[0]?.file.review);
}
