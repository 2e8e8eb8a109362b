import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';
import { MAX_FRAME_BYTES, MAX_MESSAGE_BYTES } from '../../../src/core/protocol/limits.ts';
import { LIVE_PATH } from '../../../src/core/protocol/paths.ts';
import type { RateLimit } from '../auth/rate-limit.ts';
import { type Connection, createConnection } from './connection.ts';
import type { LiveParts } from './parts.ts';

export interface LiveServer {
  readonly connections: number;
  announced(): void;
  /** Says goodbye to everybody; resolves when all that was being stored is. */
  close(): Promise<void>;
}

export function createLiveServer(
  server: Server,
  parts: LiveParts,
  requestRate: RateLimit,
): LiveServer {
  const open = new Set<Connection>();
  let closing = false;
  const sockets = new WebSocketServer({
    noServer: true,
    // Compressed messages could unpack to more than any limit.
    perMessageDeflate: false,
    maxPayload: Math.max(MAX_FRAME_BYTES, MAX_MESSAGE_BYTES),
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const address = request.socket.remoteAddress ?? 'unknown';
    // Without a listener an error of a socket ends the process.
    socket.on('error', () => socket.destroy());
    const [path] = (request.url ?? '').split('?');
    if (path !== LIVE_PATH) return refuse(socket, '404 Not Found');
    if (closing) return refuse(socket, '503 Service Unavailable');
    if (open.size >= parts.config.limits.connections) {
      return refuse(socket, '503 Service Unavailable');
    }
    const rate = requestRate.take(address);
    if (!rate.ok) return refuse(socket, '429 Too Many Requests');
    sockets.handleUpgrade(request, socket, head, (client) => {
      const connection = createConnection(client, address, parts, ({ contributor }) => {
        const own = [...open].filter((other) => other.contributor === contributor).length;
        // The connection itself is counted already.
        if (own <= parts.config.limits.connectionsPerContributor) return;
        throw new ProtocolError(
          'rate_limited',
          `${contributor} has ${own - 1} connections; ${parts.config.limits.connectionsPerContributor} are allowed`,
          10_000,
        );
      });
      open.add(connection);
      connection.closed.finally(() => open.delete(connection)).catch(() => undefined);
    });
  });
  return {
    get connections() {
      return open.size;
    },
    announced: () => {
      for (const connection of open) connection.announce();
    },
    async close() {
      closing = true;
      const error = new ProtocolError(
        'shutting_down',
        'the server is going down; come back later',
        5_000,
      );
      for (const connection of open) connection.end(error);
      await Promise.all([...open].map(({ closed }) => closed));
      sockets.close();
    },
  };
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
