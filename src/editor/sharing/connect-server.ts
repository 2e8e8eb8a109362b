import type * as vscode from 'vscode';
import { AGENT_VERSION } from '../../core/fix/version.ts';
import { certificateOf } from '../../core/outbox/certificate.ts';
import { connect } from '../../core/outbox/connection.ts';
import { refuseClearText } from '../../core/protocol/server-address.ts';
import { readSettings, writeSetting } from '../contract/settings.ts';
import { commandAction, showMessage } from '../support/messages.ts';
import type { ServerTokens } from './server.ts';
import type { Sharing } from './sharing.ts';

export interface ConnectOptions {
  readonly vs: typeof vscode;
  readonly log: vscode.LogOutputChannel;
  readonly tokens: ServerTokens;
  readonly sharing: Pick<Sharing, 'soon'>;
}

/**
 * Asks for address, certificate (where nobody vouches for it) and token, and says hello. Nothing is kept unless the
 * server answers, and nothing is shared by it: that is another command.
 */
export async function connectServer(options: ConnectOptions): Promise<void> {
  const { vs, log, tokens, sharing } = options;
  const { l10n } = vs;
  const before = readSettings(vs).server.url;
  const url = await askAddress(vs, before);
  if (url === undefined) return;
  if (url === '') {
    if (before !== '') await tokens.delete(before);
    await writeSetting(vs, 'server.url', '');
    await writeSetting(vs, 'server.fingerprint', '');
    sharing.soon();
    return;
  }
  try {
    const fingerprint = await askCertificate(vs, url);
    if (fingerprint === undefined) return;
    const token = await askToken(vs, tokens, url);
    if (token === undefined) return;
    const server = { url, token, ...(fingerprint !== '' && { fingerprint }) };
    const connection = await connect(server, {
      name: 'prime-agent-vscode',
      version: AGENT_VERSION,
    });
    const { contributor } = connection.welcome;
    connection.close();
    await tokens.set(url, token);
    await writeSetting(vs, 'server.url', url);
    await writeSetting(vs, 'server.fingerprint', fingerprint);
    log.info(`connected to ${url} as ${contributor}`);
    sharing.soon();
    void showMessage(
      vs,
      'information',
      l10n.t(
        'Connected to {0} as {1}. Nothing is shared until you allow it for a workspace.',
        new URL(url).host,
        contributor,
      ),
      [commandAction(vs, l10n.t('Share Attempts…'), 'primeAgent.shareAttempts')],
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.warn(`${url}: ${why}`);
    void showMessage(vs, 'error', l10n.t('Not connected: {0}', why), [
      commandAction(vs, l10n.t('Try Again'), 'primeAgent.connectServer'),
    ]);
  }
}

async function askAddress({ window, l10n }: typeof vscode, value: string) {
  const typed = await window.showInputBox({
    title: l10n.t('Address of the training server'),
    prompt: l10n.t('What `prime-agent serve` prints. Leave it empty to disconnect.'),
    placeHolder: 'https://gpu-box:7317',
    value,
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? undefined : problemOf(text.trim(), l10n)),
  });
  if (typed === undefined || typed.trim() === '') return typed?.trim();
  return new URL(typed.trim()).origin;
}

function problemOf(text: string, l10n: typeof vscode.l10n): string | undefined {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    return l10n.t('The address starts with https://, or with http:// on this machine.');
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return l10n.t('Leave name and password out of the address: settings are not secret.');
  }
  try {
    refuseClearText(url);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** @returns the fingerprint to pin; empty: the system's authorities decide; undefined: the user gave up */
async function askCertificate(vs: typeof vscode, url: string): Promise<string | undefined> {
  const { l10n, window } = vs;
  if (url.startsWith('http:')) return '';
  const { fingerprint, trusted } = await certificateOf(url);
  if (trusted) return '';
  const pin = l10n.t('It Is the Same');
  const answer = await window.showWarningMessage(
    l10n.t('Is this the certificate of {0}?', new URL(url).host),
    {
      modal: true,
      detail: l10n.t(
        'No authority vouches for it. Compare this fingerprint with the one that `prime-agent serve` printed: {0}. Nothing has been sent yet.',
        fingerprint,
      ),
    },
    pin,
  );
  return answer === pin ? fingerprint : undefined;
}

async function askToken(
  { window, l10n }: typeof vscode,
  tokens: ServerTokens,
  url: string,
): Promise<string | undefined> {
  const stored = await tokens.get(url);
  const typed = await window.showInputBox({
    title: l10n.t('Token for {0}', new URL(url).host),
    prompt:
      stored === undefined
        ? l10n.t(
            '`prime-agent token create` at the server makes one. It is kept in the secret storage of the editor.',
          )
        : l10n.t('Leave it empty to use the stored token.'),
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === '' && stored === undefined ? l10n.t('A token is needed.') : undefined,
  });
  if (typed === undefined) return undefined;
  return typed.trim() === '' ? stored : typed.trim();
}
