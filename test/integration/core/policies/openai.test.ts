import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Message } from '../../../../src/core/agent/messages.ts';
import {
  createOpenAiPolicy,
  type OpenAiOptions,
} from '../../../../src/core/policies/openai/openai.ts';
import { PolicyFailure, type PolicyReply } from '../../../../src/core/policies/policy.ts';
import type { ToolSchema } from '../../../../src/core/tools/tool.ts';
import {
  type Answer,
  type ChatServer,
  type ChatServerOptions,
  delta,
  events,
  json,
  modelList,
  STOP,
  startChatServer,
  stream,
  USAGE,
} from './chat-server.ts';

const KEY = 'sk-test-0123456789abcdef';
const TOOLS: readonly ToolSchema[] = [
  {
    name: 'bash',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { command: { type: 'string' } } },
  },
];
const MESSAGES: readonly Message[] = [
  { role: 'system', content: 'You fix tests.' },
  { role: 'user', content: 'Fix it.' },
];

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(answer: Answer, options?: ChatServerOptions): Promise<ChatServer> {
  const server = await startChatServer(answer, options);
  closers.push(() => server.close());
  return server;
}

const QUICK: Partial<OpenAiOptions> = { retries: { attempts: 3, baseMs: 5, maxMs: 1000 } };

interface Ask {
  readonly signal?: AbortSignal;
  readonly onText?: (text: string) => void;
  readonly messages?: readonly Message[];
  readonly maxTokens?: number;
}

async function opened(server: Pick<ChatServer, 'baseUrl'>, options: Partial<OpenAiOptions> = {}) {
  const policy = await createOpenAiPolicy({ baseUrl: server.baseUrl, ...QUICK, ...options });
  const session = await policy.start(7);
  const next = (ask: Ask = {}): Promise<PolicyReply> =>
    session.next({
      messages: ask.messages ?? MESSAGES,
      tools: TOOLS,
      maxTokens: ask.maxTokens ?? 512,
      signal: ask.signal ?? new AbortController().signal,
      ...(ask.onText === undefined ? {} : { onText: ask.onText }),
    });
  return { policy, next };
}

async function failureOf(work: Promise<unknown>): Promise<PolicyFailure> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof PolicyFailure)) throw error;
  expect(error.message).not.toContain(KEY);
  expect(error.remedy ?? '').not.toContain(KEY);
  expect(error.remedy).toMatch(/\w/);
  return error;
}

const CALL = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>';

