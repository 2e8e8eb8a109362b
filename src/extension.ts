import * as vscode from 'vscode';
import { createExtension, type Extension } from './editor/extension.ts';

let extension: Extension | undefined;

export function activate(context: vscode.ExtensionContext): void {
  extension = createExtension(vscode, context, process.env);
  context.subscriptions.push(extension);
}

/** The editor waits a few seconds: sandboxes end with their attempts. */
export async function deactivate(): Promise<void> {
  await extension?.stop();
}
