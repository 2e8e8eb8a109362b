import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws';
import { openFolders } from '../../../server/src/folders.ts';
import { openDatabase } from '../../../server/src/store/database.ts';
import { connect } from '../../../src/core/outbox/connection.ts';
import { createOutbox } from '../../../src/core/outbox/outbox.ts';
import { sendWaiting } from '../../../src/core/outbox/sender.ts';
import { encodeChunk } from '../../../src/core/protocol/frame.ts';
import { MAX_MESSAGE_BYTES } from '../../../src/core/protocol/limits.ts';
import { tempFolder } from '../../support/temp.ts';
import { packed, permit, startWorld, storedAttempts, trajectory, type World } from './world.ts';

const client = { name: 'test', version: '0.0.0' };

/** A busy machine may take its time. */
const soon = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 30_000 });

interface RawClient {
  readonly socket: WebSocket;
  /** Every message so far, as text. */
  readonly heard: string[];
  readonly closed: Promise<unknown[]>;
}

/** A client that does by hand what this suite needs it to do wrong. */
async function raw(world: World, options: ClientOptions = {}): Promise<RawClient> {
  const token = world.token();
  const opened = await open(world, { perMessageDeflate: false, ...options });
  opened.socket.send(JSON.stringify({ type: 'hello', versions: [1], client, token }));
  await soon(() => expect(opened.heard[0]).toContain('welcome'));
  return opened;
}

