import type * as vscode from 'vscode';
import type { CollectionError, TestResult } from '../../core/frameworks/framework.ts';
import { failureMessage } from './failure-message.ts';
import { type TestNode, testTree } from './test-tree.ts';

export interface TestReport {
  readonly results: readonly TestResult[];
  readonly collectionErrors: readonly Pick<CollectionError, 'file' | 'message'>[];
}

/** Publishes results in the editor's Test Explorer. */
export interface TestPublisher extends vscode.Disposable {
  publish(folder: vscode.WorkspaceFolder, report: TestReport): void;
}

/** Longer texts are in the log of the run; here they would only be scrolled past. */
const MAX_DETAILS = 20_000;

/**
 * A controller without run profiles: the tests belong to their frameworks and their own extensions,
 * which also run them. Here they only show what Prime Agent knows about them.
 */
export function createTestPublisher(vs: typeof vscode): TestPublisher {
  const controller = vs.tests.createTestController('primeAgent', 'Prime Agent');
  return {
    publish(folder, report) {
      const items = new Map<string, vscode.TestItem>();
      const files = testTree(report.results);
      const tree = [...files, ...withoutTests(report.collectionErrors, files)];
      const children = tree.map((node) => itemOf(vs, controller, folder.uri, node, items));
      const folders = vs.workspace.workspaceFolders ?? [];
      if (folders.length > 1) {
        const top = controller.createTestItem(folder.uri.toString(), folder.name, folder.uri);
        top.children.replace(children);
        const open = new Set(folders.map(({ uri }) => uri.toString()));
        for (const [id] of [...controller.items]) if (!open.has(id)) controller.items.delete(id);
        controller.items.add(top);
      } else controller.items.replace(children);
      publishRun(vs, controller, folder, report, items);
    },
    dispose: () => controller.dispose(),
  };
}

function publishRun(
  vs: typeof vscode,
  controller: vscode.TestController,
  folder: vscode.WorkspaceFolder,
  { results, collectionErrors }: TestReport,
  items: ReadonlyMap<string, vscode.TestItem>,
): void {
  const run = controller.createTestRun(new vs.TestRunRequest(), folder.name, true);
  for (const result of results) {
    const item = items.get(result.id);
    if (item) report(vs, run, folder.uri, item, result);
  }
  for (const { file, message } of collectionErrors) {
    const item = items.get(file);
    if (!item) continue;
    const error = new vs.TestMessage(message);
    error.location = new vs.Location(vs.Uri.joinPath(folder.uri, file), new vs.Position(0, 0));
    run.errored(item, error);
  }
  run.end();
}

function report(
  vs: typeof vscode,
  run: vscode.TestRun,
  folder: vscode.Uri,
  item: vscode.TestItem,
  result: TestResult,
): void {
  switch (result.status) {
    case 'passed':
    case 'xfailed':
    case 'xpassed':
      run.passed(item, result.durationMs);
      return;
    case 'skipped':
    case 'todo':
    case 'listed':
      run.skipped(item);
      return;
    case 'error':
      run.errored(item, failureMessage(vs, folder, result), result.durationMs);
      break;
    case 'failed':
      run.failed(item, failureMessage(vs, folder, result), result.durationMs);
      break;
  }
  const details = result.failure?.details.slice(0, MAX_DETAILS).trimEnd();
  // The view is a terminal: it wants both characters at the end of a line.
  if (details) run.appendOutput(`${details.replace(/\r?\n/g, '\r\n')}\r\n`, undefined, item);
}

function itemOf(
  vs: typeof vscode,
  controller: vscode.TestController,
  folder: vscode.Uri,
  node: TestNode,
  items: Map<string, vscode.TestItem>,
  file: string = node.id,
): vscode.TestItem {
  const item = controller.createTestItem(node.id, node.label, vs.Uri.joinPath(folder, file));
  const line = node.result?.line;
  if (line !== undefined) item.range = new vs.Range(line - 1, 0, line - 1, 0);
  item.children.replace(
    node.children.map((child) => itemOf(vs, controller, folder, child, items, file)),
  );
  items.set(node.id, item);
  return item;
}

/** Files of which nothing could be loaded. */
function withoutTests(
  errors: TestReport['collectionErrors'],
  shown: readonly TestNode[],
): readonly TestNode[] {
  const known = new Set(shown.map(({ id }) => id));
  const files = new Set(errors.map(({ file }) => file).filter((file) => !known.has(file)));
  return [...files].map((file) => ({ id: file, label: file, children: [] }));
}
