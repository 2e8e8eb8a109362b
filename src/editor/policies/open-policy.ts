import { findProgram } from '../../core/platform/find-program.ts';
import { type CreatedPolicy, createPolicy } from '../../core/policies/create-policy.ts';
import type { Settings } from '../contract/settings.ts';
import type { Keys } from './keys.ts';

export interface OpenPolicyOptions {
  readonly settings: Pick<Settings, 'policy' | 'endpoint'>;
  readonly keys: Keys;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly onNotice: (text: string) => void;
}

export type OpenedPolicy =
  | (Extract<CreatedPolicy, { kind: 'policy' }> & {
      /** The host's variables with the key that is used, so that records are kept free of it. */
      readonly environment: Readonly<Record<string, string | undefined>>;
    })
  | Extract<CreatedPolicy, { kind: 'problem' }>;

/** The policy that the settings name. Rejects only with the signal's reason. */
export async function openPolicy(options: OpenPolicyOptions): Promise<OpenedPolicy> {
  const { settings, keys, signal, onNotice } = options;
  const { policy, endpoint } = settings;
  if (policy === 'endpoint' && endpoint.baseUrl === '') {
    return {
      kind: 'problem',
      cause: 'usage',
      reason: 'No server is set for the policy.',
      remedy: 'Select one, or search without a model (edit-search).',
    };
  }
  const key = policy === 'endpoint' ? await keys.get(endpoint.baseUrl) : undefined;
  const environment =
    key === undefined ? options.environment : { ...options.environment, PRIME_AGENT_API_KEY: key };
  const created = await createPolicy(
    {
      policy: policy === 'endpoint' ? endpoint.baseUrl : policy,
      ...(policy === 'endpoint' && endpoint.model !== undefined ? { model: endpoint.model } : {}),
      lenient: true,
    },
    { env: environment, signal, onNotice, onnx: { node: await ownNode(environment) } },
  );
  return created.kind === 'policy' ? { ...created, environment } : created;
}

/**
 * Native code is known to crash inside Electron's helper, so the embedded model prefers a plain Node.
 * undefined: the program that runs this, which is one outside of desktop editors.
 */
async function ownNode(environment: OpenPolicyOptions['environment']): Promise<string | undefined> {
  return process.versions.electron === undefined ? undefined : findProgram('node', environment);
}
