import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { replyIds } from '../../src/core/policies/onnx/chat-format.ts';
import { foldedMessages } from '../../src/core/policies/onnx/replies/decision.ts';
import {
  createNextCalls,
  type Exchange,
  type NextCallsOptions,
} from '../../src/core/policies/onnx/replies/next-calls.ts';
import { choicesOf, createReplyTree } from '../../src/core/policies/onnx/replies/reply-set.ts';
import {
  createPolicyTokenizer,
  type PolicyTokenizer,
  rememberingTokenizer,
} from '../../src/core/policies/onnx/tokenizer.ts';
import type { TokenChoice } from '../../src/core/policies/policy.ts';
import { WORKSPACE } from '../../src/core/sandbox/sandbox.ts';
import type { Conversation } from '../../src/core/tasks/demonstrations/demonstrate.ts';
import { createChance } from '../../src/core/tasks/random.ts';

export interface DecisionCounts {
  made: number;
  /** The edit is none of the known ones (odd tokens, edits of several places). */
  notInSet: number;
  tooLong: number;
}

/**
 * Of conversations, the one choice that counts: which edit, after the files were read. Each becomes a
 * conversation of its own with the set that it was chosen from (docs/learner.md, "Replies from a set").
 */
export async function makeDecisions(
  conversations: readonly string[],
  file: string,
  plain: PolicyTokenizer,
  options: NextCallsOptions & { readonly mostTokens: number },
): Promise<DecisionCounts> {
  const tokenizer = rememberingTokenizer(plain);
  const counts: DecisionCounts = { made: 0, notInSet: 0, tooLong: 0 };
  const out = createWriteStream(`${file}.partial`);
  for (const path of conversations) {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const decision = decisionOf(JSON.parse(line) as Conversation, tokenizer, options);
      if (decision === undefined) counts.notInSet += 1;
      else if (decision.tokens > options.mostTokens) counts.tooLong += 1;
      else {
        counts.made += 1;
        if (!out.write(`${JSON.stringify(decision.conversation)}\n`)) await once(out, 'drain');
      }
    }
  }
  out.end();
  await once(out, 'close');
  await rename(`${file}.partial`, file);
  return counts;
}

/** @param folder as `train-tokenizer` of the learner writes it */
export async function readTokenizer(folder: string): Promise<PolicyTokenizer> {
  const read = async (name: string): Promise<object> =>
    JSON.parse(await readFile(join(folder, name), 'utf8'));
  return createPolicyTokenizer(await read('tokenizer.json'), await read('tokenizer_config.json'));
}

interface MadeDecision {
  readonly conversation: object;
  /** Of the reply and of all that comes before, roughly. */
  readonly tokens: number;
}

export function decisionOf(
  { id, messages }: Conversation,
  tokenizer: PolicyTokenizer,
  options: NextCallsOptions,
): MadeDecision | undefined {
  const first = messages[0]?.content ?? '';
  const exchanges: Exchange[] = [];
  const texts = new Map<string, string>();
  for (let at = 1; at + 1 < messages.length; at += 2) {
    const [message, answer] = [messages[at], messages[at + 1]];
    const call = message?.role === 'assistant' ? message.calls[0] : undefined;
    if (message?.role !== 'assistant' || call?.name !== 'bash') break;
    if (!message.train) continue;
    exchanges.push({ call, observation: answer?.content ?? '' });
    const path = String(call.arguments.command).slice('cat '.length);
    texts.set(`${WORKSPACE}/${path}`, answer?.content ?? '');
  }
  const rights = new Set(
    messages.flatMap((message) => {
      if (message.role !== 'assistant' || !message.train) return [];
      const result = resultOf(message.calls[0]?.arguments ?? {}, texts);
      return result === undefined ? [] : [result];
    }),
  );
  const calls = createNextCalls(first, options)(exchanges);
  const fitting = calls.filter(({ call }) => {
    const result = resultOf(call.arguments, texts);
    return result !== undefined && rights.has(result);
  });
  // A piece of code with several bugs has several right edits: one of them.
  const [right] = createChance('decision', id).shuffle(fitting);
  if (right === undefined || calls.length < 2) return undefined;
  const tree = createReplyTree(
    calls.map(({ call, weight }) => ({ ids: replyIds(tokenizer, call), weight })),
  );
  const reply = replyIds(tokenizer, right.call);
  const choices = choicesOf(tree, reply);
  if (choices === undefined) return undefined;
  const before = foldedMessages(first, exchanges);
  const size = before.reduce((sum, { content }) => sum + tokenizer.encodeText(content).length, 60);
  return {
    tokens: size + reply.length,
    conversation: {
      id,
      messages: [
        ...before.map((message) =>
          message.role === 'assistant' ? { ...message, train: false } : message,
        ),
        {
          role: 'assistant',
          content: '',
          calls: [right.call],
          train: true,
          choices: choices.map(shortened),
        },
      ],
    },
  };
}

/** The file and its text after an edit; undefined: no edit, or of a text that is not known. */
function resultOf(
  { command, path, old_str: oldText, new_str: newText }: Readonly<Record<string, unknown>>,
  texts: ReadonlyMap<string, string>,
): string | undefined {
  const text = texts.get(String(path));
  if (command !== 'str_replace' || text === undefined || !text.includes(String(oldText))) return;
  return `${String(path)}\n${text.replace(String(oldText), () => String(newText))}`;
}

/** Of a file of many: digits that no single-precision sum can tell from more. */
function shortened({ at, ids, bias }: TokenChoice): TokenChoice {
  return { at, ids, bias: bias.map((value) => Number(value.toPrecision(7))) };
}
