import {
  ARGUMENT_ID,
  CALL_ID,
  END_CALL_ID,
  END_OF_TURN_ID,
  PADDING_ID,
  SPECIAL_TOKENS,
  START_ID,
  spellingOf,
  VALUE_ID,
} from './special-tokens.ts';
import type { PolicyTokenizer } from './tokenizer.ts';

/*
 * How a conversation becomes token ids, and how sampled ids become calls again: the twin of
 * server/learner/prime_learner/conversation.py, pinned by the same golden files. docs/learner.md
 * ("The call format") describes it.
 */

export interface FormatCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type FormatMessage =
  | { readonly role: 'system' | 'user' | 'tool'; readonly content: string }
  | {
      readonly role: 'assistant';
      /** Text before the first call, without the calls. */
      readonly content: string;
      readonly calls: readonly FormatCall[];
    };

/** Ids of whole messages, one behind the other. */
export function encodeMessages(
  tokenizer: PolicyTokenizer,
  messages: readonly FormatMessage[],
): number[] {
  const newline = tokenizer.encodeText('\n');
  return messages.flatMap((message) => [
    START_ID,
    ...tokenizer.encodeText(`${message.role}\n`),
    ...bodyIds(tokenizer, message),
    END_OF_TURN_ID,
    ...newline,
  ]);
}

/** Ids of a reply that is one call, its end included. */
export function replyIds(tokenizer: PolicyTokenizer, call: FormatCall): number[] {
  return [...bodyIds(tokenizer, { role: 'assistant', content: '', calls: [call] }), END_OF_TURN_ID];
}

/** What stands at the end of a prompt: the beginning of the next reply. */
export function generationPrompt(tokenizer: PolicyTokenizer): number[] {
  return [START_ID, ...tokenizer.encodeText('assistant\n')];
}

/** The text for people and for the chat template; ids come from `encodeMessages`, never from this. */
export function renderMessages(messages: readonly FormatMessage[]): string {
  return messages
    .map((message) => `<|im_start|>${message.role}\n${bodyText(message)}<|im_end|>\n`)
    .join('');
}

/** A string as it is; anything else as compact JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}

/** Arguments as text: whoever knows the tool's schema reads them as what it asks for. */
export interface ParsedCall {
  readonly name: string;
  readonly arguments: ReadonlyMap<string, string>;
}

export type ParsedReply =
  | {
      readonly kind: 'reply';
      readonly content: string;
      readonly calls: readonly ParsedCall[];
      readonly finish: 'stop' | 'length';
    }
  | { readonly kind: 'malformed'; readonly reason: string };

/**
 * Reads sampled ids, `<|im_end|>` included where it was sampled. Special tokens are recognised by
 * id and never by their spelling.
 */
export function parseReply(tokenizer: PolicyTokenizer, ids: readonly number[]): ParsedReply {
  const ended = ids.at(-1) === END_OF_TURN_ID;
  const split = splitAtTags(tokenizer, ended ? ids.slice(0, -1) : ids);
  if ('reason' in split) return split;
  const { content, pieces } = split;
  const finish = ended ? 'stop' : 'length';
  if (finish === 'length' && insideCall(pieces)) {
    return malformed('the reply was cut off inside a call');
  }
  const calls: ParsedCall[] = [];
  let at = 0;
  while (at < pieces.length) {
    const call = parseCall(pieces, at);
    if ('reason' in call) return call;
    calls.push(call.parsed);
    at = call.next;
  }
  return { kind: 'reply', content, calls, finish };
}

/** A tag and the text behind it, up to the next tag. */
interface Piece {
  readonly tag: number;
  readonly text: string;
}

interface Malformed {
  readonly kind: 'malformed';
  readonly reason: string;
}

function splitAtTags(
  tokenizer: PolicyTokenizer,
  ids: readonly number[],
): { readonly content: string; readonly pieces: readonly Piece[] } | Malformed {
  const groups: { tag: number; ids: number[] }[] = [];
  const before: number[] = [];
  for (const id of ids) {
    if (id === PADDING_ID || id === START_ID || id === END_OF_TURN_ID) {
      return malformed(`${spellingOf(id)} inside the reply`);
    }
    if (id < SPECIAL_TOKENS.length) groups.push({ tag: id, ids: [] });
    else (groups.at(-1)?.ids ?? before).push(id);
  }
  const pieces = groups.map((group) => ({ tag: group.tag, text: tokenizer.decode(group.ids) }));
  return { content: tokenizer.decode(before), pieces };
}

function insideCall(pieces: readonly Piece[]): boolean {
  return pieces.findLast(({ tag }) => tag === CALL_ID || tag === END_CALL_ID)?.tag === CALL_ID;
}

function parseCall(
  pieces: readonly Piece[],
  start: number,
): { readonly parsed: ParsedCall; readonly next: number } | Malformed {
  const first = pieces[start];
  if (first?.tag !== CALL_ID) return malformed(`${spellingOf(first?.tag ?? -1)} outside a call`);
  const name = first.text;
  if (name === '') return malformed('a call without a name');
  const args = new Map<string, string>();
  let at = start + 1;
  for (;;) {
    const key = pieces[at];
    if (key?.tag !== ARGUMENT_ID) break;
    const value = pieces[at + 1];
    if (value?.tag !== VALUE_ID) {
      return malformed(`argument ${key.text} of ${name} without <|value|>`);
    }
    if (key.text === '') return malformed(`an argument of ${name} without a name`);
    if (args.has(key.text)) return malformed(`argument ${key.text} of ${name} given twice`);
    args.set(key.text, value.text);
    at += 2;
  }
  const end = pieces[at];
  if (end?.tag !== END_CALL_ID) {
    const found = end === undefined ? 'the reply ended' : `${spellingOf(end.tag)} came`;
    return malformed(`the call of ${name} has no <|end_call|>: ${found} first`);
  }
  if (end.text !== '') return malformed(`text after the call of ${name}`);
  return { parsed: { name, arguments: args }, next: at + 1 };
}

function malformed(reason: string): Malformed {
  return { kind: 'malformed', reason };
}

function bodyText(message: FormatMessage): string {
  if (message.role !== 'assistant') return message.content;
  return message.content + message.calls.map(callText).join('');
}

/** Text of a call, as it stands in a reply. */
export function callText(call: FormatCall): string {
  const args = Object.entries(call.arguments).map(
    ([name, value]) => `<|arg|>${name}<|value|>${valueText(value)}`,
  );
  return `<|call|>${call.name}${args.join('')}<|end_call|>`;
}

function bodyIds(tokenizer: PolicyTokenizer, message: FormatMessage): number[] {
  const ids = tokenizer.encodeText(message.content);
  if (message.role !== 'assistant') return ids;
  for (const call of message.calls) {
    ids.push(CALL_ID, ...tokenizer.encodeText(call.name));
    for (const [name, value] of Object.entries(call.arguments)) {
      ids.push(ARGUMENT_ID, ...tokenizer.encodeText(name));
      ids.push(VALUE_ID, ...tokenizer.encodeText(valueText(value)));
    }
    ids.push(END_CALL_ID);
  }
  return ids;
}