describe('a reply', () => {
  test('streams, with token ids and log-probabilities as vLLM sends them', async () => {
    const logprobs = (...values: number[]) => ({
      content: values.map((logprob) => ({ token: 'x', logprob, bytes: null, top_logprobs: [] })),
    });
    const server = await serve((_, response) =>
      stream(
        response,
        {
          prompt_token_ids: [1, 2, 3],
          choices: [{ index: 0, delta: { role: 'assistant', content: '' } }],
        },
        delta(CALL.slice(0, 20), { token_ids: [5], logprobs: logprobs(-0.5) }),
        delta(CALL.slice(20), { token_ids: [6], logprobs: logprobs(-0.25) }),
        {
          choices: [
            { index: 0, delta: {}, finish_reason: 'stop', token_ids: [7], logprobs: logprobs(0) },
          ],
        },
        USAGE,
      ),
    );
    const { policy, next } = await opened(server, {
      apiKey: KEY,
      prices: { promptPerMillion: 100_000, completionPerMillion: 1_000_000 },
    });
    const shown: string[] = [];
    const reply = await next({ onText: (text) => shown.push(text) });
    expect(policy.description).toMatchObject({
      kind: 'openai',
      model: 'tiny',
      label: `tiny at 127.0.0.1:${server.port}`,
    });
    expect(reply).toEqual({
      content: CALL,
      calls: [{ id: 'call00001', name: 'bash', arguments: { command: 'ls' } }],
      callForm: 'hermes',
      malformed: [],
      finish: 'stop',
      usage: { promptTokens: 10, completionTokens: 3, cost: 4 },
      tokens: { promptIds: [1, 2, 3], sampledIds: [5, 6, 7], logprobs: [-0.5, -0.25, 0] },
    });
    expect(shown.join('')).toBe(CALL);
    expect(server.chats[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(server.chats[0]?.body).toMatchObject({
      model: 'tiny',
      stream: true,
      return_token_ids: true,
      logprobs: true,
      temperature: 1,
      top_p: 1,
      top_k: -1,
      min_p: 0,
      repetition_penalty: 1,
      max_tokens: 512,
      tools: [{ type: 'function', function: { name: 'bash' } }],
    });
  });

  test('arrives unchanged when every byte is a chunk of its own', async () => {
    const text = 'häß 🐍 日本 \u0000 \r\n done';
    const server = await serve(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const bytes = Buffer.from(
        `: comment\r\n\r\n${events(delta(text), STOP, USAGE).replaceAll('\n', '\r\n')}`,
      );
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      response.end();
    });
    const { next } = await opened(server);
    expect((await next()).content).toBe(text);
  });

  test('with native calls in pieces, by index, several at once', async () => {
    const piece = (...tool_calls: unknown[]) => ({
      choices: [{ index: 0, delta: { tool_calls } }],
    });
    const server = await serve((_, response) =>
      stream(
        response,
        { choices: [{ index: 0, delta: { reasoning_content: 'hm', content: null } }] },
        piece({ index: 0, id: 'a', type: 'function', function: { name: 'bash', arguments: '' } }),
        piece({ index: 0, function: { arguments: '{"command": "ec' } }),
        piece(
          { index: 1, id: 'b', function: { name: 'bash', arguments: '{"command":' } },
          { index: 0, function: { arguments: 'ho 1"}' } },
        ),
        piece({ index: 1, function: { arguments: ' "echo 2"}' } }),
        { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
        USAGE,
      ),
    );
    const { next } = await opened(server);
    expect(await next()).toMatchObject({
      content: '',
      reasoning: 'hm',
      callForm: 'native',
      finish: 'stop',
      calls: [
        { id: 'call00001', arguments: { command: 'echo 1' } },
        { id: 'call00002', arguments: { command: 'echo 2' } },
      ],
    });
  });

  test('with several whole calls under one index and different ids', async () => {
    const call = (id: string) => ({
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              { index: 0, id, function: { name: 'bash', arguments: `{"command":"${id}"}` } },
            ],
          },
        },
      ],
    });
    const server = await serve((_, response) => stream(response, call('a'), call('b'), STOP));
    const { next } = await opened(server);
    expect((await next()).calls.map((made) => made.arguments.command)).toEqual(['a', 'b']);
  });

  test('from a server that does not stream, with arguments as an object', async () => {
    const server = await serve((_, response) =>
      json(response, 200, {
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: '<think>hm</think>ok',
              tool_calls: [{ id: '', function: { name: 'bash', arguments: { command: 'ls' } } }],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: { prompt_tokens: 4, completion_tokens: 2 },
      }),
    );
    const { next } = await opened(server);
    expect(await next()).toMatchObject({
      content: 'ok',
      reasoning: 'hm',
      calls: [{ arguments: { command: 'ls' } }],
      usage: { promptTokens: 4, completionTokens: 2 },
      tokensMissing: 'the endpoint sent no log-probabilities',
    });
  });

  test('cut by the token limit', async () => {
    const server = await serve((_, response) =>
      stream(response, delta('<tool_call>\n{"name": "ba'), {
        choices: [{ index: 0, delta: {}, finish_reason: 'length' }],
      }),
    );
    const { next } = await opened(server);
    expect(await next()).toMatchObject({
      finish: 'length',
      calls: [],
      malformed: [{ reason: expect.stringContaining('cut off by its token limit') }],
    });
  });

  test('without counts: estimates that say so', async () => {
    const server = await serve((_, response) => stream(response, delta('x'.repeat(400)), STOP));
    const { next } = await opened(server);
    const { usage } = await next();
    expect(usage).toMatchObject({ completionTokens: 101, estimated: true });
    expect(usage.promptTokens).toBeGreaterThan(20);
  });

  test('with ids and log-probabilities of unequal number is not recorded, and says why', async () => {
    const server = await serve((_, response) =>
      stream(
        response,
        {
          prompt_token_ids: [1],
          ...delta('a', { token_ids: [5, 6], logprobs: { content: [{ logprob: -1 }] } }),
        },
        STOP,
      ),
    );
    const { next } = await opened(server);
    const reply = await next();
    expect(reply.tokens).toBeUndefined();
    expect(reply.tokensMissing).toBe('the endpoint sent 2 token ids but 1 log-probabilities');
  });

  test('ends with the last event, even if the server keeps the connection open', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(events(delta('hi'), STOP));
    });
    const { next } = await opened(server);
    expect((await next()).content).toBe('hi');
  });
});

