import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError, retryAdvice, toWire } from '../protocol/errors.ts';
import type { ServerAddress } from '../protocol/server-address.ts';
import { connect, fromWire, type LiveConnection } from './connection.ts';
import type { OutboxEntry } from './entry.ts';
import type { Outbox } from './outbox.ts';

export interface SendReport {
  readonly sent: number;
  /** They would be refused again. */
  readonly refused: number;
  /** They wait for another time. */
  readonly waiting: number;
}

export interface SendOptions {
  readonly client: { readonly name: string; readonly version: string };
  readonly signal?: AbortSignal;
  readonly onSent?: (entry: OutboxEntry) => void;
}

/** What the server says of one upload. */
type Verdict =
  | { readonly kind: 'stored' }
  | { readonly kind: 'refused'; readonly error: ProtocolError };

/**
 * Sends what waits, one after the other, over one connection. An upload that was cut off before goes on
 * where it ended. Whatever happens in the middle, each entry is either acknowledged and marked, or waits
 * still; sent twice, it is stored once. Rejects when the connection cannot be made or breaks.
 */
export async function sendWaiting(
  outbox: Outbox,
  server: ServerAddress,
  { client, signal, onSent }: SendOptions,
): Promise<SendReport> {
  const report = { sent: 0, refused: 0, waiting: 0 };
  const waiting = (await outbox.list()).filter(({ state }) => state.kind === 'waiting');
  if (waiting.length === 0) return report;
  signal?.throwIfAborted();
  const connection = await connect(server, client);
  const stop = (): void => connection.close();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    for (const entry of waiting) {
      signal?.throwIfAborted();
      const bytes = await outbox.packed(entry);
      // Withdrawn in the meantime.
      if (!bytes) continue;
      const verdict = await upload(connection, entry, bytes);
      if (verdict.kind === 'stored') {
        await outbox.markSent(entry, connection.welcome.server.id);
        report.sent += 1;
        onSent?.(entry);
      } else {
        const final = retryAdvice(verdict.error.code) === 'never';
        await outbox.markFailed(entry, toWire(verdict.error), final ? 'refused' : 'waiting');
        report[final ? 'refused' : 'waiting'] += 1;
      }
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    connection.close();
  }
  return report;
}

/** Of one entry on one connection, for what may work a moment later. */
const TRIES = 5;
const LONGEST_WAIT_MS = 5_000;

async function upload(
  connection: LiveConnection,
  entry: OutboxEntry,
  bytes: Buffer,
): Promise<Verdict> {
  for (let tries = 1; ; tries++) {
    const verdict = await uploadOnce(connection, entry, bytes);
    if (verdict.kind === 'stored') return verdict;
    const { code, retryAfterMs = 200 } = verdict.error;
    const soon = retryAdvice(code) === 'later' && retryAfterMs <= LONGEST_WAIT_MS;
    if (!soon || tries === TRIES) return verdict;
    await sleep(retryAfterMs);
  }
}

async function uploadOnce(
  connection: LiveConnection,
  { upload, bytes: length, contentSha256, contentBytes, attemptId }: OutboxEntry,
  bytes: Buffer,
): Promise<Verdict> {
  const { chunkBytes, windowBytes } = connection.welcome.limits;
  connection.send({
    type: 'upload.begin',
    upload,
    bytes: length,
    encoding: 'gzip',
    contentSha256,
    contentBytes,
    attemptId,
  });
  let ready = false;
  let sent = 0;
  for (;;) {
    const message = await connection.next();
    if (!message) throw new ProtocolError('shutting_down', 'the connection was closed');
    if (message.type === 'goodbye') throw fromWire(message.error);
    // What was said of an upload before this one is late news.
    if (!('upload' in message) || message.upload !== upload) continue;
    if (message.type === 'upload.stored') return { kind: 'stored' };
    if (message.type === 'upload.refused') {
      return { kind: 'refused', error: fromWire(message.error) };
    }
    if (message.type === 'upload.ready') {
      ready = true;
      sent = message.offset;
    }
    if (!ready) continue;
    while (sent < length && sent - message.offset < windowBytes) {
      const chunk = bytes.subarray(sent, sent + chunkBytes);
      await connection.sendChunk({ upload, offset: sent, bytes: chunk });
      sent += chunk.length;
    }
  }
}
