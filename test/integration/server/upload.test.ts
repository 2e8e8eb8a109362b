import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createOutbox } from '../../../src/core/outbox/outbox.ts';
import { sendWaiting } from '../../../src/core/outbox/sender.ts';
import type { ClientMessage } from '../../../src/core/protocol/client-messages.ts';
import type { ServerMessage } from '../../../src/core/protocol/server-messages.ts';
import { toJsonLines } from '../../../src/core/trajectories/export.ts';
import { tempFolder } from '../../support/temp.ts';
import { client, connected, upload } from './upload-by-hand.ts';
import { packed, permit, sha256, startWorld, storedAttempts, trajectory } from './world.ts';

const NONE = { sent: 0, refused: 0, waiting: 0 };

describe('a trajectory', () => {
  test('goes from the outbox to a blob that is named by its hash and an entry', async () => {
    const world = await startWorld();
    const outbox = createOutbox(await tempFolder());
    const record = trajectory('attempt-1', 600_000);
    expect(await outbox.enqueue(record, await permit())).toMatchObject({ kind: 'queued' });
    const server = { url: world.server.url, token: world.token() };
    expect(await sendWaiting(outbox, server, { client })).toEqual({
      sent: 1,
      refused: 0,
      waiting: 0,
      files: NONE,
    });
    const [entry] = await outbox.list();
    expect(entry).toMatchObject({ attemptId: 'attempt-1', state: { kind: 'sent' } });
    expect(storedAttempts(world.data)).toEqual(['attempt-1']);
    const name = entry?.upload ?? '';
    const blob = await readFile(join(world.data, 'blobs', name.slice(0, 2), name));
    expect(sha256(blob)).toBe(name);
    expect(await readdir(join(world.data, 'incoming'))).toEqual([]);
    // Nothing waits: not even a connection is made.
    expect(await sendWaiting(outbox, { ...server, url: 'http://127.0.0.1:1' }, { client })).toEqual(
      {
        sent: 0,
        refused: 0,
        waiting: 0,
        files: NONE,
      },
    );
  });

  test('that is sent twice is stored once; another one under its name is refused', async () => {
    const world = await startWorld();
    const connection = await connected(world);
    const record = packed(trajectory('twice'));
    expect(await upload(connection, record)).toMatchObject({
      type: 'upload.stored',
      duplicate: false,
    });
    expect(await upload(connection, record)).toMatchObject({
      type: 'upload.stored',
      duplicate: true,
    });
    const other = packed(trajectory('twice', 50));
    expect(await upload(connection, other)).toMatchObject({
      type: 'upload.refused',
      error: { code: 'conflict' },
    });
    expect(storedAttempts(world.data)).toEqual(['twice']);
    connection.close();
  });

  test('that was cut off goes on where it ended, on another connection', async () => {
    const world = await startWorld();
    const token = world.token();
    const { begin, bytes } = packed(trajectory('resumed', 300_000));
    const first = await connected(world, token);
    first.send(begin);
    expect(await first.next()).toMatchObject({ type: 'upload.ready', offset: 0 });
    await first.sendChunk({ upload: begin.upload, offset: 0, bytes: bytes.subarray(0, 100_000) });
    expect(await first.next()).toMatchObject({ type: 'upload.progress', offset: 100_000 });
    // Another contributor does not see it.
    const stranger = await connected(world, world.token('contributor', 'bob'));
    stranger.send(begin);
    expect(await stranger.next()).toMatchObject({ type: 'upload.ready', offset: 0 });
    // The old connection hangs and is never closed: the new one takes over.
    const second = await connected(world, token);
    second.send(begin);
    expect(await second.next()).toMatchObject({ type: 'upload.ready', offset: 100_000 });
    await second.sendChunk({
      upload: begin.upload,
      offset: 100_000,
      bytes: bytes.subarray(100_000),
    });
    expect(await second.next()).toMatchObject({ type: 'upload.progress', offset: bytes.length });
    expect(await second.next()).toMatchObject({ type: 'upload.stored' });
    for (const connection of [first, second, stranger]) connection.close();
  });

  test('keeps its reward as a claim', async () => {
    const world = await startWorld();
    const connection = await connected(world);
    expect(await upload(connection, packed(trajectory()))).toMatchObject({ claim: 'waiting' });
    connection.send({ type: 'status.get', id: 's' });
    expect(await connection.next()).toMatchObject({
      type: 'status',
      id: 's',
      snapshot: { state: 'running', trajectories: { total: 1, waiting: 1, holds: 0 } },
    });
    connection.close();
  });
});

