import type * as vscode from 'vscode';
import type { Settings } from '../contract/settings.ts';

/** In a few characters, for the status bar and for lists. */
export function policyLabel(
  { l10n }: typeof vscode,
  { policy, endpoint }: Pick<Settings, 'policy' | 'endpoint'>,
): string {
  if (policy !== 'endpoint') return policy;
  const host = URL.canParse(endpoint.baseUrl) ? new URL(endpoint.baseUrl).host : '';
  if (host === '') return l10n.t('no server');
  return endpoint.model === undefined ? host : l10n.t('{0} at {1}', endpoint.model, host);
}
