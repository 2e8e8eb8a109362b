import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { checkConfig, loadConfig } from '../../../server/src/config.ts';
import { serve } from '../../../server/src/serve.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { connect } from '../../../src/core/outbox/connection.ts';
import { createOutbox } from '../../../src/core/outbox/outbox.ts';
import { tempFolder } from '../../support/temp.ts';
import { permit, startWorld, trajectory } from './world.ts';

const client = { name: 'test', version: '0.0.0' };

test('a certificate of its own is made once, pinned by its fingerprint, and nothing is sent to another', async () => {
  const world = await startWorld({ tls: { selfSigned: true } });
  const { url, fingerprint = '' } = world.server;
  expect(url).toMatch(/^https:/);
  const token = world.token();
  const connection = await connect({ url, token, fingerprint }, client);
  expect(connection.welcome).toMatchObject({
    role: 'contributor',
    contributor: 'alice',
    version: 2,
  });
  connection.close();
  const other = fingerprint.replace(/^../, fingerprint.startsWith('00') ? '01' : '00');
  await expect(connect({ url, token, fingerprint: other }, client)).rejects.toThrow(
    'shows another certificate',
  );
  await expect(connect({ url, token }, client)).rejects.toThrow(/self-signed|self signed/);
  await world.server.close();
  const again = await serve({
    config: checkConfig({ listen: { port: 0 }, tls: { selfSigned: true } }, 'test'),
    data: world.data,
    version: '0.0.0',
    write: () => undefined,
  });
  expect(again.fingerprint).toBe(fingerprint);
  await again.close();
});

test('beyond this machine nothing is plain, on either side', async () => {
  expect(() => loadConfig(undefined, { host: '0.0.0.0' })).toThrow('there is no TLS');
  await expect(connect({ url: 'http://192.0.2.1:7317', token: 'pa_x' }, client)).rejects.toThrow(
    'not sent in the clear',
  );
});

test('an unknown key, a wrong value and a file that is none are told with their place', async () => {
  const folder = await tempFolder();
  const file = join(folder, 'server.toml');
  await writeFile(file, '[listen]\nport = 99999\nprot = 1\n');
  expect(() => loadConfig(file)).toThrow(/server\.toml cannot be used: .*listen\.port.*"prot"/);
  await writeFile(file, '[listen\n');
  expect(() => loadConfig(file)).toThrow(/is not TOML/);
  expect(() => loadConfig(join(folder, 'none.toml'))).toThrow(/cannot be read/);
  await writeFile(file, 'data = "kept"\n[tls]\nselfSigned = true\n');
  expect(loadConfig(file)).toMatchObject({ data: join(folder, 'kept'), listen: { port: 7317 } });
});

test('a second server with the same data does not start, and one after it does', async () => {
  const world = await startWorld();
  const start = (): ReturnType<typeof serve> =>
    serve({
      config: checkConfig({ listen: { port: 0 } }, 'test'),
      data: world.data,
      version: '0.0.0',
      write: () => undefined,
    });
  await expect(start()).rejects.toThrow('another server is running');
  await world.server.close();
  await (await start()).close();
});

test('health is for everybody, metrics are for admins', async () => {
  const world = await startWorld();
  const get = (path: string, token?: string): Promise<Response> =>
    fetch(`${world.server.url}${path}`, {
      headers: token ? { authorization: `Bearer ${token}` } : {},
    });
  expect(await (await get('/healthz')).json()).toMatchObject({ status: 'ok' });
  expect((await get('/metrics')).status).toBe(401);
  expect((await get('/metrics', world.token())).status).toBe(403);
  const metrics = await (await get('/metrics', world.token('admin', 'root'))).text();
  expect(metrics).toContain('prime_agent_trajectories{claim="waiting"} 0');
  const missing = await get('/nothing?token=pa_secret');
  expect(missing.status).toBe(404);
  expect((await missing.text()) + world.lines.join('')).not.toContain('pa_secret');
});

test('tokens are made, listed and revoked beside a running server', async () => {
  const world = await startWorld();
  const cli = async (...argv: string[]): Promise<{ code: number; out: string; err: string }> => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const code = await createProgram({
      stdout,
      stderr,
      env: {},
      cwd: world.data,
      signal: new AbortController().signal,
    }).run([...argv, '--data', world.data]);
    return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
  };
  const made = await cli('token', 'create', 'carol', '--role', 'admin');
  const token = made.out.trim();
  const connection = await connect({ url: world.server.url, token }, client);
  expect(connection.welcome).toMatchObject({ role: 'admin', contributor: 'carol' });
  connection.close();
  const list = await cli('token', 'list', '--json');
  expect(list.out).not.toContain(token);
  const id = token.slice(3, 19);
  expect(JSON.parse(list.out).tokens).toMatchObject([{ id, name: 'carol', revokedAt: null }]);
  expect((await cli('token', 'revoke', id)).code).toBe(0);
  expect(await cli('token', 'revoke', id)).toMatchObject({ code: 3 });
  await expect(connect({ url: world.server.url, token }, client)).rejects.toMatchObject({
    code: 'unauthorized',
  });
  expect(await cli('token', 'create', '../x')).toMatchObject({
    code: 3,
    err: expect.stringContaining('cannot be a name'),
  });
});

test('an outbox is bounded, can be looked into, and gives back what was not sent', async () => {
  const folder = await tempFolder();
  const outbox = createOutbox(join(folder, 'outbox'), {
    maxBytes: 60_000,
    maxEntries: 2,
    maxSent: 1,
  });
  expect(await outbox.list()).toEqual([]);
  const allowed = await permit();
  const first = trajectory('one', 10_000);
  expect(await outbox.enqueue(first, allowed)).toMatchObject({ kind: 'queued' });
  expect(await outbox.enqueue(first, allowed)).toMatchObject({ kind: 'known' });
  expect(await outbox.enqueue(trajectory('huge', 200_000), allowed)).toMatchObject({
    kind: 'full',
  });
  expect(String(await outbox.content('one'))).toContain('"attemptId":"one"');
  // A restart finds it again, and what a crash left half-written is not taken for an entry.
  await writeFile(join(folder, 'outbox', 'half.gz'), 'x');
  const again = createOutbox(join(folder, 'outbox'));
  expect((await again.list()).map(({ attemptId }) => attemptId)).toEqual(['one']);
  expect(await again.withdraw('one')).toBe('withdrawn');
  expect(await again.withdraw('one')).toBe('missing');
  expect(await again.content('one')).toBeUndefined();
  for (const id of ['s1', 's2']) {
    const queued = await outbox.enqueue(trajectory(id), allowed);
    if (queued.kind !== 'queued') throw new Error(queued.kind);
    await outbox.markSent(queued.entry, 'server');
    expect(await outbox.withdraw(id)).toBe('sent');
  }
  // What was withdrawn is remembered, so that nothing puts it in again.
  expect((await outbox.list()).map(({ attemptId, state }) => [attemptId, state.kind])).toEqual([
    ['one', 'withdrawn'],
    ['s2', 'sent'],
  ]);
  expect(await outbox.enqueue(first, allowed)).toMatchObject({ kind: 'known' });
});
