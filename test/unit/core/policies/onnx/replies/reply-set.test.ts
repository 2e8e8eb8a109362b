import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  choiceAt,
  choicesOf,
  createReplyTree,
} from '../../../../../../src/core/policies/onnx/replies/reply-set.ts';
import { drawReply } from '../../../../../../src/core/policies/onnx/worker/drawn-reply.ts';
import type {
  AskNetwork,
  FoundReply,
} from '../../../../../../src/core/policies/onnx/worker/likeliest-reply.ts';
import { uniform } from '../../../../../../src/core/policies/onnx/worker/random.ts';
import { sampleChoice } from '../../../../../../src/core/policies/onnx/worker/sample.ts';
import { goldenFormat } from '../golden.ts';
import { replySets, STOP } from './reply-sets.ts';

const three = [
  { ids: [5, 7, STOP], weight: 1 },
  { ids: [5, 8, STOP], weight: 3 },
  { ids: [6, STOP], weight: 4 },
];

test('a choice stands where more than one token goes on, with the logarithms of the shares', () => {
  const tree = createReplyTree(three);
  expect(choicesOf(tree, [5, 8, STOP])).toEqual([
    { at: 0, ids: [5, 6], bias: [Math.log(0.5), Math.log(0.5)] },
    { at: 1, ids: [7, 8], bias: [Math.log(0.25), Math.log(0.75)] },
  ]);
  expect(choicesOf(tree, [6, STOP])).toHaveLength(1);
});

test('what is not in the set has no choices', () => {
  const tree = createReplyTree(three);
  expect(choicesOf(tree, [5, 9, STOP])).toBeUndefined();
  expect(choicesOf(tree, [5, 7])).toBeUndefined();
  expect(choicesOf(tree, [6, STOP, STOP])).toBeUndefined();
});

test('the same reply twice counts with both weights', () => {
  const tree = createReplyTree([...three, { ids: [6, STOP], weight: 4 }]);
  expect(choiceAt(tree, 0)?.bias).toEqual([Math.log(4 / 12), Math.log(8 / 12)]);
});

test.each([
  ['nothing', [], 'there is no reply to choose from'],
  ['a weight of 0', [{ ids: [1], weight: 0 }], 'a reply of 1 tokens cannot have the weight 0'],
  ['no weight', [{ ids: [1], weight: Number.NaN }], 'cannot have the weight NaN'],
  ['no tokens', [{ ids: [], weight: 1 }], 'a reply of 0 tokens cannot have the weight 1'],
  [
    'a reply that goes on in another',
    [
      { ids: [1], weight: 1 },
      { ids: [1, 2], weight: 1 },
    ],
    'one reply is the beginning of another one',
  ],
  [
    'a reply that goes on in one before',
    [
      { ids: [1, 2], weight: 1 },
      { ids: [1], weight: 1 },
    ],
    'one reply is the beginning of another one',
  ],
])('refuses %s', (_, replies, reason) => {
  expect(() => createReplyTree(replies)).toThrow(reason);
});

const sets = replySets({ minLength: 2, maxLength: 12 });

test('a network that knows nothing draws each reply in proportion to its weight', () => {
  fc.assert(
    fc.property(sets, (replies) => {
      const tree = createReplyTree(replies);
      const total = replies.reduce((sum, { weight }) => sum + weight, 0);
      for (const { ids, weight } of replies) {
        let logprob = 0;
        for (const { at, ids: allowed, bias } of choicesOf(tree, ids) ?? []) {
          logprob += bias[allowed.indexOf(ids[at] ?? -1)] ?? Number.NaN;
        }
        expect(Math.exp(logprob)).toBeCloseTo(weight / total, 9);
      }
    }),
  );
});

/** Draws a reply; the network says the same at every place. Also how often it was asked. */
async function draw(logits: readonly number[], seed: number, drawn?: readonly number[]) {
  const asked: string[] = [];
  const ask: AskNetwork = async (beginning, wanted) => {
    asked.push(beginning.join());
    return new Map(wanted.map((id) => [id, logits[id] ?? Number.NaN]));
  };
  const steps = drawReply(createReplyTree(three), ask, {
    temperature: 1,
    chanceAt: (place) => uniform(seed, place),
    drawn,
  });
  let found: FoundReply | undefined;
  while (found === undefined) found = await steps.step();
  return { ...found, asked };
}

const LOGITS = [9, 9, 9, 9, 9, 1, 0, 0, 2];

test('draws go down the tree with the probabilities that they tell', async () => {
  const counts = new Map<string, number>();
  const told = new Map<string, number>();
  const draws = 20_000;
  for (let seed = 0; seed < draws; seed += 1) {
    const { ids, logprobs, networkLogprob } = await draw(LOGITS, seed);
    expect(logprobs.reduce((sum, one) => sum + one, 0)).toBeCloseTo(networkLogprob, 9);
    counts.set(ids.join(), (counts.get(ids.join()) ?? 0) + 1);
    told.set(ids.join(), Math.exp(networkLogprob));
  }
  expect([...told.values()].reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
  for (const [reply, p] of told) {
    expect((counts.get(reply) ?? 0) / draws).toBeCloseTo(p, 1);
  }
  // 5 or 6 by e : 1; then 7 or 8 by 1/4 : 3/4 · e².
  const p5 = Math.E / (Math.E + 1);
  const p8 = (0.75 * Math.E ** 2) / (0.25 + 0.75 * Math.E ** 2);
  expect(told.get(`5,8,${STOP}`)).toBeCloseTo(p5 * p8, 5);
});

test('the network is asked where something can be chosen, and told apart where the weights have drawn', async () => {
  const [longer, shorter] = [three[0]?.ids ?? [], three[2]?.ids ?? []];
  expect(await draw(LOGITS, 1, longer)).toMatchObject({ ids: longer, asked: ['', '5'] });
  const { ids, asked, logprobs } = await draw(LOGITS, 1, shorter);
  expect({ ids, asked }).toEqual({ ids: shorter, asked: [''] });
  expect(logprobs).toEqual([expect.closeTo(Math.log(1 / (Math.E + 1)), 5), 0]);
});

test('at temperature 0 the likeliest token of the choice comes', () => {
  const logits = Float32Array.of(1, 0.9);
  const choice = { ids: [1, 2], bias: [Math.log(0.4), Math.log(0.6)] };
  expect(sampleChoice(logits, choice, { temperature: 0 }, 0.1)).toEqual({ id: 2, logprob: 0 });
});

test.each(goldenFormat().reply_sets)('as the learner reads a set: $name', (golden) => {
  const tree = createReplyTree(
    golden.replies.map((ids, at) => ({ ids, weight: golden.weights[at] ?? 0 })),
  );
  const told = golden.messages.at(-1)?.choices ?? [];
  const choices = choicesOf(tree, golden.replies[golden.drawn] ?? []) ?? [];
  const rounded = (list: typeof told) =>
    list.map(({ at, ids, bias }) => ({
      at,
      // The order within a choice means nothing.
      tokens: new Map(
        ids.map((id, index) => [id, bias[index]?.toFixed(6)] as const).sort(([a], [b]) => a - b),
      ),
    }));
  expect(rounded(choices)).toEqual(rounded(told));
});
