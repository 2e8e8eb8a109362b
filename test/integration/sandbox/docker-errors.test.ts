import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDockerSandbox } from '../../../src/core/sandbox/docker/docker.ts';
import { chooseSandbox } from '../../../src/core/sandbox/providers.ts';

/** Failures that need no engine. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'prime-docker-errors-'));
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (host: string) =>
  createDockerSandbox({ variables: { DOCKER_HOST: host }, home: folder }).availability();

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve) => server.listen(path, resolve));
}

describe('no engine', () => {
  test('no socket', async () => {
    const host = `unix://${folder}/none.sock`;
    expect(await at(host)).toEqual({
      available: false,
      reason: `No container engine answers at ${host}`,
      remedy:
        'Start it (`sudo systemctl start docker`, Docker Desktop, or the user service podman.socket), or name another one with DOCKER_HOST.',
    });
    expect(await chooseSandbox('docker', { environment: { DOCKER_HOST: host } })).toMatchObject({
      kind: 'unavailable',
      reason: `No sandbox: No container engine answers at ${host}.`,
    });
  });

  test('nothing listens at a port', async () => {
    const state = await at('tcp://127.0.0.1:9');
    expect(state).toMatchObject({ reason: 'No container engine answers at tcp://127.0.0.1:9' });
  });

  test('a socket without permission', async () => {
    const path = join(folder, 'closed.sock');
    const server = createServer();
    await listen(server, path);
    chmodSync(path, 0o600);
    const root = process.getuid?.() === 0;
    // Root may open everything: for this test it is somebody else.
    if (root) process.seteuid?.(65534);
    else chmodSync(path, 0o000);
    try {
      expect(await at(`unix://${path}`)).toEqual({
        available: false,
        reason: `You have no permission to use the container engine at unix://${path}`,
        remedy: expect.stringContaining('usermod -aG docker'),
      });
    } finally {
      if (root) process.seteuid?.(0);
      server.close();
    }
  });

  test('a socket at which nobody answers', async () => {
    const path = join(folder, 'silent.sock');
    const server = createServer(() => {});
    await listen(server, path);
    try {
      expect(await at(`unix://${path}`)).toMatchObject({
        available: false,
        reason: `The container engine at unix://${path} cannot be reached (ETIMEDOUT)`,
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('an engine that is there is given time to say what it is', async () => {
    const path = join(folder, 'slow.sock');
    const server = createServer(async ({ url }, response) => {
      const isInfo = url?.endsWith('/info') === true;
      // Podman on a busy machine.
      if (isInfo) await new Promise((resolve) => setTimeout(resolve, 11_000));
      const known = isInfo || url?.endsWith('/version') || url?.endsWith('/_ping');
      response.statusCode = known ? 200 : 404;
      response.setHeader('content-type', 'application/json');
      response.end(known ? '{"OSType":"linux","Version":"1"}' : '{"message":"No such image: x"}');
    });
    await listen(server, path);
    try {
      expect(await at(`unix://${path}`)).toMatchObject({
        available: false,
        reason: expect.stringMatching(/^The image .* is not on the container engine/),
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('something that is no engine', async () => {
    const path = join(folder, 'other.sock');
    const server = createServer((_, response) => {
      response.statusCode = 404;
      response.end('not here');
    });
    await listen(server, path);
    try {
      expect(await at(`unix://${path}`)).toMatchObject({
        available: false,
        reason: expect.stringMatching(/refused \(404\): .*not here/),
      });
    } finally {
      server.close();
    }
  });
});
