import type * as vscode from 'vscode';
import { type OriginSecrets, originSecrets } from '../support/origin-secrets.ts';

/** Keys of model servers. */
export type Keys = OriginSecrets;

export function createKeys(secrets: vscode.SecretStorage): Keys {
  return originSecrets(secrets, 'apiKey');
}