/** A connection over which nothing was said yet. */
async function open(world: World, options: ClientOptions = {}): Promise<RawClient> {
  const socket = new WebSocket(`${world.server.url.replace('http', 'ws')}/v1/live`, options);
  onTestFinished(() => socket.terminate());
  socket.on('error', () => undefined);
  const heard: string[] = [];
  socket.on('message', (data) => heard.push(String(data)));
  const closed = once(socket, 'close');
  await once(socket, 'open');
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

describe('a request over HTTP that trickles', () => {
  /** Says `begin`, then a byte now and then, for as long as it is let. */
  function drip(
    world: World,
    begin: string,
  ): Promise<{ readonly heard: string; readonly ms: number }> {
    const { hostname, port } = new URL(world.server.url);
    const began = performance.now();
    const socket = createConnection({ host: hostname, port: Number(port) });
    onTestFinished(() => void socket.destroy());
    let heard = '';
    socket.on('data', (text) => {
      heard += String(text);
    });
    socket.on('error', () => undefined);
    socket.write(begin);
    const timer = setInterval(() => socket.writable && socket.write('a'), 50);
    return new Promise((resolve) => {
      socket.on('close', () => {
        clearInterval(timer);
        resolve({ heard, ms: performance.now() - began });
      });
    });
  }

  test.each([
    ['in its headers', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    ['before them', 'GET /heal'],
    [
      'in its body',
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 60000\r\n\r\n',
    ],
  ])(
    '%s is told so and ended, and so are three hundred; others are served',
    async (_name, begin) => {
      const world = await startWorld({ timing: { requestMs: 1_500 } });
      const before = process.memoryUsage().rss;
      const slow = Array.from({ length: 300 }, () => drip(world, begin));
      await othersAreServed(world, 'other');
      const ends = await Promise.all(slow);
      const told = ends.filter(({ heard }) => /^HTTP\/1\.1 4/.test(heard));
      expect(told).toHaveLength(ends.length);
      const late = ends.filter(({ heard }) =>
        heard.includes('the request did not come within 1500 ms'),
      );
      // A body for an address where nothing is may be refused before it has come.
      if (!begin.startsWith('POST')) expect(late).toHaveLength(ends.length);
      expect(Math.max(...ends.map(({ ms }) => ms))).toBeLessThan(20_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
      const health = await fetch(`${world.server.url}/healthz`);
      expect(health.status).toBe(200);
    },
  );

  test('holds no more sockets than there may be', async () => {
    const world = await startWorld({ limits: { connections: 1 }, timing: { requestMs: 20_000 } });
    const { hostname, port } = new URL(world.server.url);
    const sockets = Array.from({ length: 400 }, () => {
      const socket = createConnection({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      socket.write('GET /heal');
      return socket;
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await soon(() =>
      expect(
        sockets.filter(({ destroyed, readyState }) => !destroyed && readyState === 'open').length,
      ).toBe(257),
    );
    for (const socket of sockets) socket.destroy();
    await soon(async () => expect((await fetch(`${world.server.url}/healthz`)).status).toBe(200));
  });
});

describe('a message', () => {
  test('in a version that nobody speaks here is answered with those that are, before any token is looked at', async () => {
    const world = await startWorld({ rate: { failuresPerMinute: 1 } });
    for (const versions of [[7], [99, 100]]) {
      const { socket, heard, closed } = await open(world);
      socket.send(JSON.stringify({ type: 'hello', versions, client, token: 'pa_wrong' }));
      await closed;
      expect(JSON.parse(heard.at(-1) ?? '')).toMatchObject({
        type: 'goodbye',
        error: {
          code: 'unsupported_version',
          message: expect.stringMatching(
            /the client speaks .*, the server 1, 2\. Update the server/,
          ),
        },
      });
    }
    await othersAreServed(world, 'other');
  });

  test('of too many bytes ends its connection at its length, before they have come', async () => {
    const world = await startWorld();
    for (const [name, kind] of [
      ['text', 0x81],
      ['bytes', 0x82],
    ] as const) {
      const { socket, closed } = await open(world);
      const wire: Duplex = Reflect.get(socket, '_socket');
      const head = Buffer.alloc(14);
      head.set([kind, 0xff]);
      head.writeBigUInt64BE(64n * 1024n * 1024n, 2);
      wire.write(head);
      // "Message too big", WebSocket's own word for it.
      expect((await closed)[0], name).toBe(1009);
    }
    const { socket, heard, closed } = await raw(world);
    socket.send('x'.repeat(MAX_MESSAGE_BYTES + 65));
    expect((await closed)[0]).toBe(1009);
    expect(heard.join('')).not.toContain('internal');
    await othersAreServed(world, 'other');
  });

  test('of any other bytes ends its connection with the reason, and nothing else', async () => {
    const world = await startWorld({
      rate: { requestsPerMinute: 10_000, failuresPerMinute: 1_000 },
    });
    const before = ['null', '[]', '""', '{', '\u0000', '{"type":"hello"}', '{"type":"__proto__"}'];
    const pieces = [...before, '['.repeat(100_000), randomBytes(5_000), Buffer.alloc(0)];
    for (const piece of pieces) {
      const fresh = await open(world);
      fresh.socket.send(piece);
      await fresh.closed;
      expect(JSON.parse(fresh.heard.at(-1) ?? '{}'), String(piece)).toMatchObject({
        type: 'goodbye',
        error: {
          code: expect.stringMatching(/^(bad_message|unauthorized)$/),
          message: expect.stringMatching(/.{10}/),
        },
      });
      const known = await raw(world);
      known.socket.send(piece);
      await known.closed;
      expect(JSON.parse(known.heard.at(-1) ?? '{}'), String(piece)).toMatchObject({
        type: 'goodbye',
        error: { code: expect.stringMatching(/^(bad_message|unknown_upload)$/) },
      });
    }
    await othersAreServed(world, 'other');
    expect(storedAttempts(world.data)).toEqual(['other']);
  });

  test('that is played again, by its sender or by another, stores nothing twice', async () => {
    const world = await startWorld();
    const { begin, bytes } = packed(trajectory('played', 60_000));
    const chunk = encodeChunk({ upload: begin.upload, offset: 0, bytes });
    for (const expected of [false, true, true]) {
      const { socket, heard } = await raw(world);
      socket.send(JSON.stringify(begin));
      await soon(() => expect(heard.at(-1)).toMatch(/upload\.(ready|stored)/));
      socket.send(chunk);
      await soon(() => expect(heard.join('')).toContain('upload.stored'));
      const stored = heard.find((line) => line.includes('upload.stored')) ?? '';
      expect(JSON.parse(stored)).toMatchObject({ duplicate: expected });
      socket.terminate();
    }
    expect(storedAttempts(world.data)).toEqual(['played']);
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
