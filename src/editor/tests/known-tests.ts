import type * as vscode from 'vscode';
import type { TestResult } from '../../core/frameworks/framework.ts';

/** What the last test run of each folder said. */
export interface KnownTests extends vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;
  set(folder: vscode.WorkspaceFolder, results: readonly TestResult[]): void;
  /** Tests of a file that failed or could not run. */
  failingIn(uri: vscode.Uri): readonly TestResult[];
  /** Every file with such tests. */
  failingFiles(): readonly vscode.Uri[];
}

export function createKnownTests(vs: typeof vscode): KnownTests {
  const changed = new vs.EventEmitter<void>();
  /** Folder → file → failing tests; files by the text of their URI. */
  const failing = new Map<string, Map<string, { uri: vscode.Uri; tests: TestResult[] }>>();
  const folders = vs.workspace.onDidChangeWorkspaceFolders(({ removed }) => {
    const gone = removed.filter(({ uri }) => failing.delete(uri.toString()));
    if (gone.length > 0) changed.fire();
  });
  return {
    onDidChange: changed.event,
    set(folder, results) {
      const files = new Map<string, { uri: vscode.Uri; tests: TestResult[] }>();
      for (const result of results) {
        if (result.status !== 'failed' && result.status !== 'error') continue;
        const uri = vs.Uri.joinPath(folder.uri, result.file);
        const entry = files.get(uri.toString()) ?? { uri, tests: [] };
        entry.tests.push(result);
        files.set(uri.toString(), entry);
      }
      failing.set(folder.uri.toString(), files);
      changed.fire();
    },
    failingIn(uri) {
      const key = uri.toString();
      return [...failing.values()].flatMap((files) => files.get(key)?.tests ?? []);
    },
    failingFiles: () =>
      [...failing.values()].flatMap((files) => [...files.values()].map((entry) => entry.uri)),
    dispose() {
      folders.dispose();
      changed.dispose();
    },
  };
}
