import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLearnt } from '../../src/core/policies/edit-search/learnt.ts';
import { offeredEdit, openTries } from '../../src/core/policies/edit-search/open-tries.ts';
import { rankCandidates } from '../../src/core/policies/edit-search/rank.ts';
import type { EditChoice, OfferedEdit } from '../../src/core/policies/edit-search/steps.ts';
import { replyIds } from '../../src/core/policies/onnx/chat-format.ts';
import {
  choiceMessages,
  type DecisionOptions,
  editCall,
} from '../../src/core/policies/onnx/replies/decision.ts';
import { choicesOf, createReplyTree } from '../../src/core/policies/onnx/replies/reply-set.ts';
import {
  createPolicyTokenizer,
  type PolicyTokenizer,
  rememberingTokenizer,
} from '../../src/core/policies/onnx/tokenizer.ts';
import type { TokenChoice } from '../../src/core/policies/policy.ts';
import { WORKSPACE } from '../../src/core/sandbox/sandbox.ts';
import type { Conversation } from '../../src/core/tasks/demonstrations/demonstrate.ts';
import { languageOf } from '../../src/core/tasks/operators/edit.ts';
import { outlineOf } from '../../src/core/tasks/operators/functions.ts';
import { createChance } from '../../src/core/tasks/random.ts';
import { operatorKind } from '../../src/core/tasks/split.ts';

/** A choice of an edit, and which ones are right. */
export interface Decision extends EditChoice {
  readonly id: string;
  /** Of the user, before the files. */
  readonly firstMessage: string;
  /** Files with everything put right, or with one more thing put right, by path. */
  readonly right: readonly ReadonlyMap<string, string>[];
}

export interface RowOptions extends DecisionOptions {
  /** Kinds of operators (`operatorKind`) that are not offered: those that training may not see. */
  readonly leaveOut: ReadonlySet<string>;
  readonly mostTokens: number;
}

export interface DecisionCounts {
  made: number;
  /** The edit is none of the known ones (odd tokens, edits of several places). */
  notInSet: number;
  tooLong: number;
  notUtf8: number;
}

/**
 * Each choice becomes a conversation of its own with the set that it was chosen from (docs/learner.md,
 * "Replies from a set").
 */
export async function writeDecisions(
  decisions: AsyncIterable<Decision>,
  file: string,
  plain: PolicyTokenizer,
  options: RowOptions,
): Promise<DecisionCounts> {
  const tokenizer = rememberingTokenizer(plain);
  const counts: DecisionCounts = { made: 0, notInSet: 0, tooLong: 0, notUtf8: 0 };
  const out = createWriteStream(`${file}.partial`);
  for await (const decision of decisions) {
    const row = rowOf(decision, tokenizer, options);
    if (row === undefined) counts.notInSet += 1;
    else if (row.tokens > options.mostTokens) counts.tooLong += 1;
    else {
      const line = JSON.stringify(row.conversation);
      // Half a character, as code under test may give it, is no UTF-8: JSON.stringify escapes it.
      if (HALF_CHARACTER.test(line)) {
        counts.notUtf8 += 1;
        continue;
      }
      counts.made += 1;
      if (!out.write(`${line}\n`)) await once(out, 'drain');
    }
  }
  out.end();
  await once(out, 'close');
  await rename(`${file}.partial`, file);
  return counts;
}

/** A lone surrogate in JSON: behind a backslash that is not itself escaped. */
const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** @param folder as `train-tokenizer` of the learner writes it */
export async function readTokenizer(folder: string): Promise<PolicyTokenizer> {
  const read = async (name: string): Promise<object> =>
    JSON.parse(await readFile(join(folder, name), 'utf8'));
  return createPolicyTokenizer(await read('tokenizer.json'), await read('tokenizer_config.json'));
}

interface Row {
  readonly conversation: object;
  /** Of the reply and of all that comes before, roughly. */
  readonly tokens: number;
}

export function rowOf(
  { id, firstMessage, texts, edits, right }: Decision,
  tokenizer: PolicyTokenizer,
  { leaveOut, priorPower, mostEdits }: RowOptions,
): Row | undefined {
  const offered = edits
    .filter(({ operator }) => !leaveOut.has(operatorKind(operator)))
    .slice(0, mostEdits);
  // A piece of code with several bugs has several right edits: one of them.
  const [chosen] = createChance('decision', id).shuffle(
    offered.filter((edit) => isRight(edit, texts, right)),
  );
  if (chosen === undefined || offered.length < 2) return undefined;
  const ids = (edit: OfferedEdit) => replyIds(tokenizer, editCall(edit));
  const tree = createReplyTree(
    offered.map((edit) => ({ ids: ids(edit), weight: edit.score ** priorPower })),
  );
  const reply = ids(chosen);
  const choices = choicesOf(tree, reply);
  if (choices === undefined) return undefined;
  const before = choiceMessages(firstMessage, texts);
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
          calls: [editCall(chosen)],
          train: true,
          choices: choices.map(shortened),
        },
      ],
    },
  };
}

export function isRight(
  { path, oldText, newText }: OfferedEdit,
  texts: EditChoice['texts'],
  right: Decision['right'],
): boolean {
  const result = (texts.get(path) ?? '').replace(oldText, () => newText);
  return right.some((files) => files.get(path) === result);
}

/** Of a file of many: digits that no single-precision sum can tell from more. */
function shortened({ at, ids, bias }: TokenChoice): TokenChoice {
  return { at, ids, bias: bias.map((value) => Number(value.toPrecision(7))) };
}

/** The choices of a file of repairs, which no test knows: weights are those of the operators alone. */
export async function* decisionsOfRepairs(file: string): AsyncGenerator<Decision> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const decision = decisionOfRepair(JSON.parse(line) as Conversation);
    if (decision !== undefined) yield decision;
  }
}

export function decisionOfRepair({ id, messages }: Conversation): Decision | undefined {
  const [user, look, listing] = messages;
  const call = look?.role === 'assistant' ? look.calls[0] : undefined;
  const path = String(call?.arguments.command ?? '').replace(/^cat /, '');
  const language = languageOf(path);
  const text = listing?.content;
  if (user === undefined || text === undefined || language === undefined) return undefined;
  const right = messages.flatMap((message) => {
    const args = message.role === 'assistant' ? message.calls[0]?.arguments : undefined;
    const { path: edited, old_str: oldText, new_str: newText } = args ?? {};
    if (edited !== `${WORKSPACE}/${path}` || !text.includes(String(oldText))) return [];
    return [new Map([[path, text.replace(String(oldText), () => String(newText))]])];
  });
  const outline = outlineOf(text, language);
  const ranked = rankCandidates({
    subjects: [{ path, text, language, outline, depth: 1, editable: true }],
    failures: [],
    hints: new Map(),
    trace: undefined,
    random: undefined,
  });
  const texts = new Map([[path, text]]);
  const learnt = createLearnt();
  const tries = openTries(ranked, texts, learnt).best(Number.POSITIVE_INFINITY);
  const edits = tries.map((one) => offeredEdit(one, learnt));
  return { id, firstMessage: user.content, texts, edits, right };
}
