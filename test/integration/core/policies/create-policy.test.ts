import { afterEach, expect, test } from 'vitest';
import { currentScaffoldHash } from '../../../../src/core/fix/scaffold.ts';
import { createPolicy } from '../../../../src/core/policies/create-policy.ts';
import { builtWorker, smallPolicy } from '../../../support/onnx.ts';
import { type ChatServer, json, modelList, startChatServer } from './chat-server.ts';

const servers: ChatServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const deps = { env: {}, signal: new AbortController().signal };

test('an address becomes a policy; the key comes from the environment', async () => {
  let key: string | undefined;
  const server = await startChatServer(() => {}, {
    models: (asked, response, count) => {
      key = asked.headers.authorization;
      modelList('tiny')(asked, response, count);
    },
  });
  servers.push(server);
  const env = { PRIME_AGENT_API_KEY: 'k-1234', OPENAI_API_KEY: 'never here' };
  const created = await createPolicy({ policy: server.baseUrl }, { ...deps, env });
  expect(created).toMatchObject({ kind: 'policy', policy: { description: { model: 'tiny' } } });
  expect(key).toBe('Bearer k-1234');
  await createPolicy(
    { policy: `127.0.0.1:${server.port}` },
    { ...deps, env: { OPENAI_API_KEY: 'x' } },
  );
  expect(key).toBeUndefined();
});

test('a temperature is what it samples with', async () => {
  const server = await startChatServer(() => {}, { models: modelList('tiny') });
  servers.push(server);
  const created = await createPolicy({ policy: server.baseUrl, temperature: 0.2 }, deps);
  expect(created).toMatchObject({
    policy: { description: { sampling: { temperature: 0.2, topP: 1, topK: -1 } } },
  });
});

test('edit-search needs nothing', async () => {
  expect(await createPolicy({ policy: 'edit-search' }, deps)).toMatchObject({
    kind: 'policy',
    policy: { description: { kind: 'edit-search' } },
  });
});

test.each([
  [{ policy: 'gpt' }, 'There is no policy "gpt".'],
  [{ policy: 'src' }, 'src holds no policy: policy.json is missing.'],
  [{ policy: 'src', model: 'm' }, 'A policy from a folder (src) has one model.'],
  [{ policy: 'edit-search', model: 'm' }, 'edit-search has no models.'],
  [{ policy: 'edit-search', temperature: 0 }, 'edit-search samples nothing.'],
])('%j is a matter of usage', async (spec, reason) => {
  expect(await createPolicy(spec, deps)).toMatchObject({
    kind: 'problem',
    cause: 'usage',
    reason,
    remedy: expect.stringMatching(/\w/),
  });
});

test('an endpoint that does not answer is a matter of the environment', async () => {
  const server = await startChatServer(() => {});
  await server.close();
  expect(await createPolicy({ policy: server.baseUrl }, deps)).toMatchObject({
    kind: 'problem',
    cause: 'environment',
    reason: expect.stringContaining('connection refused'),
  });
});

test('a model that must be named is a matter of usage', async () => {
  const server = await startChatServer(() => {}, {
    models: (_, response) => json(response, 200, { data: [{ id: 'a' }, { id: 'b' }] }),
  });
  servers.push(server);
  expect(await createPolicy({ policy: server.baseUrl }, deps)).toMatchObject({
    kind: 'problem',
    cause: 'usage',
    reason: expect.stringContaining('several models: a, b'),
  });
});

const worker = builtWorker();

test('a folder with a policy becomes one; it is made for this scaffold or refused', async () => {
  const fits = await smallPolicy({ scaffoldHash: currentScaffoldHash(), version: 'policy-v3' });
  const created = await createPolicy(
    { policy: fits },
    { ...deps, env: process.env, onnx: { workerFile: worker() } },
  );
  expect(created).toMatchObject({
    kind: 'policy',
    policy: {
      description: {
        kind: 'onnx',
        label: 'small (policy-v3)',
        version: 'policy-v3',
        scaffoldHash: currentScaffoldHash(),
      },
    },
  });
  const other = await smallPolicy({ scaffoldHash: 'b'.repeat(64) });
  expect(await createPolicy({ policy: other }, deps)).toMatchObject({
    kind: 'problem',
    cause: 'usage',
    reason: expect.stringContaining('was trained for other tools or other prompts'),
  });
});
