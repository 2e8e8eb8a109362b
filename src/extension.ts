import * as vscode from 'vscode';

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Prime Agent', { log: true });
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand('primeAgent.fixFailingTest', () =>
      vscode.window.showInformationMessage('Prime Agent is here.'),
    ),
  );
}
