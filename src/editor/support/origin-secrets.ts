import type * as vscode from 'vscode';

/** Secrets of servers, each under the origin that it belongs to: it is never sent to another one. */
export interface OriginSecrets {
  /** undefined also where the address is none. */
  get(address: string): Promise<string | undefined>;
  set(address: string, secret: string): Promise<void>;
  delete(address: string): Promise<void>;
}

/** @param kind tells secrets for different uses apart */
export function originSecrets(secrets: vscode.SecretStorage, kind: string): OriginSecrets {
  const nameFor = (address: string): string | undefined =>
    URL.canParse(address) ? `primeAgent.${kind}.${new URL(address).origin}` : undefined;
  return {
    async get(address) {
      const name = nameFor(address);
      return name === undefined ? undefined : secrets.get(name);
    },
    async set(address, secret) {
      const name = nameFor(address);
      if (name !== undefined) await secrets.store(name, secret);
    },
    async delete(address) {
      const name = nameFor(address);
      if (name !== undefined) await secrets.delete(name);
    },
  };
}
