import type * as vscode from 'vscode';
import { COMMANDS, type CommandHandlers } from '../contract/commands.ts';
import { commandAction, showMessage } from './messages.ts';

/** Registers every command. What a handler throws is a mistake of ours: it is logged and said. */
export function registerCommands(
  vs: typeof vscode,
  log: vscode.LogOutputChannel,
  handlers: CommandHandlers,
): vscode.Disposable {
  const registered = COMMANDS.map((id) =>
    vs.commands.registerCommand(id, async (...args: readonly unknown[]) => {
      try {
        return await handlers[id](...args);
      } catch (error) {
        log.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
        const why = error instanceof Error ? error.message : String(error);
        void showMessage(vs, 'error', vs.l10n.t('Something went wrong: {0}', why), [
          commandAction(vs, vs.l10n.t('Show Log'), 'primeAgent.showLog'),
        ]);
        return undefined;
      }
    }),
  );
  return vs.Disposable.from(...registered);
}
