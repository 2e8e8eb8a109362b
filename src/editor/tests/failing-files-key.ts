import type * as vscode from 'vscode';
import { CONTEXT_KEYS } from '../contract/context-keys.ts';
import type { KnownTests } from './known-tests.ts';

/** Lets menus appear only in files with tests that are known to fail. */
export function createFailingFilesKey(vs: typeof vscode, known: KnownTests): vscode.Disposable {
  return known.onDidChange(() => {
    const files = Object.fromEntries(known.failingFiles().map((uri) => [uri.fsPath, true]));
    void vs.commands.executeCommand('setContext', CONTEXT_KEYS.failingFiles, files);
  });
}
