import type * as vscode from 'vscode';

/** Keys of servers, each under the origin that it belongs to: it is never sent to another one. */
export interface Keys {
  /** undefined also where the address is none. */
  get(address: string): Promise<string | undefined>;
  set(address: string, key: string): Promise<void>;
  delete(address: string): Promise<void>;
}

export function createKeys(secrets: vscode.SecretStorage): Keys {
  return {
    async get(address) {
      const name = nameFor(address);
      return name === undefined ? undefined : secrets.get(name);
    },
    async set(address, key) {
      const name = nameFor(address);
      if (name !== undefined) await secrets.store(name, key);
    },
    async delete(address) {
      const name = nameFor(address);
      if (name !== undefined) await secrets.delete(name);
    },
  };
}

function nameFor(address: string): string | undefined {
  return URL.canParse(address) ? `primeAgent.apiKey.${new URL(address).origin}` : undefined;
}
