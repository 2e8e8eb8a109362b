import { randomBytes } from 'node:crypto';
import {
  appendFile,
  chmod,
  mkdir,
  readdir,
  readFile,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createAgent } from '../../../src/core/download/agent.ts';
import { download } from '../../../src/core/download/download.ts';
import {
  downloadArchive,
  downloadPolicy,
  listPolicyVersions,
} from '../../../src/core/download/fetch.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import { cutProxy } from './cut-proxy.ts';
import { sha256, startWorld, type World } from './world.ts';

interface Stored {
  readonly world: World;
  readonly token: string;
  readonly content: Buffer;
  readonly hash: string;
  /** On the server's disk. */
  readonly path: string;
  get(headers?: Record<string, string>, method?: string): Promise<Response>;
}

async function stored(bytes = 1_000_000, config: Record<string, unknown> = {}): Promise<Stored> {
  const world = await startWorld(config);
  const token = world.token();
  const content = randomBytes(bytes);
  const { sha256: hash, path } = await world.server.archives.add(content, {
    taskId: 't-1',
    contributor: 'alice',
  });
  const get: Stored['get'] = (headers = {}, method = 'GET') =>
    fetch(`${world.server.url}/v1/archives/${hash}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  return { world, token, content, hash, path, get };
}

const bytesOf = async (response: Response): Promise<Buffer> =>
  Buffer.from(await response.arrayBuffer());

describe('an archive over HTTP', () => {
  test('comes whole, in a range, or not at all where the client has it', async () => {
    const { content, hash, get } = await stored();
    const etag = `"${hash}"`;
    const whole = await get();
    expect(whole.status).toBe(200);
    expect(whole.headers.get('etag')).toBe(etag);
    expect(whole.headers.get('accept-ranges')).toBe('bytes');
    expect(sha256(await bytesOf(whole))).toBe(hash);

    const parts: [string, number, number][] = [
      ['bytes=0-0', 0, 0],
      ['bytes=10-99', 10, 99],
      ['bytes=-5', content.length - 5, content.length - 1],
      ['bytes=999999-', 999_999, 999_999],
      ['bytes=300000-2000000', 300_000, 999_999],
      ['bytes=0-9,10-19', 0, 19],
    ];
    for (const [range, start, end] of parts) {
      const response = await get({ range });
      expect(response.status, range).toBe(206);
      expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${content.length}`);
      expect((await bytesOf(response)).equals(content.subarray(start, end + 1))).toBe(true);
    }
    const beyond = await get({ range: 'bytes=1000000-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */1000000']);
    for (const range of ['bytes', 'lines=1-2', 'bytes=0-1,500-600']) {
      const response = await get({ range });
      expect(response.status, range).toBe(200);
      expect((await bytesOf(response)).length).toBe(content.length);
    }
    for (const value of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const response = await get({ 'if-none-match': value });
      expect([response.status, (await bytesOf(response)).length], value).toEqual([304, 0]);
      expect(response.headers.get('etag')).toBe(etag);
    }
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
    expect((await get({ range: 'bytes=1-2', 'if-range': etag })).status).toBe(206);
    for (const value of ['"other"', `W/${etag}`, 'Wed, 21 Oct 2099 07:28:00 GMT']) {
      expect((await get({ range: 'bytes=1-2', 'if-range': value })).status, value).toBe(200);
    }
    const head = await get({}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '1000000']);
    expect(head.headers.get('etag')).toBe(etag);
    expect((await bytesOf(head)).length).toBe(0);
  });

  test('is for who stored it and for admins, and refuses names that are no hash', async () => {
    const { world, hash, get } = await stored(1_000);
    const { url } = world.server;
    const as = (token: string | undefined, name: string): Promise<Response> =>
      fetch(`${url}/v1/archives/${name}`, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
    expect((await as(undefined, hash)).status).toBe(401);
    expect((await as('pa_0000000000000000_wrong', hash)).status).toBe(401);
    expect((await as(world.token('contributor', 'bob'), hash)).status).toBe(404);
    expect((await as(world.token('admin', 'root'), hash)).status).toBe(200);
    expect((await get({ authorization: '' })).status).toBe(401);
    const admin = world.token('admin', 'root');
    for (const name of [
      '..%2f..%2fserver.sqlite',
      '%2e%2e/%2e%2e/server.sqlite',
      hash.toUpperCase(),
      `${hash}/..`,
      `${hash}%00`,
      'a'.repeat(900),
      'a'.repeat(5_000),
    ]) {
      const response = await as(admin, name);
      expect([400, 404, 414], name.slice(0, 80)).toContain(response.status);
      expect((await response.text()).includes('SQLite')).toBe(false);
    }
  });

  test('is never served under its ETag when it was truncated, changed or removed', async () => {
    const { world, path, content, get } = await stored(500_000);
    const is = async (status: number, code: string): Promise<void> => {
      for (const headers of [{ range: 'bytes=0-' }, { range: 'bytes=0-9' }]) {
        const response = await get(headers);
        expect(response.status).toBe(status);
        expect(response.headers.get('etag')).toBeNull();
        expect(await response.json()).toMatchObject({ error: { code } });
      }
    };
    expect((await get()).status).toBe(200);
    await chmod(path, 0o600);
    await truncate(path, 499_999);
    await is(500, 'damaged');
    const changed = Buffer.from(content);
    changed[250_000] = (changed[250_000] ?? 0) ^ 1;
    await writeFile(path, changed);
    await is(500, 'damaged');
    // The same length again and again: the time of the last change alone tells.
    await writeFile(path, content);
    expect((await get()).status).toBe(200);
    await appendFile(path, 'x');
    await is(500, 'damaged');
    await writeFile(path, '');
    await is(500, 'damaged');
    expect(world.lines.join('')).not.toContain('"level":50');
  });

  test('that changes while it is sent is cut off before its end', async () => {
    const { world, token, hash, path } = await stored(8_000_000);
    const received = await new Promise<{ bytes: number; complete: boolean }>((resolve) => {
      let bytes = 0;
      request(
        `${world.server.url}/v1/archives/${hash}`,
        { headers: { authorization: `Bearer ${token}` } },
        (response) => {
          response.once('data', () => {
            response.pause();
            appendFile(path, 'x').then(() => response.resume());
          });
          response.on('data', (piece: Buffer) => {
            bytes += piece.length;
          });
          response.on('error', () => undefined);
          response.on('close', () => resolve({ bytes, complete: response.complete }));
        },
      ).end();
    });
    expect(received.complete).toBe(false);
    expect(received.bytes).toBeLessThan(8_000_000);
  });
});

