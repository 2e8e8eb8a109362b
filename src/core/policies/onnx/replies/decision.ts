import type { Message } from '../../../agent/messages.ts';
import {
  encodeMessages,
  type FormatCall,
  type FormatMessage,
  generationPrompt,
  replyIds,
} from '../chat-format.ts';
import { type PolicyTokenizer, rememberingTokenizer } from '../tokenizer.ts';
import {
  createNextCalls,
  type Exchange,
  type NextCallsOptions,
  type WeightedCall,
} from './next-calls.ts';
import type { WeightedReply } from './reply-set.ts';

/** What comes next in an attempt: one call that follows by itself, or a choice for the policy. */
export type Decision =
  | { readonly kind: 'follows'; readonly call: FormatCall }
  | {
      readonly kind: 'choice';
      readonly promptIds: readonly number[];
      /** Calls before it: what tells one choice of an attempt from the next, whose prompt is the same. */
      readonly turn: number;
      readonly replies: readonly WeightedReply[];
    };

/** Of one attempt: what is costly to list and to encode is kept between its turns. */
export function createDecisions(
  plain: PolicyTokenizer,
  options: NextCallsOptions,
): (messages: readonly Message[]) => Decision {
  const tokenizer = rememberingTokenizer(plain);
  const encoded = new Map<WeightedCall, readonly number[]>();
  let first: { readonly text: string; readonly next: ReturnType<typeof createNextCalls> };

  const idsOf = (call: WeightedCall): readonly number[] => {
    const known = encoded.get(call);
    if (known) return known;
    const ids = replyIds(tokenizer, call.call);
    encoded.set(call, ids);
    return ids;
  };

  return (messages) => {
    const text = messages.find(({ role }) => role === 'user')?.content ?? '';
    if (first?.text !== text) first = { text, next: createNextCalls(text, options) };
    const exchanges = exchangesOf(messages);
    const calls = first.next(exchanges);
    const [only, ...others] = calls;
    if (only && others.length === 0) return { kind: 'follows', call: only.call };
    return {
      kind: 'choice',
      promptIds: [
        ...encodeMessages(tokenizer, foldedMessages(text, exchanges)),
        ...generationPrompt(tokenizer),
      ],
      turn: exchanges.length,
      replies: calls.map((call) => ({ ids: idsOf(call), weight: call.weight })),
    };
  };
}

/**
 * What the policy reads before a choice: the failure and the files. What was tried and taken back is
 * left out, since the set of replies knows it: so an attempt may try much without filling the context,
 * and a choice reads the same however late it comes.
 */
export function foldedMessages(
  firstMessage: string,
  exchanges: readonly Exchange[],
): readonly FormatMessage[] {
  const views = exchanges.filter(({ call }) => call.name === 'bash');
  return [
    { role: 'user', content: firstMessage },
    ...views.flatMap(({ call, observation }): FormatMessage[] => [
      { role: 'assistant', content: '', calls: [call] },
      { role: 'tool', content: observation },
    ]),
  ];
}

/** Every call with what came of it. */
function exchangesOf(messages: readonly Message[]): readonly Exchange[] {
  const seen = new Map(
    messages.flatMap((message) =>
      message.role === 'tool' ? [[message.callId, message.content] as const] : [],
    ),
  );
  return messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.calls.map((call) => ({
          call: { name: call.name, arguments: call.arguments },
          observation: seen.get(call.id) ?? '',
        }))
      : [],
  );
}
