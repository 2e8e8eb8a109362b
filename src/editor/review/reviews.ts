import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import { CONTEXT_KEYS } from '../contract/context-keys.ts';
import { VIEWS } from '../contract/views.ts';
import type { FixReviewInput, FixTarget, ReviewPort, TestRunsPort } from '../ports.ts';
import { commandAction, type MessageAction, showMessage } from '../support/messages.ts';
import { namesOf } from '../tests/test-tree.ts';
import { ask } from './ask.ts';
import { createReviewDocuments, REVIEW_SCHEME } from './documents.ts';
import { createFeedbackRecorder } from './feedback.ts';
import { createReviewLenses, proposedLine, unitAtLine } from './lenses.ts';
import { openUnits, type Review, type ReviewedFile, type Unit, unitsOf } from './model.ts';
import { createNodes, type ReviewNode, unitsOfNode } from './nodes.ts';
import { openReview } from './open-review.ts';
import { toLines } from './patch/apply.ts';
import { rerunTests } from './rerun.ts';
import { takeUnits, type UnitConflict } from './take.ts';
import { createReviewTree } from './tree.ts';
import { isKept } from './view.ts';
import { createWatch } from './watch.ts';
import { changesText, conflictText, filesText } from './words.ts';

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
}

export interface ReviewsDeps {
  readonly vs: typeof vscode;
  readonly log: vscode.LogOutputChannel;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly testRuns: TestRunsPort;
}

/** Argument of keybindings in the tree: the selected rows are meant. */
const SELECTION = 'selection';

