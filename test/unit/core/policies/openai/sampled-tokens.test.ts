import { describe, expect, test } from 'vitest';
import { readSampledTokens } from '../../../../../src/core/policies/openai/sampled-tokens.ts';

const content = (...items: object[]) => [{ content: items }];

describe('token ids and log-probabilities', () => {
  test.each([
    [
      'vLLM',
      {
        promptIds: [1],
        ids: [undefined, [5], null, [6]],
        logprobs: [...content({ logprob: -1 }), ...content({ logprob: -2 })],
      },
    ],
    [
      'vLLM, ids as token names',
      {
        promptIds: [1],
        ids: [],
        logprobs: content(
          { logprob: -1, token: 'token_id:5' },
          { logprob: -2, token: 'token_id:6' },
        ),
      },
    ],
    [
      'llama.cpp',
      {
        promptIds: [1],
        ids: [],
        logprobs: content({ logprob: -1, id: 5, token: 'a' }, { logprob: -2, id: 6 }),
      },
    ],
    [
      'the older form',
      {
        promptIds: [1],
        ids: [],
        logprobs: [{ tokens: ['a', 'b'], token_logprobs: [-1, -2], token_ids: [5, 6] }],
      },
    ],
  ])('in the form of %s', (_, pieces) => {
    expect(readSampledTokens(pieces, 2)).toEqual({
      kind: 'tokens',
      tokens: { promptIds: [1], sampledIds: [5, 6], logprobs: [-1, -2] },
    });
  });

  const good = { promptIds: [1], ids: [[5]], logprobs: content({ logprob: -1 }) };
  test.each([
    [{ ...good, logprobs: [] }, 1, 'the endpoint sent no log-probabilities'],
    [{ ...good, logprobs: ['?'] }, 1, 'the endpoint sent log-probabilities in an unknown form'],
    [{ ...good, ids: [] }, 1, 'the endpoint sent no ids of the sampled tokens'],
    [{ ...good, ids: [['5']] }, 1, 'the endpoint sent token ids that are not whole numbers'],
    [{ ...good, ids: [[5, 6]] }, 2, 'the endpoint sent 2 token ids but 1 log-probabilities'],
    [good, 3, 'the endpoint counted 3 sampled tokens but sent 1 ids'],
    [{ ...good, promptIds: undefined }, 1, 'the endpoint sent no ids of the prompt tokens'],
    [{ ...good, promptIds: [] }, 1, 'the endpoint sent no ids of the prompt tokens'],
    [
      { ...good, logprobs: content({ logprob: 0.5 }) },
      1,
      'log-probability 1 of 1 is 0.5, which no sampled token can have',
    ],
    [
      { ...good, logprobs: content({ logprob: -9999 }) },
      1,
      'log-probability 1 of 1 is -9999, which no sampled token can have',
    ],
    [
      { ...good, logprobs: [{ token_logprobs: [null] }] },
      1,
      'log-probability 1 of 1 is NaN, which no sampled token can have',
    ],
  ])('%j is not recorded', (pieces, counted, reason) => {
    expect(readSampledTokens(pieces, counted)).toEqual({ kind: 'missing', reason });
  });
});
