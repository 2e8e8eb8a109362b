import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type * as vscode from 'vscode';
import { examine, type Finding } from '../../core/doctor/examine.ts';
import type { CommandId } from '../contract/commands.ts';
import { readSettings } from '../contract/settings.ts';
import type { WorkDeps } from '../fix/deps.ts';
import { withSignal } from '../support/cancellation.ts';
import { commandAction, showMessage } from '../support/messages.ts';
import { inEditorWords } from '../support/words.ts';

const EXAMPLE = 'shop-cart';
const SHOW_LOG: CommandId = 'primeAgent.showLog';

/** Opens a fresh copy of the example, in a window of its own where one is in use. Earlier copies stay. */
export async function openExample(
  vs: typeof vscode,
  context: Pick<vscode.ExtensionContext, 'asAbsolutePath' | 'globalStorageUri'>,
): Promise<void> {
  const examples = join(context.globalStorageUri.fsPath, 'examples');
  await mkdir(examples, { recursive: true });
  const to = await freeFolder(examples);
  await cp(context.asAbsolutePath(join('examples', EXAMPLE)), to, { recursive: true });
  await vs.commands.executeCommand('vscode.openFolder', vs.Uri.file(to), {
    forceNewWindow: (vs.workspace.workspaceFolders ?? []).length > 0,
  });
}

async function freeFolder(parent: string): Promise<string> {
  const taken = new Set(await readdir(parent));
  let name = EXAMPLE;
  for (let number = 2; taken.has(name); number++) name = `${EXAMPLE}-${number}`;
  return join(parent, name);
}

/** What is there and what is missing goes into the log, the sum of it into a message. */
export async function checkMachine({
  vs,
  log,
  environment,
}: Pick<WorkDeps, 'vs' | 'log' | 'environment'>): Promise<void> {
  const [folder] = vs.workspace.workspaceFolders ?? [];
  const { dockerImage } = readSettings(vs, folder?.uri);
  const root = folder?.uri.scheme === 'file' ? folder.uri.fsPath : undefined;
  const findings = await vs.window.withProgress(
    {
      location: vs.ProgressLocation.Notification,
      title: vs.l10n.t('Prime Agent: checking this machine'),
      cancellable: true,
    },
    (_progress, token) =>
      withSignal(token, [], (signal) => examine(root, { environment, signal, dockerImage })),
  );
  for (const finding of findings) logFinding(log, finding);
  const missing = findings.filter(({ state }) => state === 'missing');
  const [first] = missing;
  const show = commandAction(vs, vs.l10n.t('Show Log'), SHOW_LOG);
  if (first === undefined) {
    const sandbox = findings.find(
      ({ what, state }) => what.startsWith('sandbox') && state === 'ok',
    );
    const text = vs.l10n.t('Everything needed is there. {0}', sandbox?.detail ?? '');
    void showMessage(vs, 'information', text.trim(), [show]);
    return;
  }
  const text = vs.l10n.t(
    'Missing: {0}. {1}',
    missing.map(({ what }) => what).join(', '),
    inEditorWords(`${first.detail}. ${first.remedy ?? ''}`),
  );
  void showMessage(vs, 'warning', text.trim(), [show]);
}

function logFinding(
  log: Pick<vscode.LogOutputChannel, 'info' | 'warn'>,
  { what, state, detail, remedy }: Finding,
): void {
  const line = inEditorWords([`${what}: ${detail}`, ...(remedy ? [`→ ${remedy}`] : [])].join('\n'));
  if (state === 'missing') log.warn(line);
  else log.info(line);
}
