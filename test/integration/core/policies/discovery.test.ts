import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { findLocalServers } from '../../../../src/core/policies/discovery.ts';
import { freePort } from '../../../support/free-port.ts';
import { expectPrompt } from '../../../support/prompt.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that answers the given paths with JSON; `undefined` never answers. */
async function serve(paths: Readonly<Record<string, unknown>>): Promise<number> {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (!(path in paths)) response.writeHead(404).end('not here');
    else if (paths[path] !== undefined) response.end(JSON.stringify(paths[path]));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A busy machine may need longer to answer than the few hundred milliseconds that users wait. */
const patient = { signal: new AbortController().signal, patienceMs: 30_000 };

test('all four are found, with models and context sizes', async () => {
  const ports = {
    ollama: await serve({
      '/api/tags': { models: [{ name: 'qwen2.5-coder:7b' }, { name: 'llama3:8b' }] },
      '/api/ps': { models: [{ name: 'qwen2.5-coder:7b', context_length: 8192 }] },
    }),
    llamaCpp: await serve({
      '/props': { default_generation_settings: { n_ctx: 16384 } },
      '/v1/models': { data: [{ id: 'model.gguf', meta: { n_ctx_train: 32768 } }] },
    }),
    lmStudio: await serve({
      '/api/v0/models': {
        data: [
          { id: 'not-loaded', type: 'llm', state: 'not-loaded' },
          { id: 'loaded', type: 'llm', state: 'loaded', loaded_context_length: 4096 },
          { id: 'nomic', type: 'embeddings' },
        ],
      },
    }),
    vllm: await serve({
      '/v1/models': { data: [{ id: 'policy-v3', owned_by: 'vllm', max_model_len: 32768 }] },
    }),
  };
  const found = await findLocalServers({ ...patient, ports });
  expect(found).toEqual([
    {
      name: 'Ollama',
      baseUrl: `http://127.0.0.1:${ports.ollama}/v1`,
      models: ['qwen2.5-coder:7b', 'llama3:8b'],
      contextTokens: 8192,
    },
    {
      name: 'llama.cpp',
      baseUrl: `http://127.0.0.1:${ports.llamaCpp}/v1`,
      models: ['model.gguf'],
      contextTokens: 16384,
    },
    {
      name: 'LM Studio',
      baseUrl: `http://127.0.0.1:${ports.lmStudio}/v1`,
      models: ['loaded', 'not-loaded'],
      contextTokens: 4096,
    },
    {
      name: 'vLLM',
      baseUrl: `http://127.0.0.1:${ports.vllm}/v1`,
      models: ['policy-v3'],
      contextTokens: 32768,
    },
  ]);
});

test('nothing, something else and a server that never answers are left out, in time', async () => {
  const ports = {
    ollama: await freePort(),
    llamaCpp: await serve({ '/v1/models': { hello: 'world' } }),
    lmStudio: await serve({}),
    vllm: await serve({ '/v1/models': undefined }),
  };
  const { signal } = new AbortController();
  const quick = { ...ports, vllm: ports.lmStudio };
  await expectPrompt(
    async () => {
      const started = performance.now();
      expect(await findLocalServers({ signal, ports })).toEqual([]);
      return performance.now() - started;
    },
    () => findLocalServers({ signal, ports: quick }),
  );
});

test('another OpenAI-compatible server on such a port is offered under that name, once', async () => {
  const port = await serve({ '/v1/models': { data: [{ id: 'm' }] } });
  const ports = { ollama: port, llamaCpp: port, lmStudio: port, vllm: port };
  expect(await findLocalServers({ ...patient, ports })).toEqual([
    { name: 'OpenAI-compatible server', baseUrl: `http://127.0.0.1:${port}/v1`, models: ['m'] },
  ]);
});

test('cancelling ends it', async () => {
  const reason = new Error('stop');
  await expect(findLocalServers({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});
