import type * as vscode from 'vscode';
import type { OutboxEntry } from '../../core/outbox/entry.ts';
import type { Preview } from '../../core/outbox/preview.ts';
import { commandAction, showMessage } from '../support/messages.ts';
import type { VirtualDocuments } from '../support/virtual-documents.ts';
import { inEditorWords } from '../support/words.ts';
import { chooseFolder } from '../workspace/folder.ts';
import { previewText } from './preview-text.ts';
import { connectedServer, type ServerTokens } from './server.ts';
import type { Sharing } from './sharing.ts';

export interface ShareOptions {
  readonly vs: typeof vscode;
  readonly log: vscode.LogOutputChannel;
  readonly tokens: ServerTokens;
  readonly documents: VirtualDocuments;
  readonly sharing: Sharing;
}

/** Shows what would be shared, then asks. Whoever closes the question has allowed nothing. */
export async function shareAttempts(
  options: ShareOptions,
  uri: vscode.Uri | undefined,
): Promise<void> {
  const { vs, log, tokens, documents, sharing } = options;
  const { l10n } = vs;
  const choice = await chooseFolder(vs, uri);
  if (choice.kind === 'none') return;
  if (choice.kind === 'refused') return showMessage(vs, choice.level, choice.text, choice.actions);
  const { folder } = choice;
  const workspace = folder.uri.fsPath;
  const server = await connectedServer(vs, tokens);
  if (!server) {
    return showMessage(
      vs,
      'information',
      l10n.t('No training server is connected, so there is nobody to share with.'),
      [commandAction(vs, l10n.t('Connect…'), 'primeAgent.connectServer')],
    );
  }
  const desk = await sharing.desk();
  let preview: Preview;
  try {
    preview = await desk.preview(workspace);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return showMessage(vs, 'warning', inEditorWords(why));
  }
  await documents.open(`${l10n.t('What would be shared')}.md`, previewText(l10n, preview));

  const hasFiles = preview.files?.kind === 'archive';
  const withFiles = l10n.t('Share with Files');
  const without = hasFiles ? l10n.t('Share Without Files') : l10n.t('Share');
  const stop = l10n.t('Stop Sharing');
  const allowed = await desk.consents.permit(workspace).catch(() => undefined);
  const question = l10n.t(
    'Share attempts at {0} with {1}, those made so far and later ones? The document shows what is sent.',
    folder.name,
    new URL(server.url).host,
  );
  const choices = [...(hasFiles ? [withFiles] : []), without, ...(allowed ? [stop] : [])];
  const answer = await vs.window.showInformationMessage(question, ...choices);
  if (answer === undefined) return;
  if (answer === stop) {
    const { withdrawn } = await desk.deny(workspace);
    log.info(
      `consent: attempts at ${workspace} are not shared any more; ${withdrawn} that waited went`,
    );
  } else {
    const { files, ...record } = preview;
    await desk.allow(workspace, answer === withFiles ? { ...record, files } : record);
    log.info(
      `consent: attempts at ${workspace} are shared with ${server.url}, ${answer === withFiles ? 'with' : 'without'} files`,
    );
  }
  await sharing.refresh();
  sharing.soon();
}

/** What waits, was sent or refused; what is ticked is withdrawn. */
export async function showOutbox({
  vs,
  sharing,
}: Pick<ShareOptions, 'vs' | 'sharing'>): Promise<void> {
  const { l10n } = vs;
  await sharing.refresh();
  const desk = await sharing.desk();
  const entries = [...(await desk.outbox.list())].reverse();
  const shown = entries.filter(isThere);
  const summary = sharing.summary();
  if (summary === undefined || shown.length === 0) {
    return showMessage(
      vs,
      'information',
      summary ?? l10n.t('Nothing is shared, and nothing waits.'),
      [commandAction(vs, l10n.t('Share Attempts…'), 'primeAgent.shareAttempts')],
    );
  }
  const picked = await vs.window.showQuickPick(
    shown.map((entry) => ({
      label: entry.attemptId,
      description: stateWord(l10n, entry),
      detail: problemOf(entry),
    })),
    {
      title: summary,
      placeHolder: l10n.t('What is ticked is withdrawn; the records stay here'),
      canPickMany: true,
    },
  );
  for (const { label } of picked ?? []) await desk.outbox.withdraw(label);
  if (picked?.length) await sharing.refresh();
}

/** Something of it is still on this machine to be sent. */
function isThere({ state, files }: OutboxEntry): boolean {
  return state.kind === 'waiting' || state.kind === 'refused' || files?.kind === 'waiting';
}

function stateWord(l10n: typeof vscode.l10n, { state }: OutboxEntry): string {
  if (state.kind === 'refused') return l10n.t('refused');
  return state.kind === 'sent' ? l10n.t('sent, its files wait') : l10n.t('waits');
}

function problemOf({ state, files }: OutboxEntry): string | undefined {
  if (state.kind === 'refused') return state.error.message;
  if (state.kind === 'waiting') return state.lastError?.message;
  return files?.kind === 'waiting' ? files.lastError?.message : undefined;
}
