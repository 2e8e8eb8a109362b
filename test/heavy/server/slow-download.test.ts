import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startWorld } from '../../integration/server/world.ts';

test('a client of HTTP that stops reading is closed, and the file was not read ahead for it', async () => {
  const world = await startWorld({ timing: { silenceMs: 3_000 } });
  const token = world.token();
  const { sha256 } = await world.server.archives.add(randomBytes(48_000_000), {
    taskId: 't',
    contributor: 'alice',
  });
  const before = process.memoryUsage().arrayBuffers;
  const url = `${world.server.url}/v1/archives/${sha256}`;
  const sent = request(url, { headers: { authorization: `Bearer ${token}` } });
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    sent
      .on('error', reject)
      .on('response', (incoming) => resolve(incoming))
      .end(),
  );
  response.on('error', () => undefined);
  const ended = new Promise((resolve) => response.once('close', resolve));
  response.pause();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 20);
  await sleep(9_000);
  const health = await fetch(`${world.server.url}/healthz`);
  expect(health.status).toBe(200);
  clearInterval(watch);
  let received = 0;
  response.on('data', (piece: Buffer) => {
    received += piece.length;
  });
  response.resume();
  await ended;
  expect(response.complete).toBe(false);
  expect(received).toBeLessThan(48_000_000);
  expect(most).toBeLessThan(24_000_000);
});