describe('what a server refuses is left out and remembered', () => {
  test('tools: calls go on as text', async () => {
    const server = await serve((asked, response) =>
      'tools' in asked.body
        ? json(response, 400, {
            object: 'error',
            message:
              '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            code: 400,
          })
        : stream(response, delta(CALL), STOP),
    );
    const { policy, next } = await opened(server);
    const { calls, callForm, content } = await next();
    expect(callForm).toBe('hermes');
    const again = await policy.start(1);
    await again.next({
      messages: [
        ...MESSAGES,
        { role: 'assistant', content, calls, callForm },
        { role: 'tool', callId: calls[0]?.id ?? '', name: 'bash', content: 'a.py' },
      ],
      tools: TOOLS,
      maxTokens: 64,
      signal: new AbortController().signal,
    });
    expect(server.chats).toHaveLength(3);
    expect(server.chats[2]?.body.messages).toEqual([
      {
        role: 'system',
        content: expect.stringMatching(
          /^You fix tests\.\n\n# Tools\n[\s\S]*<tools>\n\{"type":"function","function":\{"name":"bash"[\s\S]*<\/tool_call>$/,
        ),
      },
      { role: 'user', content: 'Fix it.' },
      { role: 'assistant', content: CALL },
      { role: 'user', content: '<tool_response>\na.py\n</tool_response>' },
    ]);
  });

  test('tools, when native tools were demanded, is a failure', async () => {
    const server = await serve((_, response) =>
      json(response, 400, { error: 'tiny does not support tools' }),
    );
    const { next } = await opened(server, { toolMode: 'native' });
    expect(await failureOf(next())).toMatchObject({
      kind: 'bad-request',
      message: expect.stringContaining('does not support tools'),
    });
  });

  test.each([
    ['Unrecognized request argument supplied: return_token_ids', ['return_token_ids']],
    ["Unknown parameter: 'top_k'.", ['top_k']],
    ["property 'seed' is unsupported", ['seed']],
  ])('fields: %s', async (message, fields) => {
    const server = await serve((asked, response) =>
      fields.some((field) => field in asked.body)
        ? json(response, 400, { error: { message, type: 'invalid_request_error' } })
        : stream(response, delta('ok'), STOP),
    );
    const { next } = await opened(server);
    await next();
    await next();
    expect(server.chats).toHaveLength(3);
    expect(server.chats[2]?.body).toMatchObject({ temperature: 1, logprobs: true });
  });

  test('fields in the form of FastAPI, one after the other', async () => {
    const known = new Set(['model', 'messages', 'stream', 'temperature', 'max_tokens', 'top_p']);
    const server = await serve((asked, response) => {
      const extra = Object.keys(asked.body).find((field) => !known.has(field));
      return extra === undefined
        ? stream(response, delta('ok'), STOP)
        : json(response, 422, {
            detail: [
              {
                type: 'extra_forbidden',
                loc: ['body', extra],
                msg: 'Extra inputs are not permitted',
              },
            ],
          });
    });
    const { next } = await opened(server);
    expect((await next()).content).toBe('ok');
  });

  test('max_tokens in favour of max_completion_tokens', async () => {
    const server = await serve((asked, response) =>
      'max_tokens' in asked.body
        ? json(response, 400, {
            error: {
              message:
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            },
          })
        : stream(response, delta('ok'), STOP),
    );
    const { next } = await opened(server);
    await next();
    expect(server.chats[1]?.body.max_completion_tokens).toBe(512);
  });

  test('a refused temperature: the reply counts, its tokens do not', async () => {
    const server = await serve((asked, response) =>
      'temperature' in asked.body
        ? json(response, 400, {
            error: {
              message: "Unsupported value: 'temperature' does not support 0.7 with this model.",
            },
          })
        : stream(
            response,
            {
              prompt_token_ids: [1],
              ...delta('ok', { token_ids: [5], logprobs: { content: [{ logprob: -1 }] } }),
            },
            STOP,
          ),
    );
    const { next } = await opened(server, { sampling: { temperature: 0.7, topP: 1, topK: -1 } });
    expect((await next()).tokensMissing).toBe(
      'the endpoint refuses temperature, so it may have sampled from another distribution',
    );
  });

  test('a guess about a refusal with another cause costs later requests nothing', async () => {
    const server = await serve((_, response, count) =>
      count <= 3
        ? json(response, 400, { error: { message: 'Invalid conversation' } })
        : stream(response, delta('ok'), STOP),
    );
    const { next } = await opened(server);
    expect(await failureOf(next())).toMatchObject({ kind: 'bad-request' });
    const before = server.chats.length;
    await next({ maxTokens: 9 });
    expect(before).toBe(2);
    expect(server.chats[2]?.body).toMatchObject({ return_token_ids: true, top_k: -1 });
    expect(server.chats[2]?.body.tools).toHaveLength(1);
  });

  test('a reply that would not fit beside the prompt is asked for shorter', async () => {
    const server = await serve((asked, response) =>
      Number(asked.body.max_tokens) > 96
        ? json(response, 400, {
            object: 'error',
            message:
              "This model's maximum context length is 1024 tokens. However, you requested 1440 tokens (928 in the messages, 512 in the completion). Please reduce the length of the messages or completion.",
          })
        : stream(response, delta('ok'), STOP),
    );
    const { next } = await opened(server);
    await next();
    expect(server.chats[1]?.body.max_tokens).toBe(96);
  });
});

