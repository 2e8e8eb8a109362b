import type { TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import type { ClientMessage } from '../protocol/client-messages.ts';
import { ProtocolError, type WireError } from '../protocol/errors.ts';
import { type Chunk, encodeChunk } from '../protocol/frame.ts';
import { HELLO_TIMEOUT_MS, MAX_WAITING_BYTES, SILENCE_MS } from '../protocol/limits.ts';
import { parseServerMessage } from '../protocol/messages.ts';
import { LIVE_PATH } from '../protocol/paths.ts';
import {
  checkFingerprint,
  refuseClearText,
  type ServerAddress,
} from '../protocol/server-address.ts';
import type { ServerMessage, Welcome } from '../protocol/server-messages.ts';
import { PROTOCOL_VERSIONS } from '../protocol/version.ts';

export interface LiveConnection {
  readonly welcome: Welcome;
  send(message: ClientMessage): void;
  /** Resolves when the next may be sent. */
  sendChunk(chunk: Chunk): Promise<void>;
  /** In order, each once; undefined when the connection has ended. Rejects with why it broke. */
  next(): Promise<ServerMessage | undefined>;
  close(): void;
}

/**
 * Connects and says hello. The token is sent when it is certain who listens, and never in the clear
 * beyond this machine. Rejects with `ProtocolError`, or with an error of the network.
 */
export async function connect(
  { url, token, fingerprint }: ServerAddress,
  client: { readonly name: string; readonly version: string },
  { silenceMs = SILENCE_MS }: { readonly silenceMs?: number } = {},
): Promise<LiveConnection> {
  const target = new URL(LIVE_PATH, url);
  refuseClearText(target);
  target.protocol = target.protocol === 'http:' ? 'ws:' : 'wss:';
  const socket = new WebSocket(target, {
    perMessageDeflate: false,
    maxPayload: MAX_WAITING_BYTES,
    handshakeTimeout: HELLO_TIMEOUT_MS,
    // A pinned certificate is compared below, before anything is sent.
    rejectUnauthorized: fingerprint === undefined,
  });
  const inbox = createInbox(socket, silenceMs);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  if (fingerprint !== undefined) {
    // ws keeps the socket to itself; its certificate is asked for nowhere else.
    const { _socket: raw } = socket as unknown as { readonly _socket?: TLSSocket };
    try {
      checkFingerprint(raw, fingerprint, target.host);
    } catch (error) {
      socket.terminate();
      throw error;
    }
  }
  const send = (message: ClientMessage): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  };
  send({ type: 'hello', versions: [...PROTOCOL_VERSIONS], client, token });
  const first = await inbox.next();
  if (first?.type === 'goodbye') throw fromWire(first.error);
  if (first?.type !== 'welcome') {
    socket.terminate();
    throw new ProtocolError('bad_message', `${target.host} did not answer with a welcome`);
  }
  return {
    welcome: first,
    send,
    sendChunk: (chunk) =>
      new Promise((resolve, reject) => {
        socket.send(encodeChunk(chunk), (error) => (error ? reject(error) : resolve()));
      }),
    next: inbox.next,
    close: () => socket.close(),
  };
}

export function fromWire({ code, message, retryAfterMs }: WireError): ProtocolError {
  return new ProtocolError(code, message, retryAfterMs);
}

/** Messages wait here until they are asked for; a connection that falls silent is given up. */
function createInbox(
  socket: WebSocket,
  silenceMs: number,
): { readonly next: LiveConnection['next'] } {
  const messages: ServerMessage[] = [];
  let ended = false;
  let broken: Error | undefined;
  let wake: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      broken ??= new ProtocolError('timeout', `the server was silent for ${silenceMs / 1000} s`);
      socket.terminate();
    }, silenceMs);
  };
  heard();
  socket.on('ping', heard);
  socket.on('message', (data, binary) => {
    heard();
    try {
      if (binary) throw new ProtocolError('bad_message', 'the server sent a binary message');
      messages.push(parseServerMessage(String(data)));
    } catch (error) {
      broken ??= error instanceof Error ? error : new Error(String(error));
      socket.terminate();
    }
    wake?.();
  });
  socket.on('error', (error) => {
    broken ??= error;
  });
  socket.on('close', () => {
    clearTimeout(timer);
    ended = true;
    wake?.();
  });
  return {
    async next() {
      for (;;) {
        const message = messages.shift();
        if (message) return message;
        if (broken) throw broken;
        if (ended) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
