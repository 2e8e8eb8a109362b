import { EDIT_SEARCH_BUDGETS } from '../policies/edit-search/edit-search.ts';
import type { PolicyDescription } from '../policies/policy.ts';
import type { Budgets } from '../trajectories/schema.ts';

const MODEL_BUDGETS: Budgets = {
  turns: 50,
  contextTokens: 32_768,
  generatedTokens: 24_000,
  replyTokens: 4_096,
  timeMs: 15 * 60_000,
};

/** Of the embedded policy a try is three turns and some sixty tokens: it may make as many as it has time for. */
const EMBEDDED_TURNS = 200;

/** What one attempt may use, by the kind of policy; a model's own context is never exceeded. */
export function defaultBudgets(policy: PolicyDescription): Budgets {
  if (policy.kind === 'edit-search') return EDIT_SEARCH_BUDGETS;
  const contextTokens = policy.contextTokens ?? MODEL_BUDGETS.contextTokens;
  return {
    ...MODEL_BUDGETS,
    contextTokens,
    ...(policy.kind === 'onnx' && { turns: EMBEDDED_TURNS }),
    replyTokens: Math.min(MODEL_BUDGETS.replyTokens, Math.floor(contextTokens / 4)),
  };
}