describe('a download', () => {
  test('goes on where connections were cut, and fetches nothing twice', async () => {
    const { world, token, hash } = await stored(3_000_000);
    const proxy = await cutProxy(world.server.url, 'from-server', [1_000_000, 300, 900_000]);
    const to = join(await tempFolder(), 'deep', 'task.gz');
    await downloadArchive({ url: proxy.url, token }, hash, to);
    expect(sha256(await readFile(to))).toBe(hash);
    expect(proxy.connections()).toBe(4);
    expect(await readdir(join(to, '..'))).toEqual(['task.gz']);
    // There already: nothing is asked.
    await downloadArchive({ url: 'http://127.0.0.1:1', token }, hash, to);
  });

  test('takes up what an earlier program left, and throws away what is wrong', async () => {
    const { world, token, content, hash } = await stored(600_000);
    const folder = await tempFolder();
    const to = join(folder, 'a');
    const partial = join(folder, `.a.${hash.slice(0, 16)}.part`);
    await writeFile(partial, content.subarray(0, 500_000));
    const proxy = await cutProxy(world.server.url, 'from-server', [200_000]);
    await downloadArchive({ url: proxy.url, token }, hash, to);
    expect(proxy.connections()).toBe(1);
    expect(sha256(await readFile(to))).toBe(hash);

    const other = join(folder, 'b');
    await writeFile(join(folder, `.b.${hash.slice(0, 16)}.part`), randomBytes(400_000));
    const server = { url: world.server.url, token };
    await expect(downloadArchive(server, hash, other)).rejects.toMatchObject({
      code: 'hash_mismatch',
    });
    await downloadArchive(server, hash, other);
    expect(sha256(await readFile(other))).toBe(hash);
    // All of it was there, only its name was not.
    await writeFile(join(folder, `.c.${hash.slice(0, 16)}.part`), content);
    await downloadArchive(server, hash, join(folder, 'c'));
    expect(sha256(await readFile(join(folder, 'c')))).toBe(hash);
  });

  test('ends with the reason where trying again would not help', async () => {
    const { world, token, hash } = await stored(10_000);
    const folder = await tempFolder();
    const server = { url: world.server.url, token };
    const to = join(folder, 'x');
    await expect(downloadArchive(server, 'a'.repeat(64), to)).rejects.toMatchObject({
      code: 'not_found',
    });
    const wrong = { ...server, token: 'pa_0000000000000000_x' };
    await expect(downloadArchive(wrong, hash, to)).rejects.toMatchObject({ code: 'unauthorized' });
    const agent = createAgent(server);
    const small = {
      server,
      agent,
      path: `/v1/archives/${hash}`,
      sha256: hash,
      maxBytes: 9_999,
      to,
    };
    await expect(download(small)).rejects.toMatchObject({ code: 'too_large' });
    await agent.close();
    expect(() => createAgent({ url: 'http://192.0.2.1:1', token })).toThrow(
      'not sent in the clear',
    );
  });

  test('compares a pinned certificate before the token is sent', async () => {
    const { world, token, hash } = await stored(300_000, { tls: { selfSigned: true } });
    const { url, fingerprint = '' } = world.server;
    const folder = await tempFolder();
    await downloadArchive({ url, token, fingerprint }, hash, join(folder, 'a'));
    expect(sha256(await readFile(join(folder, 'a')))).toBe(hash);
    const other = fingerprint.replace(/^../, fingerprint.startsWith('00') ? '01' : '00');
    const wrong = downloadArchive({ url, token, fingerprint: other }, hash, join(folder, 'b'));
    await expect(wrong).rejects.toMatchObject({ code: 'unauthorized' });
  });
});

