import { z } from 'zod';

/**
 * What OpenAI-compatible servers send. Loose on purpose: unknown fields pass, and what is only
 * recorded (token ids, log-probabilities) is checked apart, so that it cannot spoil a reply.
 */
const callPieceSchema = z.looseObject({
  index: z.int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z
    .looseObject({ name: z.string().nullish(), arguments: z.unknown().optional() })
    .nullish(),
});

const textSchema = z
  .union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))])
  .transform((value) =>
    typeof value === 'string' ? value : value.map((part) => part.text ?? '').join(''),
  );

const messageSchema = z.looseObject({
  content: textSchema.nullish(),
  /** vLLM, llama.cpp, DeepSeek. */
  reasoning_content: z.string().nullish(),
  /** Ollama, OpenRouter, newer vLLM. */
  reasoning: z.string().nullish(),
  tool_calls: z.array(callPieceSchema).nullish(),
});

const choiceSchema = z.looseObject({
  index: z.int().nullish(),
  /** Of a whole reply. */
  message: messageSchema.nullish(),
  /** Of a piece of a stream. */
  delta: messageSchema.nullish(),
  finish_reason: z.string().nullish(),
  token_ids: z.unknown().optional(),
  prompt_token_ids: z.unknown().optional(),
  logprobs: z.unknown().optional(),
});

const usageSchema = z.looseObject({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative(),
});

/** A whole reply or one piece of a stream. */
export const replyPieceSchema = z.looseObject({
  choices: z.array(choiceSchema),
  usage: usageSchema.nullish().catch(undefined),
  prompt_token_ids: z.unknown().optional(),
});

export type ReplyPiece = z.infer<typeof replyPieceSchema>;
export type CallPiece = z.infer<typeof callPieceSchema>;

/** The spellings of an error: OpenAI, vLLM (old and new), Ollama, FastAPI, llama.cpp. */
export const errorBodySchema = z.union([
  z.looseObject({
    error: z.looseObject({
      message: z.string(),
      code: z.union([z.string(), z.number()]).nullish(),
      type: z.string().nullish(),
      param: z.string().nullish(),
    }),
  }),
  z.looseObject({ error: z.string() }),
  z.looseObject({ object: z.literal('error'), message: z.string() }),
  z.looseObject({
    detail: z.union([
      z.string(),
      z.array(z.looseObject({ msg: z.string(), loc: z.array(z.union([z.string(), z.number()])) })),
    ]),
  }),
  z.looseObject({ message: z.string(), choices: z.undefined().optional() }),
]);

/** One line of what an error body says, or undefined when it is no error in a known spelling. */
export function errorText(body: unknown): string | undefined {
  const parsed = errorBodySchema.safeParse(body);
  if (!parsed.success) return undefined;
  const error = parsed.data;
  if ('error' in error && typeof error.error === 'string') return error.error;
  if ('error' in error && typeof error.error === 'object' && error.error !== null) {
    const { message, code, param } = error.error as {
      message: string;
      code?: unknown;
      param?: unknown;
    };
    const extra = [code, param].filter(
      (part) => typeof part === 'string' && !message.includes(part),
    );
    return extra.length === 0 ? message : `${message} (${extra.join(', ')})`;
  }
  if ('detail' in error) {
    const { detail } = error;
    if (typeof detail === 'string') return detail;
    if (Array.isArray(detail)) {
      return detail.map((item) => `${item.msg}: ${item.loc.join('.')}`).join('; ');
    }
  }
  return typeof error.message === 'string' ? error.message : undefined;
}

export const modelListSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      /** vLLM. */
      max_model_len: z.int().positive().nullish().catch(undefined),
      /** LM Studio, LiteLLM and others. */
      context_length: z.int().positive().nullish().catch(undefined),
      max_context_length: z.int().positive().nullish().catch(undefined),
      /** llama.cpp: what the model was trained for; the server's own size is in /props. */
      meta: z.looseObject({ n_ctx: z.int().positive().nullish() }).nullish().catch(undefined),
    }),
  ),
});

export interface ServedModel {
  readonly id: string;
  /** Where the server tells. */
  readonly contextTokens?: number;
}

export function servedModels(list: z.infer<typeof modelListSchema>): readonly ServedModel[] {
  return list.data.map((model) => {
    const size =
      model.max_model_len ?? model.meta?.n_ctx ?? model.context_length ?? model.max_context_length;
    return { id: model.id, ...(typeof size === 'number' ? { contextTokens: size } : {}) };
  });
}
