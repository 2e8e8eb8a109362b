import { expect, test } from 'vitest';
import type { Message } from '../../../../../../src/core/agent/messages.ts';
import { createEditSearchPolicy } from '../../../../../../src/core/policies/edit-search/edit-search.ts';
import {
  choicePrompt,
  createDecisions,
  type Decision,
} from '../../../../../../src/core/policies/onnx/replies/decision.ts';
import { BEGIN, continued, SOURCE } from '../../../../../support/total-workspace.ts';
import { goldenTokenizer } from '../golden.ts';

const tokenizer = goldenTokenizer();
const ROOM = 4_096;

/** Turns of an attempt; of each choice the heaviest reply is taken. */
function play(
  priorPower: number,
  turns: number,
  { byScores, networkGave = 0 }: { readonly byScores?: number; readonly networkGave?: number } = {},
): readonly Decision[] {
  const options = { priorPower, mostEdits: 400, ...(byScores && { byScores }) };
  const decide = createDecisions(tokenizer, options, ROOM);
  const decisions: Decision[] = [];
  let messages: readonly Message[] = BEGIN;
  for (let turn = 0; turn < turns; turn += 1) {
    const decision = decide(messages);
    decisions.push(decision);
    if (decision.kind === 'choice') decision.take(0, Math.log(networkGave));
    messages = continued(messages, replyOf(decision));
  }
  return decisions;
}

function replyOf(decision: Decision) {
  const calls =
    decision.kind === 'follows'
      ? decision.calls.map((call, at) => ({ id: `call-${at}`, ...call }))
      : [{ id: 'edit', name: 'str_replace_editor', arguments: { command: 'str_replace' } }];
  return { content: '', calls, callForm: 'nano', malformed: [], finish: 'stop', usage } as const;
}
const usage = { promptTokens: 0, completionTokens: 0 };

test('it looks, runs and concludes as edit-search does; only which edit is tried is a choice', async () => {
  const session = await createEditSearchPolicy({ batch: 1 }).start(0);
  let messages: readonly Message[] = BEGIN;
  const turns: string[][] = [];
  for (let turn = 0; turn < 9; turn += 1) {
    const reply = await session.next({
      messages,
      tools: [],
      maxTokens: 100,
      signal: new AbortController().signal,
    });
    turns.push(reply.calls.map(({ name, arguments: args }) => JSON.stringify([name, args])));
    messages = continued(messages, reply);
  }
  const decisions = play(1, 14);
  // What is tried first is what edit-search would try.
  const joined: string[][] = [];
  let edit: string[] = [];
  for (const decision of decisions) {
    if (decision.kind === 'choice') {
      edit = [tokenizer.decode(decision.replies[0]?.ids ?? [])];
      continue;
    }
    const calls = decision.calls.map(({ name, arguments: args }) => JSON.stringify([name, args]));
    joined.push([...edit, ...calls]);
    edit = [];
  }
  expect(joined.map((calls) => calls.at(-1))).toEqual(
    turns.slice(0, joined.length).map((calls) => calls.at(-1)),
  );
  for (const [at, calls] of joined.entries()) {
    if (calls[0]?.startsWith('[')) continue;
    const [, args] = JSON.parse(turns[at]?.[0] ?? '[]') as [string, { new_str: string }];
    expect(calls[0]).toContain(args.new_str);
  }
});

test('weights are the scores of edit-search to a power, and edits that were tried do not come back', () => {
  const choices = (power: number) =>
    play(power, 12).flatMap((decision) => (decision.kind === 'choice' ? [decision] : []));
  const [first, second] = choices(2);
  const [plain] = choices(1);
  const [flat] = choices(0);
  expect(first?.replies.length).toBeGreaterThan(10);
  expect(second?.replies.length).toBe((first?.replies.length ?? 0) - 1);
  const weights = (decision: typeof first) => decision?.replies.map(({ weight }) => weight) ?? [];
  expect(weights(first)).toEqual(weights(plain).map((weight) => weight ** 2));
  expect(new Set(weights(flat))).toEqual(new Set([1]));
  expect(weights(plain)).toEqual([...weights(plain)].sort((a, b) => b - a));
  expect(second?.promptIds).toEqual(first?.promptIds);
});

test('the scores are trusted as little as the policy says, and more when the network was sure of what did not help', () => {
  const trusted = (networkGave: number, byScores?: number) =>
    play(1, 12, { networkGave, ...(byScores && { byScores }) }).flatMap((decision) =>
      decision.kind === 'choice' ? [decision.byWeights] : [],
    );
  expect(trusted(0.9)).toEqual(trusted(0.9).map(() => 0));
  const [first, second] = trusted(0.9, 0.3);
  expect(first).toBe(0.3);
  expect(second).toBeGreaterThan(0.7);
  expect(trusted(0, 0.3)[1]).toBeLessThan(0.3);
});

test('as many files are read as fit, nearest first', () => {
  const texts = new Map([
    ['src/total.js', SOURCE],
    ['src/large.js', `${SOURCE}\n`.repeat(200)],
    ['src/other.js', SOURCE],
  ]);
  const read = (room: number) => tokenizer.decode(choicePrompt(tokenizer, 'Fix it.', texts, room));
  expect(read(20_000)).toContain('cat src/large.js');
  const short = read(200);
  expect(short).toContain('cat src/total.js');
  expect(short).toContain('cat src/other.js');
  expect(short).not.toContain('cat src/large.js');
  expect(read(30)).not.toContain('cat');
});

test('a first message that is too long is cut at its end', () => {
  const long = `Make it pass.\n${'assert.equal(total(1, 2), 3);\n'.repeat(300)}`;
  const prompt = choicePrompt(tokenizer, long, new Map([['src/total.js', SOURCE]]), 300);
  expect(prompt.length).toBeLessThanOrEqual(300);
  expect(prompt.length).toBeGreaterThan(200);
  expect(tokenizer.decode(prompt)).toContain('Make it pass.\nassert.equal(');
});