describe('failures', () => {
  const page = '<!DOCTYPE html><html><head><title>Router login</title></head><body></body></html>';
  test.each<[string, Answer, PolicyFailure['kind'], RegExp]>([
    [
      '401',
      (_, r) => json(r, 401, { error: { message: `Incorrect API key provided: ${KEY}.` } }),
      'unauthorized',
      /refused access \(401\): Incorrect API key provided: \[API key\]/,
    ],
    ['403', (_, r) => json(r, 403, { message: 'Forbidden' }), 'unauthorized', /\(403\): Forbidden/],
    [
      '404 of the path',
      (_, r) => json(r, 404, { detail: 'Not Found' }),
      'bad-request',
      /chat\/completions does not exist \(404\): Not Found/,
    ],
    [
      '429 without end',
      (_, r) => json(r, 429, { error: { message: 'Slow down' } }),
      'rate-limited',
      /429\): Slow down/,
    ],
    [
      '429 with a long wait',
      (_, r) => json(r, 429, {}, { 'retry-after': '120' }),
      'rate-limited',
      /wait 120 s/,
    ],
    [
      '429 for want of credit',
      (_, r) =>
        json(r, 429, {
          error: { message: 'You exceeded your current quota', code: 'insufficient_quota' },
        }),
      'rate-limited',
      /quota/,
    ],
    [
      'context overflow',
      (_, r) =>
        json(r, 400, {
          error: {
            message: 'the request exceeds the available context size (4096 tokens)',
            type: 'exceed_context_size_error',
          },
        }),
      'context-exceeded',
      /no longer fits into the context of tiny/,
    ],
    [
      '500',
      (_, r) => json(r, 500, 'Internal Server Error'),
      'unreachable',
      /status 500: Internal Server Error/,
    ],
    [
      '503',
      (_, r) => json(r, 503, { error: { message: 'Loading model', code: 503 } }),
      'unreachable',
      /status 503: Loading model/,
    ],
    [
      '502 with a page',
      (_, r) => {
        r.writeHead(502, { 'content-type': 'text/html' });
        r.end(page);
      },
      'unreachable',
      /status 502: a web page titled "Router login"/,
    ],
    [
      'a redirect',
      (_, r) => {
        r.writeHead(301, { location: 'https://elsewhere/' });
        r.end();
      },
      'bad-response',
      /redirects/,
    ],
    [
      'another 400',
      (_, r) => json(r, 400, { error: { message: 'Conversation roles must alternate' } }),
      'bad-request',
      /roles must alternate/,
    ],
    [
      'HTML with status 200',
      (_, r) => {
        r.writeHead(200, { 'content-type': 'text/html' });
        r.end(page);
      },
      'bad-response',
      /answered with a web page titled "Router login"/,
    ],
    [
      'JSON that is none',
      (_, r) => json(r, 200, '{"choices": [}'),
      'bad-response',
      /something that is not JSON/,
    ],
    [
      'JSON of something else',
      (_, r) => json(r, 200, { hello: 'world' }),
      'bad-response',
      /JSON that is no chat completion/,
    ],
    [
      'an error with status 200',
      (_, r) => json(r, 200, { error: { message: 'CUDA out of memory', code: 500 } }),
      'unreachable',
      /status 500: CUDA out of memory/,
    ],
    [
      'an error in the stream',
      (_, r) => {
        r.writeHead(200);
        r.end(
          `data: ${JSON.stringify(delta('a'))}\n\ndata: {"error":{"message":"the input length exceeds the context length","code":400}}\n\n`,
        );
      },
      'context-exceeded',
      /no longer fits/,
    ],
    [
      'nonsense in the stream',
      (_, r) => {
        r.writeHead(200);
        r.end('data: {"choices": oops\n\n');
      },
      'bad-response',
      /not JSON/,
    ],
    ['no choices', (_, r) => json(r, 200, { choices: [] }), 'bad-response', /holds no choice/],
    ['no choices in the stream', (_, r) => stream(r, USAGE), 'bad-response', /holds no choice/],
    [
      'nothing',
      (_, r) => {
        r.writeHead(200);
        r.end();
      },
      'bad-response',
      /empty reply/,
    ],
    [
      'plain text',
      (_, r) => {
        r.writeHead(200);
        r.end('It works!');
      },
      'bad-response',
      /no event of a chat completion/,
    ],
    [
      'a cut stream',
      (_, r) => {
        r.writeHead(200);
        r.write(`data: ${JSON.stringify(delta('a'))}\n\n`, () => r.destroy());
      },
      'unreachable',
      /broke off/,
    ],
    [
      'a stream that ends early',
      (_, r) => {
        r.writeHead(200);
        r.end(`data: ${JSON.stringify(delta('a'))}\n\n`);
      },
      'unreachable',
      /cut off in the middle/,
    ],
    ['a closed connection', (_, r) => r.destroy(), 'unreachable', /broke off/],
  ])('%s', async (_, answer, kind, message) => {
    const server = await serve(answer);
    const { next } = await opened(server, { apiKey: KEY, toolMode: 'text' });
    const failure = await failureOf(next());
    expect(failure).toMatchObject({ kind, message: expect.stringMatching(message) });
    expect(server.chats.length).toBeLessThanOrEqual(3);
  });

  test('404 of the model: the models that the server has', async () => {
    const server = await serve(
      (_, response) =>
        json(response, 404, { error: { message: 'The model `big` does not exist.' } }),
      { models: modelList('small', 'medium') },
    );
    const { next } = await opened(server, { model: 'big' });
    const failure = await failureOf(next());
    expect(failure).toMatchObject({ kind: 'unknown-model', remedy: 'It serves: small, medium.' });
  });

  test('passing trouble is retried: 503, a wished wait, a cut stream', async () => {
    const server = await serve((_, response, count) => {
      if (count === 1) return json(response, 503, {}, { 'retry-after': '0.2' });
      if (count === 2) {
        response.writeHead(200);
        return response.write(`data: ${JSON.stringify(delta('lost'))}\n\n`, () =>
          response.destroy(),
        );
      }
      return stream(response, delta('ok'), STOP);
    });
    const { next } = await opened(server);
    const started = performance.now();
    const shown: string[] = [];
    expect((await next({ onText: (text) => shown.push(text) })).content).toBe('ok');
    expect(performance.now() - started).toBeGreaterThan(180);
    expect(shown).toEqual(['lost', '\n[the connection broke; asking again]\n', 'ok']);
  });

  test('no first token in time', async () => {
    const server = await serve(() => sleep(5000, undefined, { ref: false }));
    const { next } = await opened(server, { timeouts: { firstTokenMs: 200 } });
    expect(await failureOf(next())).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('sent nothing within 0.2 s'),
    });
  });

  test('silence in the middle', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200);
      response.write(`data: ${JSON.stringify(delta('a'))}\n\n`);
    });
    const { next } = await opened(server, {
      timeouts: { silenceMs: 150 },
      retries: { attempts: 1 },
    });
    expect(await failureOf(next())).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('fell silent for 0.2 s'),
    });
  });
});