/** Reviews of verified patches: what is shown, what is decided, and what becomes of it. */
export function createReviews(deps: ReviewsDeps): Reviews {
  const { vs, log, environment, testRuns } = deps;
  const { l10n } = vs;
  /** Newest first. */
  const reviews: Review[] = [];
  /** Closed ones, whose accepted lines may still be edited. */
  const closed: Review[] = [];
  const nodes = createNodes();
  const changed = new vs.EventEmitter<void>();
  const feedback = createFeedbackRecorder(log, environment);
  const documents = createReviewDocuments(vs, () => reviews);
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
    saved: recordEdits,
  });

  function filesOf(uri: vscode.Uri): readonly ReviewedFile[] {
    if (uri.scheme === REVIEW_SCHEME) {
      const file = documents.fileOf(uri);
      return file ? [file] : [];
    }
    const key = uri.toString();
    return reviews.flatMap(({ files }) => files.filter((file) => file.uri.toString() === key));
  }

  /** Everything that shows reviews. */
  function show(): void {
    changed.fire();
    documents.refresh(reviews);
    const open = reviews.flatMap((review) => openUnits(unitsOf(review))).length;
    tree.badge =
      open === 0 ? undefined : { value: open, tooltip: l10n.t('{0} open', changesText(vs, open)) };
    const conflicts = reviews.flatMap(({ files }) =>
      files.flatMap(({ units, view }) =>
        openUnits(units).filter((unit) => view.conflicts.has(unit)),
      ),
    ).length;
    tree.message =
      conflicts === 0
        ? undefined
        : l10n.t(
            '{0} cannot be accepted as things are: see the warnings below.',
            changesText(vs, conflicts),
          );
    void vs.commands.executeCommand('setContext', CONTEXT_KEYS.reviewing, reviews.length > 0);
    showActive();
  }

  /** Is the tab that is in front a review's? Tabs of several files say no more than their label. */
  function showActive(): void {
    const label = vs.window.tabGroups.activeTabGroup.activeTab?.label;
    const active = reviews.some((review) => isTabOf(review, label ?? ''));
    void vs.commands.executeCommand('setContext', CONTEXT_KEYS.reviewActive, active);
  }

  async function open(input: FixReviewInput): Promise<void> {
    let review = reviews.find(({ id }) => id === input.id);
    if (!review) {
      review = await openReview(vs, input, titleOf(input));
      for (const done of reviews.filter((known) => openUnits(unitsOf(known)).length === 0)) {
        close(done);
      }
      reviews.unshift(review);
      watch.follow(review);
    }
    show();
    await showAll(review);
    await tree.reveal(nodes.review(review), { select: true, focus: false, expand: 2 });
  }

  function titleOf({ tests }: FixReviewInput): string {
    const passing = tests.filter(({ after }) => after === 'passed');
    const [first] = passing.length > 0 ? passing : tests;
    if (!first || passing.length > 1) return l10n.t('Review: {0} tests', passing.length);
    return l10n.t('Review: {0}', namesOf(first.id).at(-1) ?? first.id);
  }

  async function showAll(review: Review): Promise<void> {
    const resources = review.files.map((file) => {
      const { before, after } = documents.sides(file);
      const { status } = file.part;
      return [
        file.uri,
        status === 'added' ? undefined : before,
        status === 'deleted' ? undefined : after,
      ];
    });
    await vs.commands.executeCommand('vscode.changes', review.title, resources);
  }

  /** One file, at one of its changes; the focus stays in the tree. */
  async function showFile(file: ReviewedFile, unit?: Unit): Promise<void> {
    const { before, after } = documents.sides(file);
    const line = unit ? proposedLine(unit) : 0;
    const name = file.file.path.slice(file.file.path.lastIndexOf('/') + 1);
    await vs.commands.executeCommand('vscode.diff', before, after, l10n.t('{0} (review)', name), {
      preserveFocus: true,
      preview: true,
      ...(unit ? { selection: new vs.Range(line, 0, line, 0) } : {}),
    });
  }

  function close(review: Review): void {
    reviews.splice(reviews.indexOf(review), 1);
    watch.unfollow(review);
    closed.unshift(review);
    closed.length = Math.min(closed.length, 20);
    closeTabs(review);
  }

  /** What is decided shows nothing any more. */
  function closeTabs(review: Review): void {
    const tabs = vs.window.tabGroups.all.flatMap((group) => group.tabs);
    const own = tabs.filter(({ label, input }) => {
      if (isTabOf(review, label)) return true;
      if (!(input instanceof vs.TabInputTextDiff)) return false;
      return documents.fileOf(input.modified)?.review === review;
    });
    if (own.length > 0) {
      vs.window.tabGroups.close(own, true).then(undefined, () => undefined);
    }
  }

  async function accept(units: readonly Unit[]): Promise<void> {
    const [first] = units;
    if (!first) return tellNothing();
    const { review } = first.file;
    if (!(await ask(vs, review, units))) return;
    const outcome = await watch.holdWhile(() => takeUnits(vs, units));
    if (outcome.kind === 'conflicts') return tellConflicts(review, units, outcome.conflicts);
    if (outcome.kind === 'refused') {
      return tell(
        'error',
        l10n.t('The editor did not take the change. Your files are as they were.'),
        [{ title: l10n.t('Try Again'), run: () => decide(() => accept(units)) }],
      );
    }
    for (const { file, units: own, before, after } of outcome.files) {
      for (const unit of own) unit.decision = 'accepted';
      file.taken.push({ units: own, before, after });
      file.undone.length = 0;
    }
    feedback.decided(review, 'accepted', units);
    await watch.refresh(review);
    if (outcome.unsaved.length > 0) return tellUnsaved(review, outcome.unsaved);
    await finish(review, l10n.t('Accepted: {0}.', changesText(vs, units.length)));
  }

  async function discard(units: readonly Unit[]): Promise<void> {
    const [first] = units;
    if (!first) return tellNothing();
    const { review } = first.file;
    for (const unit of units) unit.decision = 'discarded';
    feedback.decided(review, 'discarded', units);
    await watch.refresh(review);
    await finish(review, l10n.t('Discarded: {0}.', changesText(vs, units.length)));
  }

  /** When everything is decided, the tests say whether it was right. */
  async function finish(review: Review, text: string): Promise<void> {
    const units = unitsOf(review);
    if (openUnits(units).length > 0) {
      vs.window.setStatusBarMessage(text, 5_000);
      return;
    }
    closeTabs(review);
    if (units.every(({ decision }) => decision === 'discarded')) {
      return tell('information', l10n.t('Discarded. Your files are as they were.'), []);
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

  function tellUnsaved(review: Review, files: readonly ReviewedFile[]): void {
    const paths = files.map(({ file }) => file.path).join(', ');
    const text = l10n.t(
      'The change is in {0}, which has unsaved changes of yours. Save it to test the change.',
      paths,
    );
    const save = async (): Promise<void> => {
      for (const { uri } of files) {
        const document = await vs.workspace.openTextDocument(uri);
        if (!(await document.save())) return;
      }
      await finish(review, l10n.t('Saved: {0}.', paths));
    };
    tell('warning', text, [{ title: l10n.t('Save'), run: () => decide(save) }]);
  }

  function tellConflicts(
    review: Review,
    units: readonly Unit[],
    conflicts: readonly UnitConflict[],
  ): void {
    const [first] = conflicts;
    if (!first) return;
    const { file } = first.unit;
    const blocked = new Set(conflicts.map(({ unit }) => unit));
    const others = units.filter((unit) => !blocked.has(unit));
    const actions: MessageAction[] = [];
    if (others.length > 0) {
      const title = l10n.t('Accept the Others');
      actions.push({ title, run: () => decide(() => accept(others)) });
    }
    actions.push(
      { title: l10n.t('Show Patch'), run: () => vs.window.showTextDocument(documents.patch(file)) },
      {
        title: l10n.t('Discard'),
        run: () => decide(() => discard([...blocked])),
      },
    );
    const more = new Set(conflicts.map(({ unit }) => unit.file)).size - 1;
    const text = [
      units.length > 1 ? l10n.t('Nothing was changed.') : undefined,
      conflictText(vs, file.file.path, first.kind),
      more > 0 ? l10n.t('The same is true of {0} more.', filesText(vs, more)) : undefined,
    ];
    tell('warning', text.filter(Boolean).join(' '), actions);
    void watch.refresh(review);
  }

  function tellNothing(): void {
    tell('information', l10n.t('There is no open change here.'), []);
  }

  function tell(
    level: Parameters<typeof showMessage>[1],
    text: string,
    actions: readonly MessageAction[],
  ): void {
    log.info(text);
    void showMessage(vs, level, text, actions);
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

  /** Decisions come one after the other, however fast the keys are. */
  let queue: Promise<void> = Promise.resolve();
  function decide(work: () => void | Promise<void>): Promise<void> {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  }

  /** The nodes that a command is meant for, where it says so. */
  function nodesFor([first, all]: readonly unknown[]): readonly ReviewNode[] {
    if (first === SELECTION) return tree.selection;
    const many = Array.isArray(all) ? all.filter(nodes.isNode) : [];
    if (many.length > 0) return many;
    return nodes.isNode(first) ? [first] : [];
  }

  function unitsFor(args: readonly unknown[]): readonly Unit[] {
    return [...new Set(nodesFor(args).flatMap(unitsOfNode))];
  }

  function unitsAtCursor(): readonly Unit[] {
    const editor = vs.window.activeTextEditor;
    if (!editor) return [];
    const { uri } = editor.document;
    for (const file of filesOf(uri)) {
      const unit = unitAtLine(file, editor.selection.active.line, uri.scheme === REVIEW_SCHEME);
      if (unit) return [unit];
    }
    return [];
  }

  function unitsOfFile([first]: readonly unknown[]): readonly Unit[] {
    const uri = first instanceof vs.Uri ? first : vs.window.activeTextEditor?.document.uri;
    const [file] = uri ? filesOf(uri) : [];
    return file ? file.units : [];
  }

  /** The one that is meant, or the newest that is not decided. */
  function reviewFor(args: readonly unknown[]): Review | undefined {
    const [node] = nodesFor(args);
    return (
      node?.review ?? reviews.find((review) => openUnits(unitsOf(review)).length > 0) ?? reviews[0]
    );
  }

  const handlers: Record<ReviewCommand, (args: readonly unknown[]) => void | Promise<void>> = {
    'primeAgent.acceptChange': (args) => accept(takeable(chosen(args, unitsAtCursor))),
    'primeAgent.discardChange': (args) => discard(openUnits(chosen(args, unitsAtCursor))),
    'primeAgent.acceptFile': (args) => accept(openUnits(chosen(args, () => unitsOfFile(args)))),
    'primeAgent.discardFile': (args) => discard(openUnits(chosen(args, () => unitsOfFile(args)))),
    'primeAgent.acceptAll': (args) => accept(openOf(reviewFor(args))),
    'primeAgent.discardAll': (args) => discard(openOf(reviewFor(args))),
    async 'primeAgent.showChanges'(args) {
      const [node] = nodesFor(args);
      if (node?.kind === 'file') return showFile(node.file);
      if (node?.kind === 'unit') return showFile(node.unit.file, node.unit);
      const review = reviewFor(args);
      if (review) await showAll(review);
    },
    async 'primeAgent.showEvidence'(args) {
      const review = reviewFor(args);
      if (!review) return;
      const uri = documents.evidence(review);
      await vs.commands.executeCommand('markdown.showPreview', uri);
    },
    'primeAgent.closeReview'(args) {
      const review = reviewFor(args);
      if (review) close(review);
      show();
    },
  };

  function chosen(args: readonly unknown[], otherwise: () => readonly Unit[]): readonly Unit[] {
    const units = unitsFor(args);
    return units.length > 0 || args[0] === SELECTION ? units : otherwise();
  }

  function openOf(review: Review | undefined): readonly Unit[] {
    return review ? openUnits(unitsOf(review)) : [];
  }

  /** One that was discarded can still be taken; several together are those that are open. */
  function takeable(units: readonly Unit[]): readonly Unit[] {
    const open = openUnits(units);
    if (open.length > 0) return sameReview(open);
    return units.length === 1 ? units.filter(({ decision }) => decision === 'discarded') : [];
  }

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
    open: (input) => decide(() => open(input)),
    run: (command, args) => {
      const handler = handlers[command];
      const looks = command === 'primeAgent.showChanges' || command === 'primeAgent.showEvidence';
      return looks ? Promise.resolve(handler(args)) : decide(() => handler(args));
    },
    dispose() {
      parts.dispose();
      reviews.length = 0;
    },
  };
}

/** The editor adds the number of files to the title that it was given. */
function isTabOf({ title }: Review, label: string): boolean {
  return label === title || label.startsWith(`${title} (`);
}

/** One decision is about one review. */
function sameReview(units: readonly Unit[]): readonly Unit[] {
  const review = units[0]?.file.review;
  return units.filter(({ file }) => file.review === review);
}
