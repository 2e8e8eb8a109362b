import type * as vscode from 'vscode';
import type { ServerAddress } from '../../core/protocol/server-address.ts';
import { readSettings } from '../contract/settings.ts';
import { type OriginSecrets, originSecrets } from '../support/origin-secrets.ts';

/** Tokens of training servers. */
export type ServerTokens = OriginSecrets;

export function createServerTokens(secrets: vscode.SecretStorage): ServerTokens {
  return originSecrets(secrets, 'serverToken');
}

/** What the user has connected to; undefined: to nothing. */
export async function connectedServer(
  vs: typeof vscode,
  tokens: ServerTokens,
): Promise<ServerAddress | undefined> {
  const { url, fingerprint } = readSettings(vs).server;
  if (!URL.canParse(url)) return undefined;
  const token = await tokens.get(url);
  if (token === undefined) return undefined;
  return { url, token, ...(fingerprint !== '' && { fingerprint }) };
}