describe('opening', () => {
  const open = (baseUrl: string, options: Partial<OpenAiOptions> = {}) =>
    createOpenAiPolicy({ baseUrl, ...QUICK, ...options });

  test('takes the only model and its context size', async () => {
    const server = await serve(() => {}, {
      models: (_, r) => json(r, 200, { data: [{ id: 'only', max_model_len: 4096 }] }),
    });
    const { description } = await open(`http://127.0.0.1:${server.port}/v1/chat/completions/`);
    expect(description).toMatchObject({ model: 'only', contextTokens: 4096 });
  });

  test.each<[string, Answer, Partial<OpenAiOptions>, Partial<PolicyFailure>]>([
    [
      'several models and none named',
      modelList('a', 'b'),
      {},
      {
        kind: 'unknown-model',
        message: expect.stringContaining('several models: a, b') as unknown as string,
      },
    ],
    [
      'no models',
      modelList(),
      {},
      {
        kind: 'unknown-model',
        message: expect.stringContaining('serves no model') as unknown as string,
      },
    ],
    [
      'no list and no name',
      (_, r) => json(r, 404, {}),
      {},
      { kind: 'unknown-model', remedy: 'Name the model.' },
    ],
    [
      'a wrong key',
      (_, r) => json(r, 401, { error: { message: `bad ${KEY}` } }),
      { apiKey: KEY },
      { kind: 'unauthorized' },
    ],
    [
      'a web page',
      (_, r) => {
        r.writeHead(200);
        r.end('<html><title>Home</title>');
      },
      {},
      {
        kind: 'bad-response',
        message: expect.stringContaining('a web page titled "Home"') as unknown as string,
      },
    ],
  ])('%s', async (_, models, options, expected) => {
    const server = await serve(() => {}, { models });
    expect(await failureOf(open(server.baseUrl, options))).toMatchObject(expected);
  });

  test('a server without a list is fine when the model is named', async () => {
    const server = await serve((_, r) => stream(r, delta('ok'), STOP), {
      models: (_, r) => json(r, 404, {}),
    });
    const { next } = await opened(server, { model: 'mine' });
    expect((await next()).content).toBe('ok');
  });

  test('nothing listens', async () => {
    const server = await startChatServer(() => {});
    await server.close();
    expect(await failureOf(open(server.baseUrl))).toMatchObject({
      kind: 'unreachable',
      message: `Nothing listens at ${server.baseUrl} (connection refused).`,
    });
  });

  test('an unknown host', async () => {
    expect(await failureOf(open('http://no-such-host.invalid:8000'))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/host name .* is not known/),
    });
  });

  test('what listens does not speak HTTP', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).resume();
      socket.write('SSH-2.0-OpenSSH_9.2\r\n');
      closers.push(() => socket.destroy());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(await failureOf(open(`http://127.0.0.1:${port}`))).toMatchObject({
      kind: 'bad-response',
      message: expect.stringContaining('does not speak HTTP'),
    });
    expect(await failureOf(open(`https://127.0.0.1:${port}`))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('does not speak TLS'),
    });
  });

  test('an unusable address or key', async () => {
    expect(await open('ftp://x').catch((e: unknown) => e)).toMatchObject({ kind: 'bad-request' });
    expect(await failureOf(open('http://127.0.0.1:1', { apiKey: 'sk-1\n2' }))).toMatchObject({
      kind: 'unauthorized',
    });
  });
});

