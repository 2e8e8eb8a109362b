import type * as vscode from 'vscode';
import type { CommandId } from '../contract/commands.ts';
import { readSettings } from '../contract/settings.ts';
import type { Runs } from '../fix/runs.ts';
import { policyLabel } from '../policies/choice.ts';
import type { Sharing } from '../sharing/sharing.ts';

/** What a click on the status bar item offers. */
export async function showMenu(
  vs: typeof vscode,
  runs: Runs,
  sharing: Pick<Sharing, 'summary'>,
): Promise<void> {
  const { l10n } = vs;
  const command = (label: string, id: CommandId, description?: string) => ({
    label,
    ...(description === undefined ? {} : { description }),
    run: () => vs.commands.executeCommand(id),
  });
  const sharingItem = () => {
    const summary = sharing.summary();
    if (summary !== undefined) {
      return command(
        `$(cloud-upload) ${l10n.t('Shared attempts')}`,
        'primeAgent.showOutbox',
        summary,
      );
    }
    return readSettings(vs).server.url === ''
      ? command(
          `$(cloud-upload) ${l10n.t('Connect to training server…')}`,
          'primeAgent.connectServer',
        )
      : command(
          `$(cloud-upload) ${l10n.t('Share attempts of this workspace…')}`,
          'primeAgent.shareAttempts',
        );
  };
  const active = runs.active();
  const going = active.map(({ folder, text }) => `${folder.name}: ${text}`).join('; ');
  const items = [
    ...(active.length > 0
      ? [
          command(`$(eye) ${l10n.t('Watch attempts')}`, 'primeAgent.watchAttempt', going),
          command(`$(debug-stop) ${l10n.t('Cancel')}`, 'primeAgent.cancel'),
        ]
      : [
          command(`$(wand) ${l10n.t('Fix failing test')}`, 'primeAgent.fixFailingTest'),
          command(`$(beaker) ${l10n.t('Run tests')}`, 'primeAgent.runTests'),
          command(`$(eye) ${l10n.t('Watch attempts')}`, 'primeAgent.watchAttempt'),
        ]),
    command(
      `$(chip) ${l10n.t('Select policy…')}`,
      'primeAgent.selectPolicy',
      policyLabel(vs, readSettings(vs)),
    ),
    sharingItem(),
    command(`$(output) ${l10n.t('Show log')}`, 'primeAgent.showLog'),
    {
      label: `$(gear) ${l10n.t('Settings')}`,
      run: () =>
        vs.commands.executeCommand('workbench.action.openSettings', '@ext:prime-agent.prime-agent'),
    },
  ];
  const picked = await vs.window.showQuickPick(items, { title: 'Prime Agent' });
  await picked?.run();
}
