import { createHash } from 'node:crypto';
import type { PolicyDescription } from '../../../src/core/policies/policy.ts';

/** Attempts of one group have one policy: the same weights (or the same program) and sampling. */
export function policyKey(policy: PolicyDescription, scaffoldHash: string): string {
  const { kind, model, version, hash, sampling } = policy;
  const what = hash ?? [model, version ?? null];
  const { temperature, topP, topK } = sampling;
  return createHash('sha256')
    .update(JSON.stringify([kind, what, temperature, topP, topK, scaffoldHash]))
    .digest('hex');
}