describe('cancelling', () => {
  const reason = new Error('stop it');
  test.each<[string, Answer, Partial<OpenAiOptions>]>([
    ['before the first byte', () => sleep(20_000, undefined, { ref: false }), {}],
    [
      'in the middle of a reply',
      (_, r) => {
        r.writeHead(200);
        r.write(`data: ${JSON.stringify(delta('a'))}\n\n`);
      },
      {},
    ],
    [
      'while it waits to ask again',
      (_, r) => json(r, 503, {}, { 'retry-after': '20' }),
      { retries: { attempts: 5, maxMs: 30_000 } },
    ],
  ])('%s takes effect at once', async (_, answer, options) => {
    const server = await serve(answer);
    const { next } = await opened(server, options);
    const controller = new AbortController();
    const started = performance.now();
    setTimeout(() => controller.abort(reason), 200);
    await expect(next({ signal: controller.signal })).rejects.toBe(reason);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test('before it starts', async () => {
    const server = await serve((_, r) => stream(r, delta('a'), STOP));
    const { next } = await opened(server);
    await expect(next({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.chats).toEqual([]);
  });
});

describe('proxies and certificates', () => {
  test('a proxy is used, except for this machine', async () => {
    const server = await serve((_, r) => stream(r, delta('ok'), STOP));
    const targets: string[] = [];
    const proxy = createHttpServer().listen(0, '127.0.0.1');
    proxy.on('connect', (request, socket) => {
      targets.push(request.url ?? '');
      const onward = connect(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(socket);
        socket.pipe(onward);
      });
      onward.on('error', () => socket.destroy());
      socket.on('error', () => onward.destroy());
    });
    await once(proxy, 'listening');
    closers.push(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      const far = await opened({ baseUrl: 'http://model.example:8000' });
      expect((await far.next()).content).toBe('ok');
      const near = await opened(server);
      expect((await near.next()).content).toBe('ok');
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
    expect(new Set(targets)).toEqual(new Set(['model.example:8000']));
  });

  test('an own certificate is refused until its file is named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'prime-tls-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const [keyFile, caFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    try {
      execFileSync(
        process.env.OPENSSL ?? 'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'rsa:2048',
          '-nodes',
          '-days',
          '2',
          '-subj',
          '/CN=127.0.0.1',
          '-addext',
          'subjectAltName=IP:127.0.0.1',
          '-keyout',
          keyFile,
          '-out',
          caFile,
        ],
        { stdio: 'ignore' },
      );
    } catch (error) {
      throw new Error('this test needs the program openssl', { cause: error });
    }
    const tls = { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(caFile, 'utf8') };
    const server = await serve((_, r) => stream(r, delta('ok'), STOP), { tls });
    expect(await failureOf(createOpenAiPolicy({ baseUrl: server.baseUrl }))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('is not trusted'),
    });
    const { next } = await opened(server, { caFile });
    expect((await next()).content).toBe('ok');
    writeFileSync(keyFile, 'nothing');
    expect(
      await failureOf(createOpenAiPolicy({ baseUrl: server.baseUrl, caFile: keyFile })),
    ).toMatchObject({ message: expect.stringContaining('no certificate in PEM form') });
    expect(
      await failureOf(
        createOpenAiPolicy({ baseUrl: server.baseUrl, caFile: join(folder, 'none') }),
      ),
    ).toMatchObject({ message: expect.stringContaining('ENOENT') });
  });
});
