import type * as vscode from 'vscode';
import type { Settings } from '../contract/settings.ts';
import { isWritable } from '../workspace/folder.ts';
import { mayRun } from './consent.ts';
import type { WorkDeps } from './deps.ts';

/** What a user must have said yes to before a folder is worked on. */
export async function confirmed(
  deps: WorkDeps,
  folder: vscode.WorkspaceFolder,
  settings: Settings,
): Promise<boolean> {
  const { vs } = deps;
  if (!(await mayRun(deps, folder, settings))) return false;
  if (await isWritable(vs, folder)) return true;
  const goOn = vs.l10n.t('Look for a Fix');
  const answer = await vs.window.showWarningMessage(
    vs.l10n.t(
      '{0} is read-only. A fix can be found and shown, but not applied. Open a writable copy to apply it.',
      folder.name,
    ),
    goOn,
  );
  return answer === goOn;
}

/** A list would take the keyboard from whoever types: it waits behind a message. */
export async function wantsToChoose(
  { window, l10n }: typeof vscode,
  failing: number,
  signal: AbortSignal,
): Promise<boolean> {
  const choose = l10n.t('Choose…');
  const text = failing === 1 ? l10n.t('One test fails.') : l10n.t('{0} tests fail.', failing);
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return (await Promise.race([window.showInformationMessage(text, choose), aborted])) === choose;
}

/** undefined: the user gave up; empty: nothing to say. */
export async function askForHint({ window, l10n }: typeof vscode): Promise<string | undefined> {
  const typed = await window.showInputBox({
    title: l10n.t('What do you already know about the failure?'),
    prompt: l10n.t('The agent reads it with the failing test.'),
    ignoreFocusOut: true,
  });
  return typed?.trim();
}