describe('an upload is refused, and the connection goes on, when', () => {
  const good = trajectory('a-1');
  const { header, turns, end } = good;
  const [turn] = turns;
  if (!turn || !end) throw new Error('the record is complete');
  const withTokens = (logprobs: number[]): typeof good => ({
    ...good,
    turns: [
      { ...turn, reply: { ...turn.reply, tokens: { promptIds: [1], sampledIds: [2], logprobs } } },
    ],
  });
  const bomb = gzipSync(Buffer.alloc(20_000_000));

  test.each([
    ['it has no end', packed({ ...good, end: undefined }), 'not_uploadable', 'no end'],
    [
      'it is local only',
      packed({ ...good, end: { ...end, localOnly: true } }),
      'not_uploadable',
      'local only',
    ],
    [
      'its reward is not that of its outcome',
      packed({ ...good, end: { ...end, outcome: 'failed', reward: 1 } }),
      'bad_content',
      'does not belong to the outcome failed',
    ],
    [
      'turns are missing',
      packed({ ...good, turns: [] }),
      'bad_content',
      'counts 1 turns, the record has 0',
    ],
    [
      'an observation belongs to no call',
      packed({ ...good, turns: [{ ...turn, reply: { ...turn.reply, calls: [] } }] }),
      'bad_content',
      'belongs to no call',
    ],
    ['a log-probability is none', packed(withTokens([0.5])), 'bad_content', 'no logarithm'],
    ['log-probabilities are missing', packed(withTokens([])), 'bad_content', 'same length'],
    [
      'it names another attempt',
      packed(good, { attemptId: 'a-2' }),
      'bad_content',
      'another attempt',
    ],
    ['it is no record', packed('{"type":"header"}\n'), 'bad_content', 'line 1'],
    [
      'it holds two records',
      packed(toJsonLines({ ...good, header }) + toJsonLines(good)),
      'bad_content',
      'several records',
    ],
    [
      'the content has another hash',
      packed(good, { contentSha256: 'a'.repeat(64) }),
      'bad_content',
      'another sha256',
    ],
    [
      'it unpacks to less than was said',
      packed(good, { contentBytes: 1_000_000 }),
      'bad_content',
      'unpacks to',
    ],
    [
      'it is a bomb',
      { begin: { ...packed(good).begin, upload: sha256(bomb), bytes: bomb.length }, bytes: bomb },
      'bad_content',
      'unpacks to more than',
    ],
    [
      'the bytes are others',
      { begin: packed(good).begin, bytes: Buffer.alloc(packed(good).bytes.length) },
      'hash_mismatch',
      'not what was announced',
    ],
  ] as const)('%s', async (_name, sent, code, text) => {
    const world = await startWorld();
    const connection = await connected(world);
    expect(await upload(connection, sent)).toMatchObject({
      type: 'upload.refused',
      error: { code, message: expect.stringContaining(text) },
    });
    expect(storedAttempts(world.data)).toEqual([]);
    expect(await readdir(join(world.data, 'incoming'))).toEqual([]);
    expect(await upload(connection, packed(good))).toMatchObject({ type: 'upload.stored' });
    connection.close();
  });

  test('it is too large, too much for the quota, or the server is paused', async () => {
    const world = await startWorld({
      limits: { uploadBytes: 50_000 },
      quota: { trajectories: 1 },
    });
    const admin = await connected(world, world.token('admin', 'root'));
    const connection = await connected(world);
    const refused = async (id: string, padding = 0): Promise<unknown> => {
      const verdict = await upload(connection, packed(trajectory(id, padding)));
      return verdict?.type === 'upload.refused' ? verdict.error.code : verdict?.type;
    };
    expect(await refused('large', 200_000)).toBe('too_large');
    admin.send({ type: 'control', id: 'c', action: 'pause', reason: 'moving house' });
    expect(await admin.next()).toMatchObject({ type: 'control.done', state: 'paused' });
    expect(await refused('one')).toBe('paused');
    admin.send({ type: 'control', id: 'c', action: 'resume' });
    await admin.next();
    expect(await refused('one')).toBe('upload.stored');
    expect(await refused('two')).toBe('quota_exceeded');
    admin.send({ type: 'announcements.follow', id: 'n', after: 0 });
    expect(await admin.next()).toMatchObject({
      announcement: { cursor: 1, text: 'root has paused the server: moving house' },
    });
    for (const each of [admin, connection]) each.close();
  });
});

