import { createParser } from 'eventsource-parser';
import { saidBy, type Trouble, trouble } from './failures.ts';
import type { HttpReply } from './http.ts';
import { createReplyBuilder, type RawReply } from './reply-builder.ts';
import { errorText, replyPieceSchema } from './wire.ts';

export type ReadReply =
  | { readonly kind: 'reply'; readonly reply: RawReply }
  /** An error inside a reply with status 200. */
  | { readonly kind: 'refused'; readonly status: number; readonly said: string }
  | { readonly kind: 'trouble'; readonly trouble: Trouble };

/**
 * Reads a reply with status 200: server-sent events, or one JSON object from servers that do not
 * stream. Which of them is decided by the first character, since content types are often wrong.
 */
export async function readReply(
  http: HttpReply,
  label: string,
  onText: ((text: string) => void) | undefined,
): Promise<ReadReply> {
  const builder = createReplyBuilder(onText);
  let problem: Exclude<ReadReply, { kind: 'reply' }> | undefined;
  let done = false;

  const take = (data: string): void => {
    if (problem !== undefined || data === '') return;
    if (data.trim() === '[DONE]') {
      done = true;
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      problem = nonsense(label, 'something that is not JSON', data);
      return;
    }
    const piece = replyPieceSchema.safeParse(value);
    if (piece.success && !hasError(value)) {
      builder.add(piece.data);
      return;
    }
    const said = errorText(value);
    problem =
      said === undefined
        ? nonsense(label, 'JSON that is no chat completion', data)
        : { kind: 'refused', status: statusIn(value), said: saidBy(data) };
  };

  const parser = createParser({ onEvent: (event) => take(event.data) });
  let head = '';
  let form: 'events' | 'whole' | undefined;
  const whole: string[] = [];
  let length = 0;
  for await (const text of http.text) {
    length += text.length;
    if (length > MAX_CHARS) {
      problem = {
        kind: 'trouble',
        trouble: trouble('bad-response', `The reply of ${label} does not end.`, SEE_LOG, false),
      };
      break;
    }
    if (form === undefined) {
      head += text;
      const first = head.replace(/^\ufeff?\s+/, '')[0];
      if (first === undefined) continue;
      form = first === '{' || first === '[' || first === '<' ? 'whole' : 'events';
      if (form === 'whole') whole.push(head);
      else parser.feed(head.trimStart());
    } else if (form === 'whole') whole.push(text);
    else parser.feed(text);
    if (problem !== undefined || done) break;
  }
  if (form === 'events') parser.reset({ consume: true });

  const body = whole.join('').trim();
  if (form === 'whole') take(body);
  if (problem !== undefined) return problem;
  const reply = builder.result();
  if (form === undefined) {
    return {
      kind: 'trouble',
      trouble: trouble('bad-response', `${label} sent an empty reply.`, SEE_LOG, true),
    };
  }
  if (form === 'events' && !done && reply.finishReason === undefined) {
    return {
      kind: 'trouble',
      trouble: reply.choiceSeen
        ? trouble('unreachable', `The reply of ${label} was cut off in the middle.`, SEE_LOG, true)
        : trouble(
            'bad-response',
            `${label} sent no event of a chat completion.`,
            WRONG_PLACE,
            false,
          ),
    };
  }
  if (!reply.choiceSeen) {
    return {
      kind: 'trouble',
      trouble: trouble(
        'bad-response',
        `The reply of ${label} holds no choice.`,
        'See the log of the server; the model may have failed to load.',
        true,
      ),
    };
  }
  return { kind: 'reply', reply };
}

/** Far above any reply: token ids and log-probabilities included. */
const MAX_CHARS = 256_000_000;

const SEE_LOG = 'See the log of the server: it may have crashed or run out of memory.';
const WRONG_PLACE =
  'Check the address: it must lead to an OpenAI-compatible server and usually ends in /v1.';

function nonsense(
  label: string,
  what: string,
  data: string,
): Extract<ReadReply, { kind: 'trouble' }> {
  const said = saidBy(data);
  const page = data.trimStart().startsWith('<');
  const message = page
    ? `${label} answered with ${said}.`
    : `${label} answered with ${what}: ${said.slice(0, 200)}`;
  return { kind: 'trouble', trouble: trouble('bad-response', message, WRONG_PLACE, false) };
}

function hasError(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'error' in value && Boolean(value.error);
}

function statusIn(value: unknown): number {
  const { error, code } = value as { error?: { code?: unknown }; code?: unknown };
  const found = error?.code ?? code;
  return typeof found === 'number' && found >= 400 && found < 600 ? found : 500;
}
