import { availableParallelism } from 'node:os';
import type { PolicyDescription } from '../policies/policy.ts';

/** Another attempt of edit-search looks in another order; a model samples something new. */
export function defaultAttempts({ kind }: Pick<PolicyDescription, 'kind'>): number {
  return kind === 'edit-search' ? 2 : 4;
}

/** Attempts are bound by the test runs, which use a core each. */
export function defaultParallel(): number {
  return Math.max(1, Math.min(4, availableParallelism()));
}
