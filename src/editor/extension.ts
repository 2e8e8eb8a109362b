import type * as vscode from 'vscode';
import { createAttemptsModel } from './attempts-view/attempts-model.ts';
import { createAttemptsTree } from './attempts-view/attempts-tree.ts';
import { bothAttempts, whenEnded } from './attempts-view/both.ts';
import { createDiffDocuments } from './attempts-view/diff-documents.ts';
import { requestAtCursor, requestToChoose } from './fix/cursor.ts';
import type { WorkDeps } from './fix/deps.ts';
import { readFixRequest } from './fix/request.ts';
import { createRuns } from './fix/runs.ts';
import { createLiveView } from './live/live-view.ts';
import { createKeys } from './policies/keys.ts';
import { hasKeptReviews } from './review/has-kept-reviews.ts';
import type { ReviewCommand, Reviews } from './review/reviews.ts';
import { createServerTokens } from './sharing/server.ts';
import { createSharing } from './sharing/sharing.ts';
import { showMenu } from './status/menu.ts';
import { createStatusBar } from './status/status-bar.ts';
import { lazy } from './support/lazy.ts';
import { registerCommands } from './support/register-commands.ts';
import { createVirtualDocuments } from './support/virtual-documents.ts';
import { createCodeLenses } from './tests/code-lenses.ts';
import { createFailingFilesKey } from './tests/failing-files-key.ts';
import { createFailureDiagnostics } from './tests/failure-diagnostics.ts';
import { createKnownTests } from './tests/known-tests.ts';
import { createTestPublisher } from './tests/publish.ts';
import { createTranscripts } from './transcript/transcripts.ts';

type AttemptAction =
  | 'openTranscript'
  | 'openDiff'
  | 'replay'
  | 'deleteAttempts'
  | 'exportAttempts'
  | 'copyIds';

export interface Extension extends vscode.Disposable {
  /** Cancels what runs, and resolves when nothing of it is left behind. */
  stop(): Promise<void>;
}

/**
 * Composes the extension; nothing is read or started here. What needs the agent's core is in chunks
 * that are loaded by the first command.
 *
 * @param environment the host's variables, for example `process.env`
 */
