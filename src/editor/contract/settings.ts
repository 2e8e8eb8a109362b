import type * as vscode from 'vscode';
import type manifest from '../../../package.json';
import type { SandboxChoice } from '../../core/sandbox/providers.ts';

/** A setting of the manifest: naming one that is not there does not compile. */
type Declared = keyof (typeof manifest)['contributes']['configuration']['properties'];

const PREFIX = 'primeAgent';
type Name<Key extends string> = Key extends `${typeof PREFIX}.${infer Rest}` ? Rest : never;
export type SettingName = Name<Declared>;

/** What a command works with, of one folder. */
export interface Settings {
  readonly policy: 'edit-search' | 'nano' | 'endpoint';
  readonly endpoint: { readonly baseUrl: string; readonly model: string | undefined };
  /** undefined here and below: as the policy needs it, or as the machine allows. */
  readonly attempts: number | undefined;
  readonly parallel: number | undefined;
  readonly maxTurns: number | undefined;
  readonly maxMinutes: number | undefined;
  readonly maxReplyTokens: number | undefined;
  readonly sandbox: SandboxChoice;
  /** undefined: the default of the Docker sandbox. */
  readonly dockerImage: string | undefined;
  readonly testCommand: string | undefined;
  readonly testTimeoutSeconds: number;
  readonly include: readonly string[];
  readonly parity: boolean;
  readonly codeLens: boolean;
  /** Of the training server; empty: none. */
  readonly server: { readonly url: string; readonly fingerprint: string };
}

/**
 * Each setting with its reader. A declared setting that is missing here does not compile. The editor
 * does not check types of what people write into settings.json, so each reader does.
 */
const READERS = {
  policy: oneOf(['edit-search', 'nano', 'endpoint']),
  'endpoint.baseUrl': text,
  'endpoint.model': text,
  attempts: countOrNone,
  parallel: countOrNone,
  maxTurns: countOrNone,
  maxMinutes: amountOrNone,
  maxReplyTokens: countOrNone,
  sandbox: oneOf(['auto', 'local', 'docker', 'none']),
  dockerImage: text,
  testCommand: text,
  testTimeout: (value) => countOrNone(value) ?? 300,
  include: texts,
  parity: (value) => value !== false,
  codeLens: (value) => value !== false,
  'server.url': text,
  'server.fingerprint': text,
} as const satisfies Record<SettingName, (value: unknown) => unknown>;

type Read<Key extends SettingName> = ReturnType<(typeof READERS)[Key]>;

/** @param scope the folder whose settings count; without it those of the window */
export function readSettings(vs: typeof vscode, scope?: vscode.Uri): Settings {
  const configuration = vs.workspace.getConfiguration(PREFIX, scope ?? null);
  const read = <Key extends SettingName>(name: Key): Read<Key> =>
    READERS[name](configuration.get(name)) as Read<Key>;
  return {
    policy: read('policy'),
    endpoint: { baseUrl: read('endpoint.baseUrl'), model: read('endpoint.model') || undefined },
    attempts: read('attempts'),
    parallel: read('parallel'),
    maxTurns: read('maxTurns'),
    maxMinutes: read('maxMinutes'),
    maxReplyTokens: read('maxReplyTokens'),
    sandbox: read('sandbox'),
    dockerImage: read('dockerImage') || undefined,
    testCommand: read('testCommand') || undefined,
    testTimeoutSeconds: read('testTimeout'),
    include: read('include'),
    parity: read('parity'),
    codeLens: read('codeLens'),
    server: { url: read('server.url'), fingerprint: read('server.fingerprint') },
  };
}

export async function writeSetting(
  vs: typeof vscode,
  name: SettingName,
  value: unknown,
): Promise<void> {
  // Settings of machine scope live with the user, never with a workspace.
  await vs.workspace.getConfiguration(PREFIX).update(name, value, vs.ConfigurationTarget.Global);
}

export function settingId(name: SettingName): string {
  return `${PREFIX}.${name}`;
}

export function affectsSettings(
  event: vscode.ConfigurationChangeEvent,
  ...names: readonly SettingName[]
): boolean {
  return names.some((name) => event.affectsConfiguration(settingId(name)));
}

function oneOf<const Values extends readonly [string, ...string[]]>(
  values: Values,
): (value: unknown) => Values[number] {
  const [first] = values;
  return (value) => values.find((known) => known === value) ?? first;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((entry): entry is string => typeof entry === 'string' && entry.trim() !== '')
    : [];
}

function countOrNone(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}

function amountOrNone(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}
