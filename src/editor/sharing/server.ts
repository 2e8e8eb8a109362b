import type * as vscode from 'vscode';
import type { ServerAddress } from '../../core/protocol/server-address.ts';
import { readSettings } from '../contract/settings.ts';

/** Tokens of training servers, each under the origin that it belongs to: it is never sent to another one. */
export interface ServerTokens {
  get(url: string): Promise<string | undefined>;
  set(url: string, token: string): Promise<void>;
  delete(url: string): Promise<void>;
}

export function createServerTokens(secrets: vscode.SecretStorage): ServerTokens {
  return {
    get: async (url) => secrets.get(nameOf(url)),
    set: async (url, token) => secrets.store(nameOf(url), token),
    delete: async (url) => secrets.delete(nameOf(url)),
  };
}

function nameOf(url: string): string {
  return `primeAgent.serverToken.${URL.canParse(url) ? new URL(url).origin : ''}`;
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
