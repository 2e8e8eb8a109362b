import type * as vscode from 'vscode';
import type { PrepareProblem } from '../../core/fix/prepare.ts';
import type { Policy } from '../../core/policies/policy.ts';
import type { Settings } from '../contract/settings.ts';
import { openPolicy } from '../policies/open-policy.ts';
import type { WorkDeps } from './deps.ts';
import { type FoundOutcome, findFailing } from './find-failing.ts';
import { followFix } from './follow.ts';

type Found = Extract<FoundOutcome, { kind: 'found' }>;
/** A policy, a snapshot and what fails in it. */
export type Ready =
  | (Omit<Found, 'kind'> & {
      readonly kind: 'ready';
      readonly policy: Policy;
      readonly environment: WorkDeps['environment'];
    })
  | { readonly kind: 'policy-problem'; readonly problem: PrepareProblem }
  | Exclude<FoundOutcome, Found>;

/** The policy first: a server that does not answer should be known before the tests run. */
export async function prepareFix(
  deps: WorkDeps,
  folder: vscode.WorkspaceFolder,
  settings: Settings,
  /** Filled here, closed by the caller. */
  policies: Policy[],
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<Ready> {
  const { log, keys } = deps;
  try {
    const opened = await openPolicy({
      settings,
      keys,
      environment: deps.environment,
      signal,
      onNotice: (text) => log.warn(text),
    });
    if (opened.kind === 'problem') return { kind: 'policy-problem', problem: opened };
    const { policy, environment } = opened;
    policies.push(policy);
    const listener = followFix(deps, {
      folder,
      policy: policy.description.label,
      recordOf: () => '',
      say,
    });
    const found = await findFailing(deps, folder, {
      settings,
      environment,
      runs: 2,
      signal,
      listener,
    });
    return found.kind === 'found' ? { ...found, kind: 'ready', policy, environment } : found;
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled' };
    throw error;
  }
}
