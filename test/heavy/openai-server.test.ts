import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOpenAiPolicy } from '../../src/core/policies/openai/openai.ts';
import type { PolicyRequest } from '../../src/core/policies/policy.ts';

/** A server that others wrote, with a real tokenizer, chat template and sampling. */
let server: ChildProcess;
let baseUrl = '';
let model = '';

beforeAll(async () => {
  const script = fileURLToPath(new URL('./tiny-openai-server.mjs', import.meta.url));
  server = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let line = '';
  for await (const part of server.stdout ?? []) {
    line += String(part);
    if (line.includes('\n')) break;
  }
  if (line === '') throw new Error('the server did not start; see its output above');
  ({ baseUrl, model } = JSON.parse(line) as { baseUrl: string; model: string });
});

afterAll(async () => {
  if (server.exitCode === null) {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
});

function request(maxTokens: number, more: Partial<PolicyRequest> = {}): PolicyRequest {
  return {
    messages: [
      { role: 'system', content: 'You fix failing tests.' },
      { role: 'user', content: 'Fix test_total. ✓ Zażółć' },
    ],
    tools: [
      {
        name: 'bash',
        description: 'Runs a command.',
        parameters: { type: 'object', properties: { command: { type: 'string' } } },
      },
    ],
    maxTokens,
    signal: new AbortController().signal,
    ...more,
  };
}

for (const toolMode of ['auto', 'text'] as const) {
  test(`replies with tools as ${toolMode}, streamed and counted by the server`, async () => {
    const policy = await createOpenAiPolicy({ baseUrl, model, toolMode });
    const session = await policy.start(1);
    const shown: string[] = [];
    const reply = await session.next(request(48, { onText: (text) => shown.push(text) }));
    expect(reply.usage.estimated).toBeUndefined();
    expect(reply.usage.promptTokens).toBeGreaterThan(200);
    expect(reply.usage.completionTokens).toBeGreaterThan(0);
    expect(reply.usage.completionTokens).toBeLessThanOrEqual(48);
    expect(shown.join('')).toBe((reply.reasoning ?? '') + reply.content);
    expect(reply.tokensMissing).toBe('the endpoint sent no log-probabilities');

    const again = await session.next(
      request(16, {
        messages: [
          ...request(1).messages,
          {
            role: 'assistant',
            content: '',
            callForm: 'native',
            calls: [{ id: 'call00001', name: 'bash', arguments: { command: 'ls' } }],
          },
          { role: 'tool', callId: 'call00001', name: 'bash', content: 'a.py' },
        ],
      }),
    );
    expect(again.usage.promptTokens).toBeGreaterThan(reply.usage.promptTokens);
  });
}

test('cancelling in the middle of a reply takes effect within a second', async () => {
  const policy = await createOpenAiPolicy({ baseUrl, model });
  const session = await policy.start(1);
  const controller = new AbortController();
  const reason = new Error('enough');
  let aborted = 0;
  const work = session.next(
    request(4000, {
      signal: controller.signal,
      onText: () => {
        if (aborted > 0) return;
        aborted = performance.now();
        controller.abort(reason);
      },
    }),
  );
  await expect(work).rejects.toBe(reason);
  expect(performance.now() - aborted).toBeLessThan(1000);
});

test('a model that the server does not have is a clear failure', async () => {
  const policy = await createOpenAiPolicy({
    baseUrl,
    model: 'no/such-model',
    retries: { attempts: 1 },
  });
  const session = await policy.start(1);
  await expect(session.next(request(8))).rejects.toMatchObject({
    name: 'PolicyFailure',
    message: expect.stringContaining('no/such-model'),
  });
});
