import { existsSync } from 'node:fs';
import type * as vscode from 'vscode';
import { findLocalServers, type LocalPorts } from '../../core/policies/discovery.ts';
import { readSettings, writeSetting } from '../contract/settings.ts';
import { askEndpoint } from './ask-endpoint.ts';
import { policyLabel } from './choice.ts';
import type { Keys } from './keys.ts';

export interface SelectPolicyOptions {
  readonly vs: typeof vscode;
  readonly keys: Keys;
  readonly log: vscode.LogOutputChannel;
  /** Where the embedded policy would be; it is offered only where it is. */
  readonly nanoFolder: string;
  /** Other ports than the usual ones. */
  readonly ports?: Partial<LocalPorts>;
}

/** The list is there already, so a busy server may take a little longer to join it. */
const PATIENCE_MS = 1_500;

interface PolicyItem extends vscode.QuickPickItem {
  readonly choice?:
    | { readonly kind: 'edit-search' | 'nano' | 'other' }
    | { readonly kind: 'server'; readonly baseUrl: string; readonly model: string };
}

/**
 * *Select policy…*: what is in the extension, what runs on this machine (added as it is found), or
 * any server. The choice goes into the user's settings.
 */
export async function selectPolicy(options: SelectPolicyOptions): Promise<void> {
  const { vs, keys, log } = options;
  const { choice } = (await pick(options)) ?? {};
  if (choice === undefined) return;
  if (choice.kind === 'other') {
    const endpoint = await askEndpoint({ vs, keys, log });
    if (endpoint === undefined) return;
    await useEndpoint(vs, endpoint.baseUrl, endpoint.model);
  } else if (choice.kind === 'server') {
    await useEndpoint(vs, choice.baseUrl, choice.model);
  } else {
    await writeSetting(vs, 'policy', choice.kind);
  }
  log.info(`policy: ${policyLabel(vs, readSettings(vs))}`);
}

async function useEndpoint(vs: typeof vscode, baseUrl: string, model: string): Promise<void> {
  // The kind last: whoever listens then finds the rest in place.
  await writeSetting(vs, 'endpoint.baseUrl', baseUrl);
  await writeSetting(vs, 'endpoint.model', model);
  await writeSetting(vs, 'policy', 'endpoint');
}

function pick(options: SelectPolicyOptions): Promise<PolicyItem | undefined> {
  const { vs, log, ports } = options;
  const stop = new AbortController();
  const list = vs.window.createQuickPick<PolicyItem>();
  list.title = vs.l10n.t('Who decides what an attempt does');
  list.placeholder = vs.l10n.t('Looking for model servers on this machine…');
  list.matchOnDescription = true;
  list.busy = true;
  list.items = itemsOf(options, []);
  list.show();
  findLocalServers({
    signal: stop.signal,
    patienceMs: PATIENCE_MS,
    ...(ports ? { ports } : {}),
  })
    .then((servers) => {
      const found = servers.flatMap(({ name, baseUrl, models }) =>
        models.map(
          (model): PolicyItem => ({
            label: `$(server) ${model}`,
            description: `${name}, ${baseUrl}`,
            choice: { kind: 'server', baseUrl, model },
          }),
        ),
      );
      list.items = itemsOf(options, found);
      list.placeholder =
        found.length > 0
          ? vs.l10n.t('Choose a policy')
          : vs.l10n.t('No model server runs on this machine (Ollama, llama.cpp, LM Studio, vLLM)');
    })
    .catch((error: unknown) => {
      if (!stop.signal.aborted) log.warn(`local servers: ${String(error)}`);
    })
    .finally(() => {
      if (!stop.signal.aborted) list.busy = false;
    });

  return new Promise((resolve) => {
    list.onDidAccept(() => {
      resolve(list.selectedItems[0]);
      list.hide();
    });
    list.onDidHide(() => {
      stop.abort();
      list.dispose();
      resolve(undefined);
    });
  });
}

function itemsOf(
  { vs, nanoFolder }: SelectPolicyOptions,
  servers: readonly PolicyItem[],
): readonly PolicyItem[] {
  const { l10n } = vs;
  const settings = readSettings(vs);
  const separator = (label: string): PolicyItem => ({
    label,
    kind: vs.QuickPickItemKind.Separator,
  });
  const current = (mine: boolean): Pick<PolicyItem, 'detail'> =>
    mine ? { detail: l10n.t('In use') } : {};
  const nano: PolicyItem = {
    label: '$(chip) nano',
    description: l10n.t('embedded model: bugs of one line in small JavaScript modules'),
    choice: { kind: 'nano' },
    ...current(settings.policy === 'nano'),
  };
  const search: PolicyItem = {
    label: '$(search) edit-search',
    description: l10n.t('no model: tries small edits and lets the tests decide'),
    choice: { kind: 'edit-search' },
    ...current(settings.policy === 'edit-search'),
  };
  const isCurrent = ({ choice }: PolicyItem): boolean =>
    settings.policy === 'endpoint' &&
    choice?.kind === 'server' &&
    choice.baseUrl === settings.endpoint.baseUrl &&
    choice.model === settings.endpoint.model;
  const other: PolicyItem = {
    label: `$(plug) ${l10n.t('Another server…')}`,
    description: l10n.t('any OpenAI-compatible address'),
    choice: { kind: 'other' },
    ...(settings.policy === 'endpoint' && !servers.some(isCurrent)
      ? { detail: l10n.t('In use: {0}', policyLabel(vs, settings)) }
      : {}),
  };
  return [
    separator(l10n.t('In this extension')),
    ...(existsSync(nanoFolder) ? [nano] : []),
    search,
    ...(servers.length > 0 ? [separator(l10n.t('On this machine'))] : []),
    ...servers.map((item) => ({ ...item, ...current(isCurrent(item)) })),
    separator(l10n.t('Elsewhere')),
    other,
  ];
}