describe('policy versions', () => {
  const files = { 'config.json': '{"a":1}', 'onnx/model.onnx': 'weights', empty: '' };

  async function published(): Promise<{ world: World; server: { url: string; token: string } }> {
    const world = await startWorld();
    const folder = await tempFolder();
    await writeFiles(folder, files);
    const first = await world.server.policies.publish({
      folder,
      parent: null,
      scaffoldHash: 'f'.repeat(64),
      details: { scores: { heldOut: 0.5 } },
    });
    expect(first).toMatchObject({ version: 1, parent: null, bytes: 14, removedAt: null });
    await writeFile(join(folder, 'config.json'), '{"a":2}');
    await world.server.policies.publish({ folder, parent: 1, scaffoldHash: 'f'.repeat(64) });
    return { world, server: { url: world.server.url, token: world.token() } };
  }

  test('are listed, fetched file by file, and there whole', async () => {
    const { world, server } = await published();
    const versions = await listPolicyVersions(server);
    expect(versions.map(({ version, parent }) => [version, parent])).toEqual([
      [2, 1],
      [1, null],
    ]);
    const [, first] = versions;
    if (!first) throw new Error('no first version');
    const folder = join(await tempFolder(), 'policy');
    const manifest = await downloadPolicy(server, first, folder);
    expect(manifest.details).toEqual({ scores: { heldOut: 0.5 } });
    for (const [name, text] of Object.entries(files)) {
      expect(await readFile(join(folder, 'files', name), 'utf8')).toBe(text);
    }
    // On the server, too, each version is a folder that nothing was left beside.
    expect((await readdir(join(world.data, 'policies'))).sort()).toEqual([
      'policy-v1',
      'policy-v2',
    ]);
  });

  test('say what is not there, and lead to no other file', async () => {
    const { server } = await published();
    const get = (path: string): Promise<Response> =>
      fetch(`${server.url}/v1/policies/${path}`, {
        headers: { authorization: `Bearer ${server.token}` },
      });
    expect((await get('1/files/onnx/model.onnx')).status).toBe(200);
    for (const path of [
      '3',
      '0',
      '01',
      'x',
      '9999999999999999999',
      '1/files/',
      '1/files/model.onnx',
      '1/files/onnx',
      '1/files/..%2fmanifest.json',
      '1/files/onnx/..%2f..%2f..%2f..%2fserver.sqlite',
      '1/files/%2fetc%2fpasswd',
    ]) {
      expect((await get(path)).status, path).toBe(404);
    }
    const nobody = await fetch(`${server.url}/v1/policies`);
    expect(nobody.status).toBe(401);
  });

  test('are refused where a file could not be kept as it is, and nothing is left of them', async () => {
    const world = await startWorld();
    const folder = await tempFolder();
    const publish = (): Promise<unknown> =>
      world.server.policies.publish({ folder, parent: null, scaffoldHash: 'f' });
    await expect(publish()).rejects.toThrow(/files/);
    await symlink('/etc/passwd', join(folder, 'link'));
    await expect(publish()).rejects.toThrow('link cannot be part of a policy version');
    const other = await tempFolder();
    await mkdir(join(other, '.git'));
    await expect(
      world.server.policies.publish({ folder: other, parent: null, scaffoldHash: 'f' }),
    ).rejects.toThrow('.git cannot be part');
    await writeFiles(other, {});
    await expect(
      world.server.policies.publish({ folder: other, parent: 7, scaffoldHash: 'f' }),
    ).rejects.toThrow('no policy version 7');
    expect(await readdir(join(world.data, 'policies'))).toEqual([]);
    expect(world.server.policies.list()).toEqual([]);
  });
});
