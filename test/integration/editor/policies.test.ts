import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type * as vscode from 'vscode';
import { createKeys } from '../../../src/editor/policies/keys.ts';
import { selectPolicy } from '../../../src/editor/policies/select-policy.ts';
import { createFakeContext, createFakeVs, type FakeVs } from '../../support/fake-vs.ts';
import { tempFolder } from '../../support/temp.ts';

/** A server as Ollama answers; with a key, only to those who have it. */
async function modelServer(models: readonly string[], key?: string) {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    const { url = '' } = request;
    const answer = url.endsWith('/api/tags')
      ? { models: models.map((name) => ({ name })) }
      : url.endsWith('/v1/models')
        ? { object: 'list', data: models.map((id) => ({ id, object: 'model' })) }
        : undefined;
    const refused = key !== undefined && request.headers.authorization !== `Bearer ${key}`;
    response.statusCode = refused ? 401 : answer ? 200 : 404;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, baseUrl: `http://127.0.0.1:${port}/v1`, seen };
}

/** No server listens there. */
const NOWHERE = { ollama: 9, llamaCpp: 9, lmStudio: 9, vllm: 9 };

async function setUp(settings: Record<string, unknown> = {}) {
  const fake = createFakeVs({ folders: ['/w'], settings });
  const { context, secrets } = createFakeContext('/x');
  const folder = await tempFolder();
  const log = { info: () => undefined, warn: (text: string) => fake.log.push(text) };
  const select = (ports: Partial<typeof NOWHERE> = {}) =>
    selectPolicy({
      vs: fake.vs,
      keys: createKeys(context.secrets),
      log: log as unknown as vscode.LogOutputChannel,
      nanoFolder: join(folder, 'nano'),
      ports: { ...NOWHERE, ...ports },
    });
  return { fake, secrets, folder, select };
}

const pickLabelled = (fake: FakeVs, ...wanted: readonly string[]): string[][] => {
  const offered: string[][] = [];
  fake.user.pick = (items) => {
    offered.push(items.map(({ label }) => label));
    return items.filter(({ label }) => wanted.some((text) => label.endsWith(text))).slice(0, 1);
  };
  return offered;
};

describe('Select policy…', () => {
  it('offers what is here: nano only with its folder, servers with their models', async () => {
    const { fake, folder, select } = await setUp();
    const server = await modelServer(['qwen:7b', 'llama']);
    const offered = pickLabelled(fake, 'edit-search');
    await select();
    await mkdir(join(folder, 'nano'));
    await select({ ollama: server.port });
    expect(offered).toEqual([
      ['In this extension', '$(search) edit-search', 'Elsewhere', '$(plug) Another server…'],
      [
        'In this extension',
        '$(chip) nano',
        '$(search) edit-search',
        'On this machine',
        '$(server) qwen:7b',
        '$(server) llama',
        'Elsewhere',
        '$(plug) Another server…',
      ],
    ]);
  });

  it('takes a server of this machine without further questions', async () => {
    const { fake, select } = await setUp();
    const server = await modelServer(['qwen:7b']);
    pickLabelled(fake, 'qwen:7b');
    await select({ ollama: server.port });
    expect(Object.fromEntries(fake.settings)).toEqual({
      'primeAgent.policy': 'endpoint',
      'primeAgent.endpoint.baseUrl': server.baseUrl,
      'primeAgent.endpoint.model': 'qwen:7b',
    });
  });

  it('asks for address, key and model of any other server; the key stays secret', async () => {
    const { fake, secrets, select } = await setUp();
    const server = await modelServer(['small', 'large'], 'k-123');
    pickLabelled(fake, 'Another server…', 'large');
    const asked: boolean[] = [];
    fake.user.input = ({ password }) => {
      asked.push(password === true);
      return password ? ' k-123 ' : `127.0.0.1:${server.port}/v1/chat/completions`;
    };
    await select();
    expect(asked).toEqual([false, true]);
    expect(Object.fromEntries(fake.settings)).toEqual({
      'primeAgent.policy': 'endpoint',
      'primeAgent.endpoint.baseUrl': server.baseUrl,
      'primeAgent.endpoint.model': 'large',
    });
    expect(JSON.stringify([...fake.settings])).not.toContain('k-123');
    expect([...secrets.values()]).toEqual(['k-123']);
    expect(server.seen).toEqual(['Bearer k-123']);
  });

  it('leaves everything as it was when the server refuses, and says what to do', async () => {
    const { fake, select } = await setUp();
    const server = await modelServer(['small'], 'right');
    pickLabelled(fake, 'Another server…');
    fake.user.input = ({ password }) => (password ? 'wrong' : server.baseUrl);
    await select();
    expect(fake.messages).toMatchObject([
      { level: 'error', text: expect.stringMatching(/key/i), actions: ['Select Policy…'] },
    ]);
    expect(fake.messages[0]?.text).not.toContain('wrong');
    expect(fake.settings.size).toBe(0);
  });

  it('does not take an address with a password into the settings', async () => {
    const { fake, select } = await setUp();
    pickLabelled(fake, 'Another server…');
    fake.user.input = () => 'http://me:secret@127.0.0.1:8000/v1';
    await expect(select()).rejects.toThrow(/refuses .*Leave name and password out/);
    expect(fake.settings.size).toBe(0);
  });

  it('offers a stored key, to keep it or to remove it', async () => {
    const { fake, secrets, select } = await setUp();
    const server = await modelServer(['small']);
    secrets.set(`primeAgent.apiKey.http://127.0.0.1:${server.port}`, 'old');
    fake.user.input = () => server.baseUrl;
    pickLabelled(fake, 'Another server…', 'Use the stored key', 'small');
    await select();
    expect(server.seen.at(-1)).toBe('Bearer old');
    pickLabelled(fake, 'Another server…', 'Remove the key', 'small');
    await select();
    expect(secrets.size).toBe(0);
    expect(server.seen.at(-1)).toBeUndefined();
  });
});
