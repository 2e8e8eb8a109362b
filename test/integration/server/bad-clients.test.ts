import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws';
import { openFolders } from '../../../server/src/folders.ts';
import { openDatabase } from '../../../server/src/store/database.ts';
import { connect } from '../../../src/core/outbox/connection.ts';
import { createOutbox } from '../../../src/core/outbox/outbox.ts';
import { sendWaiting } from '../../../src/core/outbox/sender.ts';
import { encodeChunk } from '../../../src/core/protocol/frame.ts';
import { tempFolder } from '../../support/temp.ts';
import { packed, permit, startWorld, storedAttempts, trajectory, type World } from './world.ts';

const client = { name: 'test', version: '0.0.0' };

/** A busy machine may take its time. */
const soon = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 30_000 });

interface RawClient {
  readonly socket: WebSocket;
  /** Every message so far, as text. */
  readonly heard: string[];
  readonly closed: Promise<unknown>;
}

/** A client that does by hand what this suite needs it to do wrong. */
async function raw(world: World, options: ClientOptions = {}): Promise<RawClient> {
  const token = world.token();
  const url = `${world.server.url.replace('http', 'ws')}/v1/live`;
  const socket = new WebSocket(url, { perMessageDeflate: false, ...options });
  onTestFinished(() => socket.terminate());
  socket.on('error', () => undefined);
  const heard: string[] = [];
  socket.on('message', (data) => heard.push(String(data)));
  const closed = once(socket, 'close');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'hello', versions: [1], client, token }));
  await soon(() => expect(heard[0]).toContain('welcome'));
  return { socket, heard, closed };
}

/** Somebody else is served as if nothing were. */
async function othersAreServed(world: World, id: string): Promise<void> {
  const outbox = createOutbox(await tempFolder());
  await outbox.enqueue(trajectory(id, 50_000), await permit());
  const server = { url: world.server.url, token: world.token('contributor', 'bob') };
  expect(await sendWaiting(outbox, server, { client })).toMatchObject({ sent: 1 });
}

describe('a slow client', () => {
  test('that does not read is cut off before it costs memory, and the log says why', async () => {
    const world = await startWorld({ rate: { requestsPerMinute: 100_000 } });
    const db = openDatabase(openFolders(world.data).database);
    const at = new Date().toISOString();
    const insert = db.prepare("INSERT INTO series (name, at, value) VALUES ('full', ?, ?)");
    db.transaction(() => {
      for (let count = 0; count < 1_000; count++) insert.run(at, count);
    })();
    db.close();
    const { socket } = await raw(world);
    socket.pause();
    // Each answer has some 70 kB; all of them would be 28 MB.
    const question = JSON.stringify({ type: 'series.get', id: 'q', name: 'full', after: 0 });
    const before = process.memoryUsage().external;
    let most = 0;
    for (let count = 0; count < 400; count++) {
      socket.send(question);
      if (count % 50 === 0) await sleep(1);
      most = Math.max(most, process.memoryUsage().external - before);
    }
    await soon(() => expect(world.lines.join('')).toContain('a client does not read: cut off'));
    expect(most).toBeLessThan(20_000_000);
    const metrics = await fetch(`${world.server.url}/metrics`, {
      headers: { authorization: `Bearer ${world.token('admin', 'root')}` },
    });
    expect(await metrics.text()).toContain('prime_agent_errors_total{code="slow_client"} 1');
    await othersAreServed(world, 'other');
  });

  test('whose upload stands still is told so, and goes on there later', async () => {
    const world = await startWorld({ timing: { stallMs: 1_000 } });
    const { socket, heard, closed } = await raw(world);
    const { begin, bytes } = packed(trajectory('slow', 200_000));
    socket.send(JSON.stringify(begin));
    await soon(() => expect(heard.at(-1)).toContain('upload.ready'));
    // One byte at a time, and pongs: alive, and never done.
    let offset = 0;
    const drip = setInterval(() => {
      if (socket.readyState !== socket.OPEN) return;
      const chunk = { upload: begin.upload, offset, bytes: bytes.subarray(offset, offset + 1) };
      socket.send(encodeChunk(chunk));
      offset += 1;
    }, 5);
    await closed;
    clearInterval(drip);
    const last = JSON.parse(heard.at(-1) ?? '{}');
    expect(last).toMatchObject({ type: 'goodbye', error: { code: 'timeout' } });
    expect(last.error.message).toMatch(/stands at byte \d+ of \d+: \d+ bytes came within 1000 ms/);
    const again = await connect({ url: world.server.url, token: world.token() }, client);
    again.send(begin);
    const ready = await again.next();
    if (ready?.type !== 'upload.ready') throw new Error('not ready');
    expect(ready.offset).toBeGreaterThan(0);
    await again.sendChunk({
      upload: begin.upload,
      offset: ready.offset,
      bytes: bytes.subarray(ready.offset),
    });
    await soon(() => expect(storedAttempts(world.data)).toEqual(['slow']));
    again.close();
  });

  test('that is quick enough is left alone', async () => {
    const world = await startWorld({ timing: { stallMs: 1_000 } });
    const { socket, heard } = await raw(world);
    const { begin, bytes } = packed(trajectory('steady', 300_000));
    socket.send(JSON.stringify(begin));
    await soon(() => expect(heard.at(-1)).toContain('upload.ready'));
    for (let at = 0; at < bytes.length; at += 10_000) {
      const chunk = bytes.subarray(at, at + 10_000);
      socket.send(encodeChunk({ upload: begin.upload, offset: at, bytes: chunk }));
      await sleep(40);
    }
    await soon(() => expect(heard.at(-1)).toContain('upload.stored'));
  });
});

