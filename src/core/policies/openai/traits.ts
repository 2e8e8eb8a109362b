import type { PolicyRequest, Sampling } from '../policy.ts';
import { roomInContext } from './failures.ts';
import { nativeMessages, textMessages, type WireMessage, wireTools } from './prompt.ts';

/** What has been learnt about an endpoint from its refusals; shared by all attempts. */
export interface Traits {
  /** Calls as native tools; false: as text. */
  tools: boolean;
  readonly refused: Set<OptionalField>;
  /** It answered at least once. */
  answered: boolean;
}

/** Fields that a request can do without. */
const OPTIONAL_FIELDS = [
  'return_token_ids',
  'logprobs',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'repetition_penalty',
  'seed',
  'stream_options',
  'stream',
  'cache_salt',
  'reasoning_content',
  'max_tokens',
] as const;
export type OptionalField = (typeof OPTIONAL_FIELDS)[number];

/** Not part of the OpenAI protocol: the first to go when a server refuses without a name. */
const EXTENSIONS: readonly OptionalField[] = [
  'return_token_ids',
  'top_k',
  'min_p',
  'repetition_penalty',
  'cache_salt',
  'reasoning_content',
];

export interface BodySettings {
  readonly model: string;
  readonly sampling: Sampling;
  readonly recordTokens: boolean;
  readonly cacheSalt: string | undefined;
}

export function requestBody(
  request: PolicyRequest,
  settings: BodySettings,
  traits: Traits,
  seed: number,
  maxTokens: number,
): Record<string, unknown> {
  const { sampling } = settings;
  const wanted: Partial<Record<OptionalField, unknown>> = {
    stream: true,
    stream_options: { include_usage: true },
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    seed,
    ...(settings.recordTokens ? { return_token_ids: true, logprobs: true } : {}),
    // Servers take defaults from the model's own configuration; what is recorded must come from
    // the plain distribution.
    ...(settings.recordTokens && isPlain(sampling) ? { min_p: 0, repetition_penalty: 1 } : {}),
    ...(settings.cacheSalt === undefined ? {} : { cache_salt: settings.cacheSalt }),
  };
  const accepted = Object.entries(wanted).filter(
    ([field]) =>
      !traits.refused.has(field as OptionalField) &&
      !(field === 'stream_options' && traits.refused.has('stream')),
  );
  const messages = traits.tools
    ? nativeMessages(request.messages)
    : textMessages(request.messages, request.tools);
  return {
    model: settings.model,
    messages: traits.refused.has('reasoning_content') ? messages.map(withoutReasoning) : messages,
    ...(traits.tools && request.tools.length > 0 ? { tools: wireTools(request.tools) } : {}),
    [traits.refused.has('max_tokens') ? 'max_completion_tokens' : 'max_tokens']: maxTokens,
    ...Object.fromEntries(accepted),
  };
}

/** Temperature 1 without any filter: the distribution that the learner computes. */
export function isPlain(sampling: Sampling): boolean {
  return sampling.temperature === 1 && sampling.topP === 1 && sampling.topK <= 0;
}

export type Adaptation =
  | { readonly kind: 'again' }
  | { readonly kind: 'again-shorter'; readonly maxTokens: number }
  | { readonly kind: 'none' };

const REFUSAL =
  /not (?:be )?(?:supported|allowed|permitted|accept|implemented|enabled)|unsupported|does(?: not|n't) (?:support|allow|accept)|unrecognized|unknown|unexpected|extra|additional propert|requires|invalid|only the default|must be|--jinja|--enable-auto-tool-choice|cannot|can't/i;

/** Learns from a refusal. `none`: nothing in it can be given up. */
export function adapt(
  traits: Traits,
  status: number,
  said: string,
  body: Readonly<Record<string, unknown>>,
  mayDropTools: boolean,
): Adaptation {
  if (![400, 404, 405, 415, 422, 500, 501].includes(status)) return { kind: 'none' };
  const room = roomInContext(said);
  if (room !== undefined) {
    // The prompt fits and only the reply would not: ask for less, unless nothing useful fits.
    const current = Number(body.max_tokens ?? body.max_completion_tokens);
    return room >= 32 && room < current
      ? { kind: 'again-shorter', maxTokens: room }
      : { kind: 'none' };
  }
  if (!REFUSAL.test(said)) return { kind: 'none' };

  const inMessages = JSON.stringify(body.messages).includes('"reasoning_content"');
  const sent = OPTIONAL_FIELDS.filter(
    (field) => field in body || (field === 'reasoning_content' && inMessages),
  );
  const named = sent.filter((field) => new RegExp(`(?<![\\w-])${field}(?![\\w-])`).test(said));
  if (named.length > 0) {
    for (const field of named) traits.refused.add(field);
    return { kind: 'again' };
  }
  if ('tools' in body && mayDropTools && /\btools?\b|\bfunction|tool[_-]/i.test(said)) {
    traits.tools = false;
    return { kind: 'again' };
  }
  const extensions = sent.filter((field) => EXTENSIONS.includes(field));
  if ((status === 400 || status === 422) && extensions.length > 0) {
    for (const field of extensions) traits.refused.add(field);
    return { kind: 'again' };
  }
  return { kind: 'none' };
}

/** Why the recorded distribution may not be the one that was asked for, if so. */
export function samplingDoubt(traits: Traits): string | undefined {
  const lost = (['temperature', 'top_p', 'top_k'] as const).filter((field) =>
    traits.refused.has(field),
  );
  return lost.length === 0
    ? undefined
    : `the endpoint refuses ${lost.join(', ')}, so it may have sampled from another distribution`;
}

function withoutReasoning(message: WireMessage): WireMessage {
  if (message.role !== 'assistant') return message;
  const { reasoning_content: _, ...rest } = message;
  return rest;
}
