import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  choiceAt,
  choicesOf,
  createReplyTree,
  type WeightedReply,
} from '../../../../../src/core/policies/onnx/replies/reply-set.ts';
import {
  type AskNetwork,
  type FoundReply,
  searchLikeliest,
} from '../../../../../src/core/policies/onnx/worker/likeliest-reply.ts';
import { replySets, STOP } from './replies/reply-sets.ts';

/** Logits that depend on the beginning, between -spread and spread. */
function logitOf(beginning: readonly number[], id: number, spread: number): number {
  let hash = 17;
  for (const part of [...beginning, id]) hash = (hash * 31 + part * 7919) % 65_521;
  return ((hash / 65_521) * 2 - 1) * spread;
}

async function search(replies: readonly WeightedReply[], spread: number, byWeights = 0) {
  const asked: string[] = [];
  const ask: AskNetwork = async (beginning, wanted) => {
    asked.push(beginning.join());
    return new Map(wanted.map((id) => [id, logitOf(beginning, id, spread)]));
  };
  const steps = searchLikeliest(createReplyTree(replies), ask, byWeights);
  let found: FoundReply | undefined;
  while (found === undefined) found = await steps.step();
  return { ids: found.ids, networkLogprob: found.networkLogprob, asked };
}

/** What drawing down the tree gives a reply (reply-set.ts). */
function logprobOf(replies: readonly WeightedReply[], reply: readonly number[], spread: number) {
  let sum = 0;
  for (const { at, ids, bias } of choicesOf(createReplyTree(replies), reply) ?? []) {
    const scores = ids.map((id, k) => logitOf(reply.slice(0, at), id, spread) + (bias[k] ?? 0));
    const total = Math.log(scores.reduce((all, score) => all + Math.exp(score), 0));
    sum += (scores[ids.indexOf(reply[at] ?? -1)] ?? Number.NaN) - total;
  }
  return sum;
}

const sets = replySets({ minLength: 1, maxLength: 20 });

test('no reply of the set is more probable than the one that is found', async () => {
  await fc.assert(
    fc.asyncProperty(sets, fc.constantFrom(0, 1, 6), async (replies, spread) => {
      const { ids, asked } = await search(replies, spread);
      const best = Math.max(...replies.map((reply) => logprobOf(replies, reply.ids, spread)));
      expect(logprobOf(replies, ids, spread)).toBeGreaterThan(best - 1e-5);
      expect(new Set(asked).size).toBe(asked.length);
    }),
  );
});

test('a share of the draws by the weights counts as what it is, and the network is told apart', async () => {
  await fc.assert(
    fc.asyncProperty(
      sets,
      fc.constantFrom(0, 1, 6, 60),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (replies, spread, byWeights) => {
        const total = replies.reduce((sum, { weight }) => sum + weight, 0);
        const mixed = (reply: WeightedReply) =>
          (1 - byWeights) * Math.exp(logprobOf(replies, reply.ids, spread)) +
          (byWeights * reply.weight) / total;
        const { ids, networkLogprob, asked } = await search(replies, spread, byWeights);
        const found = replies.find((reply) => reply.ids.join() === ids.join());
        expect(found && mixed(found)).toBeGreaterThan(Math.max(...replies.map(mixed)) * 0.99999);
        expect(networkLogprob).toBeCloseTo(logprobOf(replies, ids, spread), 8);
        expect(new Set(asked).size).toBe(asked.length);
      },
    ),
  );
});

test('a line with many unlikely edits does not win over the one with the likely edit', async () => {
  const many = Array.from({ length: 6 }, (_, at) => ({ ids: [5, 10 + at, STOP], weight: 2 }));
  const replies = [...many, { ids: [6, STOP], weight: 5 }];
  // Token by token it would.
  expect(choiceAt(createReplyTree(replies), 0)?.bias).toEqual([
    Math.log(12 / 17),
    Math.log(5 / 17),
  ]);
  const { ids, asked } = await search(replies, 0);
  expect(ids).toEqual([6, STOP]);
  expect(asked).toEqual(['', '5']);
});

test('of replies that are equally probable the first one of the set is taken', async () => {
  const all = [
    [7, 4, STOP],
    [3, 9, STOP],
    [7, 8, STOP],
    [3, 5, STOP],
    [4, STOP],
  ].map((ids) => ({ ids, weight: 1 / 3 }));
  for (let turn = 0; turn < all.length; turn += 1) {
    const replies = [...all.slice(turn), ...all.slice(0, turn)];
    expect((await search(replies, 0)).ids).toEqual(replies[0]?.ids);
  }
});

test('what cannot matter is not asked: a beginning that is less probable than the reply', async () => {
  const replies = [
    { ids: [3, STOP], weight: 90 },
    { ids: [4, 7, STOP], weight: 1 },
    { ids: [4, 8, STOP], weight: 1 },
  ];
  expect((await search(replies, 0)).asked).toEqual(['']);
});

test('a set of one reply is taken without asking', async () => {
  expect(await search([{ ids: [9, 8, STOP], weight: 3 }], 1)).toEqual({
    ids: [9, 8, STOP],
    networkLogprob: 0,
    asked: [],
  });
});

test('a network that gives no number is an error, not a reply', async () => {
  const tree = createReplyTree([
    { ids: [3, STOP], weight: 1 },
    { ids: [4, STOP], weight: 1 },
  ]);
  const broken = searchLikeliest(tree, async () => new Map([[3, Number.NaN]]));
  expect(await broken.step()).toBeUndefined();
  await expect(broken.step()).rejects.toThrow('the network gave no number for a token');
});
