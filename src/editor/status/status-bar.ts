import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import { CONTEXT_KEYS } from '../contract/context-keys.ts';
import { affectsSettings, readSettings } from '../contract/settings.ts';
import type { Runs } from '../fix/runs.ts';
import { policyLabel } from '../policies/choice.ts';
import type { Sharing } from '../sharing/sharing.ts';

const MENU: CommandId = 'primeAgent.showMenu';

/** The one status bar item: which policy, and what goes on. */
export function createStatusBar(
  vs: typeof vscode,
  runs: Runs,
  sharing?: Pick<Sharing, 'summary' | 'onDidChange'>,
): vscode.Disposable {
  const item = vs.window.createStatusBarItem('primeAgent', vs.StatusBarAlignment.Left, 0);
  item.name = 'Prime Agent';
  item.command = MENU;

  const update = (): void => {
    const policy = policyLabel(vs, readSettings(vs));
    const active = runs.active();
    const busy = active.length > 0;
    item.text = busy ? `$(sync~spin) ${policy}` : `$(wand) ${policy}`;
    const lines = active.map(({ folder, text }) => `${folder.name}: ${text}`);
    const state = busy ? lines.join('\n') : vs.l10n.t('Nothing is going on.');
    const shared = sharing?.summary();
    const sharedLine = shared === undefined ? '' : `\n${vs.l10n.t('Training server: {0}', shared)}`;
    item.tooltip = `Prime Agent, ${policy}\n${state}${sharedLine}`;
    item.accessibilityInformation = {
      label: busy
        ? vs.l10n.t('Prime Agent with {0}, at work: {1}', policy, lines.join('; '))
        : vs.l10n.t('Prime Agent with {0}', policy),
    };
  };

  let wasBusy = false;
  const follow = (): void => {
    update();
    const busy = runs.active().length > 0;
    if (busy === wasBusy) return;
    wasBusy = busy;
    void vs.commands.executeCommand('setContext', CONTEXT_KEYS.running, busy);
  };
  update();
  item.show();
  return vs.Disposable.from(
    item,
    runs.onDidChange(follow),
    ...(sharing ? [sharing.onDidChange(update)] : []),
    vs.workspace.onDidChangeConfiguration((event) => {
      if (affectsSettings(event, 'policy', 'endpoint.baseUrl', 'endpoint.model')) update();
    }),
  );
}
