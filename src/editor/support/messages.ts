import type * as vscode from 'vscode';

/** A button of a message: what happens next is the user's choice. */
export interface MessageAction {
  readonly title: string;
  run(): unknown;
}

export type MessageLevel = 'information' | 'warning' | 'error';

/** What keeps a command from doing its work, with the next step. */
export interface Refusal {
  readonly kind: 'refused';
  readonly level: MessageLevel;
  readonly text: string;
  readonly actions: readonly MessageAction[];
}

/** Resolves when the message is answered or gone; callers that go on do not wait for it. */
export async function showMessage(
  vs: typeof vscode,
  level: MessageLevel,
  text: string,
  actions: readonly MessageAction[] = [],
): Promise<void> {
  const titles = actions.map(({ title }) => title);
  const show = {
    information: vs.window.showInformationMessage,
    warning: vs.window.showWarningMessage,
    error: vs.window.showErrorMessage,
  }[level];
  const chosen = await show<string>(text, ...titles);
  await actions.find(({ title }) => title === chosen)?.run();
}

/** An action that runs a command. */
export function commandAction(
  vs: typeof vscode,
  title: string,
  command: string,
  ...args: readonly unknown[]
): MessageAction {
  return { title, run: () => vs.commands.executeCommand(command, ...args) };
}
