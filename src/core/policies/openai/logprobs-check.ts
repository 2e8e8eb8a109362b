import type { PolicyReply } from '../policy.ts';
import { createOpenAiPolicy, type OpenAiOptions } from './openai.ts';

/**
 * Whether an endpoint reports the log-probabilities of the distribution that it samples from
 * (`processed_logprobs` in vLLM) or those of the bare model.
 *
 * One reply cannot tell: at temperature 1 without filters both are the same, so that training under
 * those settings is right either way. Two replies can. Close to temperature 0 the sampled token has
 * nearly all of the probability, so processed values are about 0; raw ones stay as uncertain as the
 * model is. A model that is sure of every token at temperature 1 as well leaves the question open.
 */
export type LogprobsCheck =
  | { readonly kind: 'processed'; readonly detail: string }
  | { readonly kind: 'raw'; readonly detail: string }
  | { readonly kind: 'cannot-tell'; readonly detail: string };

/** vLLM takes anything lower for temperature 0, where it does not scale at all. */
const COLD = 0.01;
const TOKENS = 24;
const PROMPT = 'Write twenty random words that have nothing to do with each other.';

/** Sends two short requests. @throws PolicyFailure, or the signal's reason. */
export async function checkLogprobs(
  options: OpenAiOptions,
  signal: AbortSignal,
): Promise<LogprobsCheck> {
  const cold = await meanLogprob(options, COLD, signal);
  if (typeof cold === 'string') return { kind: 'cannot-tell', detail: cold };
  if (cold < -0.2) {
    return {
      kind: 'raw',
      detail: `At temperature ${COLD} the mean log-probability is ${cold.toFixed(3)} instead of about 0. Start vLLM with --logprobs-mode processed_logprobs, or sample at temperature 1, top-p 1 and without top-k.`,
    };
  }
  const warm = await meanLogprob(options, 1, signal);
  if (typeof warm === 'string') return { kind: 'cannot-tell', detail: warm };
  const means = `Mean log-probability ${cold.toFixed(3)} at temperature ${COLD}, ${warm.toFixed(3)} at temperature 1.`;
  return cold > -0.05 && warm < -0.5
    ? { kind: 'processed', detail: means }
    : { kind: 'cannot-tell', detail: `${means} The model is too sure of itself to tell.` };
}

async function meanLogprob(
  options: OpenAiOptions,
  temperature: number,
  signal: AbortSignal,
): Promise<number | string> {
  const sampling = { temperature, topP: 1, topK: -1 };
  const policy = await createOpenAiPolicy({ ...options, sampling, recordTokens: true }, signal);
  const session = await policy.start(1);
  const reply: PolicyReply = await session.next({
    messages: [{ role: 'user', content: PROMPT }],
    tools: [],
    maxTokens: TOKENS,
    signal,
  });
  const logprobs = reply.tokens?.logprobs ?? [];
  if (logprobs.length === 0)
    return `No log-probabilities: ${reply.tokensMissing ?? 'empty reply'}.`;
  return logprobs.reduce((sum, value) => sum + value, 0) / logprobs.length;
}
