import * as vscode from 'vscode';
import { requestAtCursor, requestToChoose } from './editor/fix/cursor.ts';
import type { WorkDeps } from './editor/fix/deps.ts';
import { readFixRequest } from './editor/fix/request.ts';
import { createRuns, type Runs } from './editor/fix/runs.ts';
import { createLiveView } from './editor/live/live-view.ts';
import { createKeys } from './editor/policies/keys.ts';
import { createPatchReview } from './editor/proposal/patch-review.ts';
import { showMenu } from './editor/status/menu.ts';
import { createStatusBar } from './editor/status/status-bar.ts';
import { lazy } from './editor/support/lazy.ts';
import { registerCommands } from './editor/support/register-commands.ts';
import { createVirtualDocuments } from './editor/support/virtual-documents.ts';
import { createCodeLenses } from './editor/tests/code-lenses.ts';
import { createFailingFilesKey } from './editor/tests/failing-files-key.ts';
import { createFailureDiagnostics } from './editor/tests/failure-diagnostics.ts';
import { createKnownTests } from './editor/tests/known-tests.ts';
import { createTestPublisher } from './editor/tests/publish.ts';

let runs: Runs | undefined;

/**
 * Composes the extension; nothing is read or started here. What needs the agent's core is in chunks
 * that are loaded by the first command.
 */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Prime Agent', { log: true });
  runs = createRuns(vscode);
  const known = createKnownTests(vscode);
  const publisher = createTestPublisher(vscode);
  const documents = createVirtualDocuments(vscode);
  const live = createLiveView(vscode);
  const keys = createKeys(context.secrets);

  const fixing = lazy(() => import('./editor/fix/fix-flow.ts'));
  const testing = lazy(() => import('./editor/fix/run-tests.ts'));
  const transcripts = lazy(() => import('./editor/fix/transcript-document.ts'));
  const policies = lazy(() => import('./editor/policies/select-policy.ts'));

  const deps: WorkDeps = {
    vs: vscode,
    log,
    runs,
    keys,
    environment: process.env,
    memento: context.workspaceState,
    publish(folder, report) {
      known.set(folder, report.results);
      publisher.publish(folder, report);
    },
    attempts: live,
    review: createPatchReview(vscode, documents, {
      run: async (folder, tests) => (await testing()).createTestRuns(deps).run(folder, tests),
    }),
    transcript: {
      open: async (attempt) =>
        (await transcripts()).openTranscriptDocument(vscode, documents, attempt),
    },
  };

  const activeRuns = runs;
  context.subscriptions.push(
    log,
    known,
    publisher,
    documents,
    live,
    createCodeLenses(vscode, known),
    createFailureDiagnostics(vscode, known),
    createFailingFilesKey(vscode, known),
    createStatusBar(vscode, runs),
    registerCommands(vscode, log, {
      'primeAgent.fixFailingTest': async (uri) =>
        (await fixing()).fixTests(deps, requestToChoose(vscode, uri)),
      'primeAgent.fixTestAtCursor': async () =>
        (await fixing()).fixTests(deps, requestAtCursor(vscode)),
      'primeAgent.fixTest': async (...args) =>
        (await fixing()).fixTests(deps, readFixRequest(vscode, args)),
      'primeAgent.runTests': async (uri) =>
        (await testing()).runTestsCommand(deps, uri instanceof vscode.Uri ? uri : undefined),
      'primeAgent.watchAttempt': (attemptId) =>
        live.watch(typeof attemptId === 'string' ? attemptId : undefined),
      'primeAgent.cancel': () => activeRuns.cancel(),
      'primeAgent.selectPolicy': async () =>
        (await policies()).selectPolicy({
          vs: vscode,
          keys,
          log,
          nanoFolder: context.asAbsolutePath('policies/nano'),
        }),
      'primeAgent.showMenu': () => showMenu(vscode, activeRuns),
      'primeAgent.showLog': () => log.show(true),
    }),
    // Last: it is disposed first, so that what runs can still say how it ended.
    runs,
  );
}

/** The editor waits a few seconds: sandboxes end with their attempts. */
export async function deactivate(): Promise<void> {
  await runs?.stop();
}
