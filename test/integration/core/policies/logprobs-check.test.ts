import { afterEach, expect, test } from 'vitest';
import { checkLogprobs } from '../../../../src/core/policies/openai/logprobs-check.ts';
import { type ChatServer, delta, STOP, startChatServer, stream } from './chat-server.ts';

const servers: ChatServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Samples the likelier of two tokens; `gap` is the difference of their logits. */
async function check(gap: number, report: 'processed' | 'raw' | 'none') {
  const server = await startChatServer((asked, response) => {
    const scale = report === 'processed' ? Number(asked.body.temperature) : 1;
    const logprob = -Math.log1p(Math.exp(-gap / scale));
    const more = { token_ids: [5], logprobs: { content: [{ logprob }] } };
    stream(response, { prompt_token_ids: [1], ...delta('a', report === 'none' ? {} : more) }, STOP);
  });
  servers.push(server);
  return checkLogprobs({ baseUrl: server.baseUrl }, new AbortController().signal);
}

test('values that follow the temperature are processed', async () => {
  expect(await check(0.2, 'processed')).toMatchObject({ kind: 'processed' });
});

test('values that do not are raw, with the remedy', async () => {
  expect(await check(0.2, 'raw')).toEqual({
    kind: 'raw',
    detail: expect.stringContaining('--logprobs-mode processed_logprobs'),
  });
});

test('a model that is always sure leaves it open', async () => {
  expect(await check(20, 'raw')).toMatchObject({ kind: 'cannot-tell' });
});

test('no values leave it open, with the reason', async () => {
  expect(await check(1, 'none')).toEqual({
    kind: 'cannot-tell',
    detail: 'No log-probabilities: the endpoint sent no log-probabilities.',
  });
});
