import type { RawData, WebSocket } from 'ws';
import type { ClientMessage } from '../../../src/core/protocol/client-messages.ts';
import { closeCode, ProtocolError, toWire } from '../../../src/core/protocol/errors.ts';
import { decodeChunk } from '../../../src/core/protocol/frame.ts';
import {
  MAX_CHUNK_BYTES,
  MAX_WAITING_BYTES,
  UPLOAD_WINDOW_BYTES,
} from '../../../src/core/protocol/limits.ts';
import { parseClientMessage } from '../../../src/core/protocol/messages.ts';
import type { ServerMessage } from '../../../src/core/protocol/server-messages.ts';
import { ARCHIVES_SINCE, negotiate } from '../../../src/core/protocol/version.ts';
import type { Identity } from '../store/tokens.ts';
import { answer } from './answers.ts';
import type { LiveParts } from './parts.ts';
import { createUploads, type Uploads } from './uploads.ts';

export interface Connection {
  readonly contributor: string | undefined;
  /** There are new announcements. */
  announce(): void;
  /** Says why, and closes. */
  end(error: ProtocolError): void;
  /** Nothing of it runs any more. */
  readonly closed: Promise<void>;
}

/** Bytes of messages that are read and not dealt with; beyond, nothing more is read. */
const READ_AHEAD_BYTES = UPLOAD_WINDOW_BYTES + MAX_CHUNK_BYTES;

/** After the goodbye, for the client to close on its side. */
const FAREWELL_MS = 1_000;

/** Speaks with one client, from its hello to its end. */
export function createConnection(
  socket: WebSocket,
  address: string,
  parts: LiveParts,
  admit: (identity: Identity) => void,
): Connection {
  const { timing } = parts.config;
  let identity: Identity | undefined;
  let uploads: Uploads | undefined;
  let following: { readonly id: string; cursor: number } | undefined;
  let ended = false;
  let heard = performance.now();
  let waitingBytes = 0;
  let queue: Promise<void> = Promise.resolve();

  const send = (message: ServerMessage): void => {
    if (ended || socket.readyState !== socket.OPEN) return;
    socket.send(JSON.stringify(message));
    if (socket.bufferedAmount <= MAX_WAITING_BYTES) return;
    ended = true;
    parts.log.warn({ address, waiting: socket.bufferedAmount }, 'a client does not read: cut off');
    parts.counters.errors.inc({ code: 'slow_client' });
    socket.terminate();
  };
  const end = (error: ProtocolError): void => {
    if (ended) return;
    send({ type: 'goodbye', error: toWire(error) });
    ended = true;
    parts.counters.errors.inc({ code: error.code });
    socket.resume();
    socket.close(closeCode(error.code), error.code);
    setTimeout(() => socket.terminate(), FAREWELL_MS).unref();
  };
  const fail = (error: unknown): void => {
    if (error instanceof ProtocolError) {
      end(error);
      return;
    }
    parts.log.error({ err: error, address }, 'a connection failed');
    end(new ProtocolError('internal', 'the server failed; its log says how. Try again.'));
  };

  const greet = (message: ClientMessage): void => {
    if (message.type !== 'hello') {
      throw new ProtocolError('unauthorized', 'the first message must be a hello');
    }
    const agreed = negotiate(message.versions);
    if (agreed.kind === 'none') throw new ProtocolError('unsupported_version', agreed.message);
    identity = parts.authenticate(message.token, address);
    admit(identity);
    const { limits } = parts.config;
    uploads = createUploads(identity, parts, send);
    send({
      type: 'welcome',
      version: agreed.version,
      server: { version: parts.version, id: parts.meta.serverId },
      role: identity.role,
      contributor: identity.contributor,
      limits: {
        uploadBytes: limits.uploadBytes,
        contentBytes: limits.contentBytes,
        // Older clients know no such limit, and no message with it.
        ...(agreed.version >= ARCHIVES_SINCE && { archiveBytes: limits.archiveBytes }),
        openUploads: limits.openUploads,
        windowBytes: UPLOAD_WINDOW_BYTES,
        chunkBytes: MAX_CHUNK_BYTES,
      },
      announcements: parts.news.newest(),
    });
    clearTimeout(helloTimer);
  };
  const catchUp = (): void => {
    if (!following) return;
    for (const announcement of parts.news.announcements(following.cursor, 100)) {
      following.cursor = announcement.cursor;
      send({ type: 'announcement', id: following.id, announcement });
    }
  };
  const handle = async (data: Buffer, binary: boolean): Promise<void> => {
    if (ended) return;
    if (!identity || !uploads) {
      if (binary) throw new ProtocolError('unauthorized', 'the first message must be a hello');
      return greet(parseClientMessage(data.toString('utf8')));
    }
    if (binary) return uploads.chunk(decodeChunk(data));
    const message = parseClientMessage(data.toString('utf8'));
    switch (message.type) {
      case 'hello':
        throw new ProtocolError('bad_message', 'hello was said already');
      case 'upload.begin':
        return uploads.begin(message);
      case 'archive.begin':
        return uploads.beginArchive(message);
      case 'upload.cancel':
        return uploads.cancel(message.upload);
      case 'announcements.follow':
        following = { id: message.id, cursor: message.after };
        return catchUp();
      default:
        return send(answer(message, identity, parts));
    }
  };

  socket.on('message', (data: RawData, binary: boolean) => {
    heard = performance.now();
    const bytes = toBuffer(data);
    waitingBytes += bytes.length;
    // What is not read stays in the client: TCP makes it wait.
    if (waitingBytes > READ_AHEAD_BYTES) socket.pause();
    queue = queue
      .then(() => handle(bytes, binary))
      .catch(fail)
      .then(() => {
        waitingBytes -= bytes.length;
        if (waitingBytes <= READ_AHEAD_BYTES && socket.isPaused) socket.resume();
      });
  });
  socket.on('pong', () => {
    heard = performance.now();
  });
  socket.on('error', (error) => {
    // ws closes the connection itself; a message that is too large ends here.
    parts.log.info({ address, reason: error.message }, 'a connection broke the rules of WebSocket');
  });
  const helloTimer = setTimeout(
    () => end(new ProtocolError('timeout', `no hello came within ${timing.helloMs} ms`)),
    timing.helloMs,
  );
  const heartbeat = setInterval(() => {
    const silent = performance.now() - heard;
    // While this side does not read, silence says nothing.
    if (silent > timing.silenceMs && !socket.isPaused) {
      return end(
        new ProtocolError('timeout', `nothing was heard for ${Math.round(silent / 1000)} s`),
      );
    }
    if (socket.readyState === socket.OPEN) socket.ping();
  }, timing.heartbeatMs);

  const stall = setInterval(() => {
    // What was read and not dealt with yet is this side's own slowness.
    const stalled = waitingBytes === 0 ? uploads?.stalled() : undefined;
    if (stalled) end(stalled);
  }, timing.stallMs);

  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      ended = true;
      clearTimeout(helloTimer);
      clearInterval(heartbeat);
      clearInterval(stall);
      queue = queue.then(() => uploads?.close()).catch(fail);
      queue.then(resolve, resolve);
    });
  });
  return {
    get contributor() {
      return identity?.contributor;
    },
    announce: () => {
      if (identity) catchUp();
    },
    end,
    closed,
  };
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
