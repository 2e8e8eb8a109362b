import { z } from 'zod';
import type { SampledTokens } from '../policy.ts';

/** The recordable parts of the pieces of one reply, in order. */
export interface TokenPieces {
  readonly promptIds: unknown;
  /** `choices[0].token_ids` of each piece (vLLM). */
  readonly ids: readonly unknown[];
  /** `choices[0].logprobs` of each piece. */
  readonly logprobs: readonly unknown[];
}

export type TokenResult =
  | { readonly kind: 'tokens'; readonly tokens: SampledTokens }
  | { readonly kind: 'missing'; readonly reason: string };

const idsSchema = z.array(z.int().nonnegative());
const logprobsSchema = z.looseObject({
  content: z
    .array(
      z.looseObject({
        logprob: z.number(),
        token: z.string().nullish(),
        /** llama.cpp puts the id here; vLLM can write it into `token` as `token_id:123`. */
        id: z.int().nonnegative().nullish(),
      }),
    )
    .nullish(),
  /** The older form of llama.cpp and others. */
  token_logprobs: z.array(z.number().nullable()).nullish(),
  token_ids: idsSchema.nullish(),
});

/**
 * Token ids and log-probabilities of one reply, or the exact reason why they cannot be recorded.
 * @param countedTokens completion tokens by the server's own count, where it gave one.
 */
export function readSampledTokens(
  pieces: TokenPieces,
  countedTokens: number | undefined,
): TokenResult {
  const fromContent: number[] = [];
  const logprobs: number[] = [];
  let contentHasIds = true;
  for (const piece of pieces.logprobs) {
    if (piece === null || piece === undefined) continue;
    const parsed = logprobsSchema.safeParse(piece);
    if (!parsed.success) return missing('the endpoint sent log-probabilities in an unknown form');
    for (const item of parsed.data.content ?? []) {
      logprobs.push(item.logprob);
      const id = item.id ?? idInToken(item.token);
      if (id === undefined) contentHasIds = false;
      else fromContent.push(id);
    }
    if (parsed.data.content === undefined || parsed.data.content === null) {
      for (const value of parsed.data.token_logprobs ?? []) logprobs.push(value ?? Number.NaN);
      fromContent.push(...(parsed.data.token_ids ?? []));
      if (parsed.data.token_ids === undefined || parsed.data.token_ids === null)
        contentHasIds = false;
    }
  }
  if (logprobs.length === 0) return missing('the endpoint sent no log-probabilities');

  const given: number[] = [];
  for (const piece of pieces.ids) {
    if (piece === null || piece === undefined) continue;
    const parsed = idsSchema.safeParse(piece);
    if (!parsed.success) return missing('the endpoint sent token ids that are not whole numbers');
    given.push(...parsed.data);
  }
  const sampledIds = given.length > 0 ? given : contentHasIds ? fromContent : [];
  if (sampledIds.length === 0) return missing('the endpoint sent no ids of the sampled tokens');
  if (sampledIds.length !== logprobs.length) {
    return missing(
      `the endpoint sent ${sampledIds.length} token ids but ${logprobs.length} log-probabilities`,
    );
  }
  if (countedTokens !== undefined && countedTokens !== sampledIds.length) {
    return missing(
      `the endpoint counted ${countedTokens} sampled tokens but sent ${sampledIds.length} ids`,
    );
  }
  const implausible = implausibleLogprob(logprobs);
  if (implausible !== undefined) return missing(implausible);

  const promptIds = idsSchema.min(1).safeParse(pieces.promptIds);
  if (!promptIds.success) return missing('the endpoint sent no ids of the prompt tokens');
  return { kind: 'tokens', tokens: { promptIds: promptIds.data, sampledIds, logprobs } };
}

/** A log-probability is finite and not above 0; servers that sample from a filtered set send -9999. */
function implausibleLogprob(logprobs: readonly number[]): string | undefined {
  const at = logprobs.findIndex(
    (value) => !Number.isFinite(value) || value > 1e-4 || value <= -9999,
  );
  if (at < 0) return undefined;
  return `log-probability ${at + 1} of ${logprobs.length} is ${logprobs[at]}, which no sampled token can have`;
}

function idInToken(token: string | null | undefined): number | undefined {
  const match = /^token_id:(\d+)$/.exec(token ?? '');
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

function missing(reason: string): TokenResult {
  return { kind: 'missing', reason };
}
