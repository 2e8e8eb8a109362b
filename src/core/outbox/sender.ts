import { setTimeout as sleep } from 'node:timers/promises';
import type { ArchiveBegin, UploadBegin } from '../protocol/client-messages.ts';
import { ProtocolError, retryAdvice, toWire } from '../protocol/errors.ts';
import type { ServerAddress } from '../protocol/server-address.ts';
import { ARCHIVES_SINCE } from '../protocol/version.ts';
import { connect, fromWire, type LiveConnection } from './connection.ts';
import type { OutboxEntry } from './entry.ts';
import { filesWait, type Outbox } from './outbox.ts';

export interface SendReport {
  readonly sent: number;
  /** They would be refused again. */
  readonly refused: number;
  /** They wait for another time. */
  readonly waiting: number;
  /** The same of the files that attempts had before them. */
  readonly files: { readonly sent: number; readonly refused: number; readonly waiting: number };
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
 * Sends what waits, one after the other, over one connection: a record, then the files that its attempt had before it.
 * An upload that was cut off before goes on where it ended. Whatever happens in the middle, each is either acknowledged
 * and marked, or waits still; sent twice, it is stored once. Rejects when the connection cannot be made or breaks.
 */
export async function sendWaiting(
  outbox: Outbox,
  server: ServerAddress,
  { client, signal, onSent }: SendOptions,
): Promise<SendReport> {
  const report = { sent: 0, refused: 0, waiting: 0, files: { sent: 0, refused: 0, waiting: 0 } };
  const waiting = (await outbox.list()).filter(isUnsent);
  if (waiting.length === 0) return report;
  signal?.throwIfAborted();
  const connection = await connect(server, client);
  const stop = (): void => connection.close();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    for (const entry of waiting) {
      signal?.throwIfAborted();
      if (entry.state.kind === 'waiting') {
        const outcome = await sendRecord(outbox, connection, entry);
        if (outcome === undefined) continue;
        report[outcome] += 1;
        if (outcome === 'sent') onSent?.(entry);
      }
      const outcome = await sendFiles(outbox, connection, entry);
      if (outcome !== undefined) report.files[outcome] += 1;
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    connection.close();
  }
  return report;
}

function isUnsent(entry: OutboxEntry): boolean {
  const { kind } = entry.state;
  return kind === 'waiting' || (kind === 'sent' && filesWait(entry));
}

type Outcome = 'sent' | 'refused' | 'waiting';

/** undefined: withdrawn in the meantime. */
async function sendRecord(
  outbox: Outbox,
  connection: LiveConnection,
  entry: OutboxEntry,
): Promise<Outcome | undefined> {
  const bytes = await outbox.packed(entry);
  if (!bytes) return undefined;
  const { upload, contentSha256, contentBytes, attemptId } = entry;
  const verdict = await send(connection, bytes, {
    type: 'upload.begin',
    upload,
    bytes: entry.bytes,
    encoding: 'gzip',
    contentSha256,
    contentBytes,
    attemptId,
  });
  if (verdict.kind === 'stored') {
    await outbox.markSent(entry, connection.welcome.server.id);
    return 'sent';
  }
  const state = retryAdvice(verdict.error.code) === 'never' ? 'refused' : 'waiting';
  await outbox.markFailed(entry, toWire(verdict.error), state);
  return state;
}

/** After its record, and to the server that has it. undefined: there is nothing to send there. */
async function sendFiles(
  outbox: Outbox,
  connection: LiveConnection,
  { attemptId }: OutboxEntry,
): Promise<Outcome | undefined> {
  const { server, version, limits } = connection.welcome;
  const entry = await outbox.find(attemptId);
  if (entry?.state.kind !== 'sent' || entry.state.serverId !== server.id) return undefined;
  if (entry.files?.kind !== 'waiting') return undefined;
  const { files } = entry;
  const { sha256, bytes: length, taskId, leftOut } = files;
  const at = new Date().toISOString();
  const { archiveBytes } = limits;
  if (version < ARCHIVES_SINCE || archiveBytes === undefined) {
    const message = `the server speaks version ${version} of the protocol and takes no files; update it`;
    const lastError = { code: 'unsupported_version' as const, message };
    await outbox.markFiles(entry, { ...files, lastError });
    return 'waiting';
  }
  if (length > archiveBytes) {
    const message = `the files have ${length} bytes packed, this server takes ${archiveBytes}; the record is there without them`;
    await outbox.markFiles(entry, { kind: 'refused', at, error: { code: 'too_large', message } });
    return 'refused';
  }
  const bytes = await outbox.archive(entry);
  if (!bytes) return undefined;
  const verdict = await send(connection, bytes, {
    type: 'archive.begin',
    upload: sha256,
    bytes: length,
    taskId,
    leftOut,
  });
  if (verdict.kind === 'stored') {
    await outbox.markFiles(entry, { kind: 'sent', at, sha256 });
    return 'sent';
  }
  const error = toWire(verdict.error);
  if (retryAdvice(error.code) === 'never') {
    await outbox.markFiles(entry, { kind: 'refused', at, error });
    return 'refused';
  }
  await outbox.markFiles(entry, { ...files, lastError: error });
  return 'waiting';
}

/** Of one upload on one connection, for what may work a moment later. */
const TRIES = 5;
const LONGEST_WAIT_MS = 5_000;

async function send(
  connection: LiveConnection,
  bytes: Buffer,
  begin: UploadBegin | ArchiveBegin,
): Promise<Verdict> {
  for (let tries = 1; ; tries++) {
    const verdict = await sendOnce(connection, bytes, begin);
    if (verdict.kind === 'stored') return verdict;
    const { code, retryAfterMs = 200 } = verdict.error;
    const soon = retryAdvice(code) === 'later' && retryAfterMs <= LONGEST_WAIT_MS;
    if (!soon || tries === TRIES) return verdict;
    await sleep(retryAfterMs);
  }
}

async function sendOnce(
  connection: LiveConnection,
  bytes: Buffer,
  begin: UploadBegin | ArchiveBegin,
): Promise<Verdict> {
  const { upload } = begin;
  const { chunkBytes, windowBytes } = connection.welcome.limits;
  connection.send(begin);
  let ready = false;
  let sent = 0;
  for (;;) {
    const message = await connection.next();
    if (!message) throw new ProtocolError('shutting_down', 'the connection was closed');
    if (message.type === 'goodbye') throw fromWire(message.error);
    // What was said of an upload before this one is late news.
    if (!('upload' in message) || message.upload !== upload) continue;
    if (message.type === 'upload.stored' || message.type === 'archive.stored') {
      return { kind: 'stored' };
    }
    if (message.type === 'upload.refused') {
      return { kind: 'refused', error: fromWire(message.error) };
    }
    if (message.type === 'upload.ready') {
      ready = true;
      sent = message.offset;
    }
    if (!ready) continue;
    while (sent < bytes.length && sent - message.offset < windowBytes) {
      const chunk = bytes.subarray(sent, sent + chunkBytes);
      await connection.sendChunk({ upload, offset: sent, bytes: chunk });
      sent += chunk.length;
    }
  }
}