describe('the live connection', () => {
  const raw = (text: string): ClientMessage => JSON.parse(text);

  test.each([
    ['a wrong token', 'pa_0000000000000000_wrong', 'unauthorized'],
    ['a token that is not one', 'hunter2', 'unauthorized'],
  ])('is closed on %s, which no log repeats', async (_name, token, code) => {
    const world = await startWorld();
    await expect(connected(world, token)).rejects.toMatchObject({ code });
    expect(world.lines.join('')).toContain('a wrong token');
    expect(world.lines.join('')).not.toContain(token);
  });

  test('counts wrong tokens per address, and takes none for a while', async () => {
    const world = await startWorld({ rate: { failuresPerMinute: 2 } });
    const good = world.token();
    for (let count = 0; count < 2; count++) {
      await expect(connected(world, 'wrong')).rejects.toMatchObject({ code: 'unauthorized' });
    }
    await expect(connected(world, good)).rejects.toMatchObject({ code: 'rate_limited' });
  });

  test('is closed with the reason when a message does not fit', async () => {
    const world = await startWorld();
    const connection = await connected(world);
    connection.send(raw('{"type":"launch"}'));
    expect(await connection.next()).toMatchObject({
      type: 'goodbye',
      error: { code: 'bad_message' },
    });
    expect(await connection.next()).toBeUndefined();
  });

  test('is closed when no hello comes', async () => {
    const world = await startWorld({ timing: { helloMs: 100 } });
    const { WebSocket } = await import('ws');
    const socket = new WebSocket(`${world.server.url.replace('http', 'ws')}/v1/live`);
    const said = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))));
    expect(await said).toContain('no hello came within 100 ms');
  });

  test('lets contributors not control the server', async () => {
    const world = await startWorld();
    const connection = await connected(world);
    connection.send({ type: 'control', id: 'c', action: 'pause' });
    expect(await connection.next()).toMatchObject({ type: 'error', error: { code: 'forbidden' } });
    connection.close();
  });

  test('gives series from a cursor', async () => {
    const world = await startWorld({ timing: { seriesMs: 100 } });
    const connection = await connected(world);
    const ask = async (after: number): Promise<Extract<ServerMessage, { type: 'series' }>> => {
      for (;;) {
        connection.send({ type: 'series.get', id: 'x', name: 'connections', after, limit: 1 });
        const message = await connection.next();
        if (message?.type !== 'series') throw new Error('no series');
        if (message.points.length > 0) return message;
      }
    };
    const first = await ask(0);
    const second = await ask(first.next);
    expect(second.points[0]?.cursor).toBeGreaterThan(first.next);
    connection.close();
  });

  test('ends with a goodbye when the server goes down, and all that was stored is there', async () => {
    const world = await startWorld();
    const connection = await connected(world);
    await upload(connection, packed(trajectory('last')));
    const closed = world.server.close();
    expect(await connection.next()).toMatchObject({
      type: 'goodbye',
      error: { code: 'shutting_down' },
    });
    connection.close();
    await closed;
    expect(storedAttempts(world.data)).toEqual(['last']);
  });
});

test('files of the data folder can be read by its owner alone, and hold no token', async () => {
  const world = await startWorld();
  const token = world.token();
  const connection = await connected(world, token);
  await upload(connection, packed(trajectory()));
  connection.close();
  await world.server.close();
  for (const entry of await readdir(world.data, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    expect((await stat(path)).mode & 0o077, path).toBe(0);
    if (entry.isFile()) expect((await readFile(path)).includes(token.slice(-43)), path).toBe(false);
  }
});