describe('a silent', () => {
  test('client is told and closed; one that answers pings is not', async () => {
    const world = await startWorld({ timing: { heartbeatMs: 100, silenceMs: 2_000 } });
    const alive = await raw(world);
    const dead = await raw(world, { autoPong: false });
    await dead.closed;
    expect(JSON.parse(dead.heard.at(-1) ?? '{}')).toMatchObject({
      type: 'goodbye',
      error: { code: 'timeout', message: expect.stringContaining('nothing was heard for') },
    });
    expect(alive.socket.readyState).toBe(WebSocket.OPEN);
    await othersAreServed(world, 'other');
  });

  test('server is given up by the client, with the reason', async () => {
    const silent = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => silent.close());
    await once(silent, 'listening');
    const world = await startWorld();
    const genuine = await connect({ url: world.server.url, token: world.token() }, client);
    silent.on('connection', (socket) => {
      socket.on('message', () => socket.send(JSON.stringify(genuine.welcome)));
    });
    const { port } = silent.address() as { port: number };
    const url = `http://127.0.0.1:${port}`;
    const connection = await connect({ url, token: 'pa_x' }, client, { silenceMs: 1_500 });
    await expect(connection.next()).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('the server was silent for 1.5 s'),
    });
    genuine.close();
  });
});

describe('a clock that jumps', () => {
  test.each([
    ['ten years ahead', 10],
    ['ten years back', -10],
  ])('%s changes no limit, ends no connection and loses no upload', async (_name, years) => {
    onTestFinished(() => void vi.useRealTimers());
    const world = await startWorld({
      timing: { heartbeatMs: 40, silenceMs: 8_000, stallMs: 20_000 },
      rate: { uploadsPerMinute: 3 },
    });
    const { socket, heard } = await raw(world);
    const begin = (id: string): ReturnType<typeof packed> => {
      const upload = packed(trajectory(id, 60_000));
      socket.send(JSON.stringify(upload.begin));
      return upload;
    };
    const half = begin('half');
    await soon(() => expect(heard.at(-1)).toContain('upload.ready'));
    const { upload } = half.begin;
    socket.send(encodeChunk({ upload, offset: 0, bytes: half.bytes.subarray(0, 1_000) }));
    await soon(() => expect(heard.at(-1)).toContain('upload.progress'));
    begin('second');
    await soon(() => expect(heard.at(-1)).toContain('upload.ready'));

    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + years * 365 * 86_400_000);
    await world.server.retention.run('orphans');
    await sleep(200);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    // The third and last of this minute; no jump gives more, and none takes one away.
    begin('third');
    await soon(() => expect(heard.at(-1)).toContain('upload.ready'));
    begin('fourth');
    await soon(() => expect(heard.at(-1)).toContain('rate_limited'));
    socket.send(encodeChunk({ upload, offset: 1_000, bytes: half.bytes.subarray(1_000) }));
    await soon(() => expect(heard.at(-1)).toContain('upload.stored'));
    expect(storedAttempts(world.data)).toEqual(['half']);
  });
});

describe('rates', () => {
  test('of requests are told with the time to wait', async () => {
    const world = await startWorld({ rate: { requestsPerMinute: 3 } });
    const get = (): Promise<Response> => fetch(`${world.server.url}/healthz`);
    for (let count = 0; count < 3; count++) expect((await get()).status).toBe(200);
    const refused = await get();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } });
    await expect(connect({ url: world.server.url, token: world.token() }, client)).rejects.toThrow(
      '429',
    );
  });

  test('of uploads make a client wait, and nothing is lost by it', async () => {
    const world = await startWorld({ rate: { uploadsPerMinute: 120 } });
    const outbox = createOutbox(join(await tempFolder(), 'outbox'));
    const allowed = await permit();
    const ids = Array.from({ length: 3 }, (_, index) => `r-${index}`);
    for (const id of ids) await outbox.enqueue(trajectory(id), allowed);
    const server = { url: world.server.url, token: world.token() };
    // A bucket of its own that is empty: each upload has to wait half a second.
    const connection = await connect(server, client);
    for (let count = 0; count < 120; count++) {
      connection.send({ ...packed(trajectory(`e-${count}`)).begin });
      await connection.next();
    }
    connection.close();
    expect(await sendWaiting(outbox, server, { client })).toEqual({
      sent: 3,
      refused: 0,
      waiting: 0,
      files: { sent: 0, refused: 0, waiting: 0 },
    });
    expect(storedAttempts(world.data)).toEqual(ids);
  });
});