export function createExtension(
  vs: typeof vscode,
  context: vscode.ExtensionContext,
  environment: WorkDeps['environment'],
): Extension {
  const log = vs.window.createOutputChannel('Prime Agent', { log: true });
  const runs = createRuns(vs);
  const known = createKnownTests(vs);
  const publisher = createTestPublisher(vs);
  const documents = createVirtualDocuments(vs);
  const live = createLiveView(vs);
  const keys = createKeys(context.secrets);
  const transcripts = createTranscripts(vs, environment, () => void model.recorded());
  const diffs = createDiffDocuments(vs);
  const model = createAttemptsModel(vs, log, () => records());
  const tree = createAttemptsTree(vs, model, context.workspaceState);
  const tokens = createServerTokens(context.secrets);
  const sharing = createSharing({
    ...{ vs, log, tokens, environment },
    busy: () => runs.active().length > 0,
  });

  const fixing = lazy(() => import('./fix/fix-flow.ts'));
  const testing = lazy(() => import('./fix/run-tests.ts'));
  const records = lazy(async () => {
    const { createRecords } = await import('./attempts-view/records.ts');
    return createRecords(environment);
  });
  const acting = lazy(() => import('./attempts-view/attempt-actions.ts'));
  const starting = lazy(() => import('./walkthrough/walkthrough.ts'));
  const connecting = lazy(() => import('./sharing/connect-server.ts'));
  const sharingNow = lazy(() => import('./sharing/share-attempts.ts'));
  const policies = lazy(() => import('./policies/select-policy.ts'));

  const deps: WorkDeps = {
    vs,
    log,
    runs,
    keys,
    environment,
    memento: context.workspaceState,
    publish(folder, report) {
      known.set(folder, report.results);
      publisher.publish(folder, report);
    },
    attempts: whenEnded(bothAttempts(live, model), () => sharing.soon()),
    review: { open: async (input) => (await reviewing()).open(input) },
    transcript: transcripts,
  };

  const reviewing = lazy(async () => {
    const { createReviews } = await import('./review/reviews.ts');
    const reviews = createReviews({
      vs,
      log,
      environment,
      memento: context.workspaceState,
      testRuns: {
        run: async (folder, tests) => (await testing()).createTestRuns(deps).run(folder, tests),
      },
    });
    late.push(reviews);
    return reviews;
  });
  /** What is made when it is first needed. */
  const late: Reviews[] = [];
  const review =
    (command: ReviewCommand) =>
    async (...args: readonly unknown[]) =>
      (await reviewing()).run(command, args);

  const onAttempts =
    (action: AttemptAction) =>
    async (...args: readonly unknown[]) => {
      const deps = { vs, model, tree, records: await records(), transcripts, documents, diffs };
      return (await acting())[action](deps, args);
    };

  const commands = registerCommands(vs, log, {
    'primeAgent.fixFailingTest': async (uri) =>
      (await fixing()).fixTests(deps, requestToChoose(vs, uri)),
    'primeAgent.fixWithHint': async (uri) =>
      (await fixing()).fixTests(deps, { ...requestToChoose(vs, uri), askForHint: true }),
    'primeAgent.fixTestAtCursor': async () => (await fixing()).fixTests(deps, requestAtCursor(vs)),
    'primeAgent.fixTest': async (...args) =>
      (await fixing()).fixTests(deps, readFixRequest(vs, args)),
    'primeAgent.runTests': async (uri) =>
      (await testing()).runTestsCommand(deps, uri instanceof vs.Uri ? uri : undefined),
    'primeAgent.watchAttempt': (attempt) =>
      live.watch(typeof attempt === 'string' ? attempt : tree.attemptOf(attempt)?.id),
    'primeAgent.openTranscript': onAttempts('openTranscript'),
    'primeAgent.showWholeTranscript': (uri) => transcripts.showWhole(uri),
    'primeAgent.openAttemptDiff': onAttempts('openDiff'),
    'primeAgent.replayAttempt': onAttempts('replay'),
    'primeAgent.deleteAttempt': onAttempts('deleteAttempts'),
    'primeAgent.exportAttempt': onAttempts('exportAttempts'),
    'primeAgent.copyAttemptId': onAttempts('copyIds'),
    'primeAgent.groupAttemptsByDay': () => tree.groupBy('day'),
    'primeAgent.groupAttemptsByFix': () => tree.groupBy('fix'),
    'primeAgent.refreshAttempts': () => model.refresh(),
    'primeAgent.showMoreAttempts': (node) => tree.showMore(node),
    'primeAgent.acceptChange': review('primeAgent.acceptChange'),
    'primeAgent.discardChange': review('primeAgent.discardChange'),
    'primeAgent.acceptFile': review('primeAgent.acceptFile'),
    'primeAgent.discardFile': review('primeAgent.discardFile'),
    'primeAgent.acceptAll': review('primeAgent.acceptAll'),
    'primeAgent.discardAll': review('primeAgent.discardAll'),
    'primeAgent.showChanges': review('primeAgent.showChanges'),
    'primeAgent.showEvidence': review('primeAgent.showEvidence'),
    'primeAgent.closeReview': review('primeAgent.closeReview'),
    'primeAgent.cancel': (uri) =>
      runs.cancel(
        uri instanceof vs.Uri ? vs.workspace.getWorkspaceFolder(uri) : tree.attemptOf(uri)?.folder,
      ),
    'primeAgent.selectPolicy': async () =>
      (await policies()).selectPolicy({
        vs,
        keys,
        log,
        nanoFolder: context.asAbsolutePath('policies/nano'),
      }),
    'primeAgent.connectServer': async () =>
      (await connecting()).connectServer({ vs, log, tokens, sharing }),
    'primeAgent.shareAttempts': async (uri) =>
      (await sharingNow()).shareAttempts(
        { vs, log, tokens, documents, sharing },
        uri instanceof vs.Uri ? uri : undefined,
      ),
    'primeAgent.showOutbox': async () => (await sharingNow()).showOutbox({ vs, sharing }),
    'primeAgent.openExample': async () => (await starting()).openExample(vs, context),
    'primeAgent.checkMachine': async () => (await starting()).checkMachine(deps),
    'primeAgent.openWalkthrough': () =>
      vs.commands.executeCommand(
        'workbench.action.openWalkthrough',
        `${context.extension.id}#start`,
      ),
    'primeAgent.showMenu': () => showMenu(vs, runs, sharing),
    'primeAgent.showLog': () => log.show(true),
  });

  if (hasKeptReviews(context.workspaceState)) {
    reviewing()
      .then((reviews) => reviews.restore())
      .catch((error: unknown) => log.error(String(error)));
  }

  // In this order they are disposed: first what people start, then the work, then what shows it.
  const parts = vs.Disposable.from(
    commands,
    runs,
    { dispose: () => vs.Disposable.from(...late).dispose() },
    sharing,
    createStatusBar(vs, runs, sharing),
    sharing.onDidChange(() => tree.describe(sharing.summary())),
    createFailingFilesKey(vs, known),
    createFailureDiagnostics(vs, known),
    createCodeLenses(vs, known),
    tree,
    model.onDidChange(() => void transcripts.refresh()),
    model,
    transcripts,
    diffs,
    live,
    documents,
    publisher,
    known,
    log,
  );
  return {
    async stop() {
      await runs.stop();
      await sharing.stop();
      await Promise.all(late.map((reviews) => reviews.settled()));
    },
    dispose: () => parts.dispose(),
  };
}
