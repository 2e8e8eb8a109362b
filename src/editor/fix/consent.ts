import type * as vscode from 'vscode';
import type { Settings } from '../contract/settings.ts';
import type { WorkDeps } from './deps.ts';

const WITHOUT_ISOLATION = 'consent.withoutIsolation';

/** Running without isolation needs a yes per workspace, on top of the setting; it is remembered. */
export async function mayRun(
  { vs, log, memento }: Pick<WorkDeps, 'vs' | 'log' | 'memento'>,
  folder: vscode.WorkspaceFolder,
  { sandbox }: Pick<Settings, 'sandbox'>,
): Promise<boolean> {
  if (sandbox !== 'none') return true;
  const key = `${WITHOUT_ISOLATION}:${folder.uri.toString()}`;
  if (memento.get(key) === true) return true;
  const yes = vs.l10n.t('Run Without Isolation');
  const answer = await vs.window.showWarningMessage(
    vs.l10n.t('Run attempts in {0} without isolation?', folder.name),
    {
      modal: true,
      detail: vs.l10n.t(
        'primeAgent.sandbox is “none”: tests and commands of the agent can then read and change everything that you can.',
      ),
    },
    yes,
  );
  if (answer !== yes) return false;
  log.warn(`consent: attempts in ${folder.uri.fsPath} run without isolation`);
  await memento.update(key, true);
  return true;
}
