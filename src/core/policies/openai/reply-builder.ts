import type { NativeCall } from '../calls/native-calls.ts';
import type { TokenPieces } from './sampled-tokens.ts';
import type { CallPiece, ReplyPiece } from './wire.ts';

/** One reply, put together from the pieces of a stream (a whole reply is a single piece). */
export interface RawReply {
  readonly content: string;
  readonly reasoning: string;
  readonly natives: readonly NativeCall[];
  readonly finishReason: string | undefined;
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number } | undefined;
  readonly tokens: TokenPieces;
  /** Whether any choice came at all. */
  readonly choiceSeen: boolean;
}

export interface ReplyBuilder {
  add(piece: ReplyPiece): void;
  result(): RawReply;
}

interface OpenCall {
  id: string | undefined;
  readonly index: number | undefined;
  name: string;
  text: string;
  /** Arguments that came as a JSON value instead of a string. */
  value: unknown;
}

export function createReplyBuilder(onText: ((text: string) => void) | undefined): ReplyBuilder {
  let content = '';
  let reasoning = '';
  let finishReason: string | undefined;
  let usage: RawReply['usage'];
  let promptIds: unknown;
  let choiceSeen = false;
  const ids: unknown[] = [];
  const logprobs: unknown[] = [];
  const calls: OpenCall[] = [];

  return {
    add(piece) {
      if (piece.usage !== null && piece.usage !== undefined) {
        usage = {
          promptTokens: piece.usage.prompt_tokens,
          completionTokens: piece.usage.completion_tokens,
        };
      }
      promptIds ??= piece.prompt_token_ids ?? undefined;
      const choice = piece.choices.find((item) => (item.index ?? 0) === 0);
      if (choice === undefined) return;
      choiceSeen = true;
      promptIds ??= choice.prompt_token_ids ?? undefined;
      ids.push(choice.token_ids);
      logprobs.push(choice.logprobs);
      finishReason = choice.finish_reason ?? finishReason;
      const part = choice.message ?? choice.delta;
      if (part === null || part === undefined) return;
      const thought = part.reasoning_content ?? part.reasoning ?? '';
      const text = part.content ?? '';
      reasoning += thought;
      content += text;
      if (thought !== '') onText?.(thought);
      if (text !== '') onText?.(text);
      for (const call of part.tool_calls ?? []) addCall(calls, call);
    },
    result() {
      const natives = calls.map((call) => ({
        name: call.name,
        arguments: call.value === undefined ? call.text : call.value,
      }));
      const tokens = { promptIds, ids, logprobs };
      return { content, reasoning, natives, finishReason, usage, tokens, choiceSeen };
    },
  };
}

/**
 * Pieces of one call share an index. Some servers send no index, and some send several whole calls
 * under index 0 with different ids: a new id together with a name starts a new call.
 */
function addCall(calls: OpenCall[], piece: CallPiece): void {
  const index = piece.index ?? undefined;
  const id = piece.id ?? undefined;
  const name = piece.function?.name ?? '';
  let call =
    index === undefined
      ? name === '' || calls.length === 0
        ? calls.at(-1)
        : undefined
      : calls.findLast((item) => item.index === index);
  const another =
    call?.id !== undefined && id !== undefined && id !== '' && id !== call.id && name !== '';
  if (call === undefined || another) {
    call = { id, index, name: '', text: '', value: undefined };
    calls.push(call);
  }
  call.id ??= id;
  // A name comes whole; a server that repeats it in every piece must not double it.
  if (name !== '' && name !== call.name) call.name += name;
  const args = piece.function?.arguments;
  if (typeof args === 'string') call.text += args;
  else if (args !== undefined && args !== null) call.value = args;
}
