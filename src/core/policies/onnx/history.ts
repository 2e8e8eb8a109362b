import type { AssistantMessage, Message } from '../../agent/messages.ts';
import { callText, encodeMessages, type FormatMessage, generationPrompt } from './chat-format.ts';
import {
  ARGUMENT_ID,
  CALL_ID,
  END_CALL_ID,
  END_OF_TURN_ID,
  SPECIAL_TOKENS,
  START_ID,
  specialSpelling,
  VALUE_ID,
} from './special-tokens.ts';
import type { PolicyTokenizer } from './tokenizer.ts';

/**
 * The token ids of one attempt. What was prompted and sampled is kept as it was, and only messages
 * behind it are encoded: text that is tokenised again need not give the ids that were sampled. A
 * conversation that does not continue the known one (resumed, edited) is encoded from its messages.
 */
export interface TokenHistory {
  prompt(messages: readonly Message[]): number[];
  /** What was sampled for the last prompt, and the text that its message will have. */
  sampled(ids: readonly number[], content: string): void;
}

interface Known {
  /** Prompt and reply, without the line break behind the reply. */
  readonly ids: readonly number[];
  readonly messages: readonly Message[];
  /** Of the reply that follows `messages`. */
  readonly content: string;
}

export function createTokenHistory(
  tokenizer: PolicyTokenizer,
  systemMessage: 'omitted' | 'included',
): TokenHistory {
  let known: Known | undefined;
  let last: { readonly ids: number[]; readonly messages: readonly Message[] } | undefined;
  const encode = (messages: readonly Message[]): number[] =>
    messages
      .filter((message) => message.role !== 'system' || systemMessage === 'included')
      .flatMap((message) => encodeMessage(tokenizer, message));

  return {
    prompt(messages) {
      const ids =
        known && continues(known, messages)
          ? [
              ...behindReply(tokenizer, known.ids),
              ...encode(messages.slice(known.messages.length + 1)),
            ]
          : encode(messages);
      ids.push(...generationPrompt(tokenizer));
      last = { ids, messages: [...messages] };
      return [...ids];
    },
    sampled(ids, content) {
      if (last) known = { ids: [...last.ids, ...ids], messages: last.messages, content };
    },
  };
}

function continues(known: Known, messages: readonly Message[]): boolean {
  const reply = messages[known.messages.length];
  return (
    reply?.role === 'assistant' &&
    reply.content === known.content &&
    known.messages.every((message, index) => same(message, messages[index]))
  );
}

function same(a: Message, b: Message | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** A reply that was cut off has no end; the conversation needs one to go on. */
function behindReply(tokenizer: PolicyTokenizer, ids: readonly number[]): number[] {
  const end = ids.at(-1) === END_OF_TURN_ID ? [] : [END_OF_TURN_ID];
  return [...ids, ...end, ...tokenizer.encodeText('\n')];
}

function encodeMessage(tokenizer: PolicyTokenizer, message: Message): number[] {
  if (message.role === 'assistant' && message.callForm === 'nano' && message.calls.length === 0) {
    // A reply that was malformed: its tags are tags, or the policy would see what it never wrote.
    return [
      START_ID,
      ...tokenizer.encodeText('assistant\n'),
      ...encodeTagged(tokenizer, message.content),
      END_OF_TURN_ID,
      ...tokenizer.encodeText('\n'),
    ];
  }
  return encodeMessages(tokenizer, [toFormat(message)]);
}

function toFormat(message: Message): FormatMessage {
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  return { role: 'assistant', content: textBeforeCalls(message), calls: message.calls };
}

function textBeforeCalls({ callForm, calls, content }: AssistantMessage): string {
  if (calls.length === 0 || callForm === 'native' || callForm === 'none') return content;
  // Other text forms hold their calls in the same text; where the text ends there is not known here.
  if (callForm !== 'nano') return '';
  const body = calls.map(callText).join('');
  if (content.endsWith(body)) return content.slice(0, content.length - body.length);
  const start = content.indexOf('<|call|>');
  return start < 0 ? content : content.slice(0, start);
}

const TAGS = [CALL_ID, ARGUMENT_ID, VALUE_ID, END_CALL_ID].map((id) => SPECIAL_TOKENS[id] ?? '');

function encodeTagged(tokenizer: PolicyTokenizer, text: string): number[] {
  const ids: number[] = [];
  let start = 0;
  for (const match of text.matchAll(specialSpelling(TAGS))) {
    ids.push(...tokenizer.encodeText(text.slice(start, match.index)));
    ids.push((SPECIAL_TOKENS as readonly string[]).indexOf(match[0]));
    start = match.index + match[0].length;
  }
  return [...ids, ...tokenizer.encodeText(text.slice(start))];
}
