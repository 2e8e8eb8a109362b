import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import { commandAction, showMessage } from '../support/messages.ts';

const WATCH: CommandId = 'primeAgent.watchAttempt';
const CANCEL: CommandId = 'primeAgent.cancel';

export function tellBusy(vs: typeof vscode, folder: vscode.WorkspaceFolder): void {
  const text = vs.l10n.t(
    'Prime Agent is at work in {0} already. Wait for it, or cancel it.',
    folder.name,
  );
  void showMessage(vs, 'information', text, [
    commandAction(vs, vs.l10n.t('Watch'), WATCH),
    commandAction(vs, vs.l10n.t('Cancel'), CANCEL, folder.uri),
  ]);
}
