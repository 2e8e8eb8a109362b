import type * as vscode from 'vscode';
import { parseEndpoint } from '../../core/policies/openai/endpoint.ts';
import type { ModelsResult } from '../../core/policies/openai/models.ts';
import { listModels } from '../../core/policies/openai/openai.ts';
import { PolicyFailure } from '../../core/policies/policy.ts';
import { readSettings } from '../contract/settings.ts';
import { withSignal } from '../support/cancellation.ts';
import { commandAction, showMessage } from '../support/messages.ts';
import type { Keys } from './keys.ts';

export interface AskEndpointOptions {
  readonly vs: typeof vscode;
  readonly keys: Keys;
  readonly log: vscode.LogOutputChannel;
}

export interface ChosenEndpoint {
  readonly baseUrl: string;
  readonly model: string;
}

/** Asks for address, key and model, in this order; the server is asked for its models in between. */
export async function askEndpoint(
  options: AskEndpointOptions,
): Promise<ChosenEndpoint | undefined> {
  const { vs, keys, log } = options;
  const baseUrl = await askAddress(vs);
  if (baseUrl === undefined) return undefined;
  if (!(await askKey(vs, keys, baseUrl))) return undefined;
  const models = await servedBy(options, baseUrl);
  if (models.kind === 'cancelled') return undefined;
  if (models.kind === 'failed') {
    log.warn(models.reason);
    await showMessage(vs, 'error', models.reason, [
      commandAction(vs, vs.l10n.t('Select Policy…'), 'primeAgent.selectPolicy'),
    ]);
    return undefined;
  }
  const model = await askModel(vs, models.names);
  return model === undefined ? undefined : { baseUrl, model };
}

async function askAddress(vs: typeof vscode): Promise<string | undefined> {
  const { window, l10n } = vs;
  const { endpoint } = readSettings(vs);
  const typed = await window.showInputBox({
    title: l10n.t('Address of the server (1 of 3)'),
    prompt: l10n.t('Code of the tests and of what they use is sent there.'),
    placeHolder: 'http://127.0.0.1:8000/v1',
    value: endpoint.baseUrl,
    ignoreFocusOut: true,
    validateInput(text) {
      const parsed = parseEndpoint(text);
      if (parsed.kind === 'invalid') return parsed.message;
      return parsed.endpoint.authorization === undefined
        ? undefined
        : l10n.t('Leave name and password out of the address: settings are not secret.');
    },
  });
  if (typed === undefined) return undefined;
  const parsed = parseEndpoint(typed);
  return parsed.kind === 'invalid'
    ? undefined
    : `${parsed.endpoint.origin}${parsed.endpoint.path}${parsed.endpoint.search}`;
}

/** @returns false when the user gave up */
async function askKey(vs: typeof vscode, keys: Keys, baseUrl: string): Promise<boolean> {
  const { window, l10n } = vs;
  const { origin } = new URL(baseUrl);
  if ((await keys.get(baseUrl)) !== undefined) {
    const keep = l10n.t('Use the stored key');
    const other = l10n.t('Enter another key');
    const remove = l10n.t('Remove the key');
    const answer = await window.showQuickPick([keep, other, remove], {
      title: l10n.t('Key of {0} (2 of 3)', origin),
      ignoreFocusOut: true,
    });
    if (answer === undefined) return false;
    if (answer === remove) await keys.delete(baseUrl);
    if (answer !== other) return true;
  }
  const key = await window.showInputBox({
    title: l10n.t('Key of {0} (2 of 3)', origin),
    prompt: l10n.t('Kept in the secret storage of the editor. Leave it empty if none is needed.'),
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return false;
  if (key.trim() !== '') await keys.set(baseUrl, key.trim());
  return true;
}

type Served =
  | { readonly kind: 'models'; readonly names: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'cancelled' };

async function servedBy({ vs, keys }: AskEndpointOptions, baseUrl: string): Promise<Served> {
  const apiKey = await keys.get(baseUrl);
  const title = vs.l10n.t('Asking {0} for its models', new URL(baseUrl).host);
  return vs.window.withProgress(
    { location: vs.ProgressLocation.Notification, title, cancellable: true },
    (_, token) =>
      withSignal(token, [], async (signal) => {
        try {
          const result: ModelsResult = await listModels({ baseUrl, apiKey }, signal);
          const names = result.kind === 'models' ? result.models.map(({ id }) => id) : [];
          return { kind: 'models', names };
        } catch (error) {
          if (signal.aborted) return { kind: 'cancelled' };
          if (!(error instanceof PolicyFailure)) throw error;
          return {
            kind: 'failed',
            reason: [error.message, error.remedy].filter(Boolean).join(' '),
          };
        }
      }),
  );
}

async function askModel(
  { window, l10n }: typeof vscode,
  names: readonly string[],
): Promise<string | undefined> {
  const title = l10n.t('Model (3 of 3)');
  if (names.length > 0) return window.showQuickPick([...names], { title, ignoreFocusOut: true });
  const typed = await window.showInputBox({
    title,
    prompt: l10n.t('The server does not list its models: write the name of one.'),
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? l10n.t('A name is needed.') : undefined),
  });
  return typed?.trim();
}
