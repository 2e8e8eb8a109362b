import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { httpStatus, ProtocolError, toWire } from '../../../src/core/protocol/errors.ts';
import type { StatusSnapshot } from '../../../src/core/protocol/server-messages.ts';
import type { RateLimit } from '../auth/rate-limit.ts';
import type { TlsMaterial } from '../auth/tls.ts';
import { bearer } from './bearer.ts';
import { addFileRoutes, type FileParts } from './files.ts';
import type { Metrics } from './metrics.ts';

export interface HttpParts extends FileParts {
  readonly log: Logger;
  readonly tls: TlsMaterial | undefined;
  readonly version: string;
  /** A connection over which nothing moves for so long is closed. */
  readonly idleMs: number;
  /** A request must have come as a whole within this. */
  readonly requestMs: number;
  /** More sockets than these are closed at once. */
  readonly sockets: number;
  readonly metrics: Metrics;
  readonly requestRate: RateLimit;
  /** Without one the server keeps what comes and runs nothing of it. */
  readonly sandbox: () => StatusSnapshot['sandbox']['state'];
}

/** Nothing is sent to the server over HTTP that is larger. */
const BODY_LIMIT = 64 * 1024;

const LATE_CHECK_MS = 2_000;
const FAREWELL_MS = 1_000;

export function createApp(parts: HttpParts): FastifyInstance {
  const { log, tls, version, metrics, requestRate } = parts;
  const common = {
    loggerInstance: log,
    // One line per request would be most of the log.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    genReqId: () => randomUUID(),
    // A socket over which nothing moves is closed: also of a client that does not read what it asked for.
    connectionTimeout: parts.idleMs,
    // A long name is told what is wrong with it, as any other.
    routerOptions: { maxParamLength: 1_024 },
    requestTimeout: parts.requestMs,
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket): void => {
      refuseUnread(error, socket, parts);
    },
  };
  // Node looks for late ones only every half minute unless told otherwise.
  const inTime = {
    headersTimeout: parts.requestMs,
    connectionsCheckingInterval: Math.min(LATE_CHECK_MS, parts.requestMs / 2),
  };
  const app: FastifyInstance = tls
    ? (Fastify({
        ...common,
        https: {
          ...inTime,
          handshakeTimeout: parts.requestMs,
          cert: tls.certificate,
          key: tls.key,
          minVersion: 'TLSv1.2',
        },
      }) as unknown as FastifyInstance)
    : (Fastify({ ...common, http: inTime }) as unknown as FastifyInstance);
  app.server.maxConnections = parts.sockets;
  app.server.on('drop', () => metrics.errors.inc({ code: 'rate_limited' }));

  app.addHook('onRequest', async (request) => {
    const rate = requestRate.take(request.ip);
    if (rate.ok) return;
    throw new ProtocolError(
      'rate_limited',
      'too many requests from this address',
      rate.retryAfterMs,
    );
  });
  app.setErrorHandler((error, request, reply) => {
    const known = asProtocolError(error);
    if (known.code === 'internal')
      log.error({ err: error, route: request.routeOptions.url }, 'HTTP');
    metrics.errors.inc({ code: known.code });
    if (known.retryAfterMs !== undefined) {
      reply.header('retry-after', String(Math.ceil(known.retryAfterMs / 1000)));
    }
    return reply.status(httpStatus(known.code)).send({ error: toWire(known) });
  });
  app.setNotFoundHandler(async () => {
    throw new ProtocolError('not_found', 'there is nothing at this address');
  });

  app.get('/healthz', async () => ({ status: 'ok', version, sandbox: parts.sandbox() }));
  app.get('/metrics', async (request, reply) => {
    const { role } = parts.authenticate(bearer(request), request.ip);
    if (role !== 'admin') throw new ProtocolError('forbidden', 'metrics are for admins');
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  addFileRoutes(app, parts);
  return app;
}

/** What never became a request: it came too slowly, or is no HTTP. */
function refuseUnread(
  { code }: NodeJS.ErrnoException,
  socket: Socket,
  { metrics, requestMs, log }: HttpParts,
): void {
  if (code === 'ECONNRESET' || socket.destroyed) return;
  const late = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const error = late
    ? new ProtocolError('timeout', `the request did not come within ${requestMs} ms`)
    : new ProtocolError('bad_message', 'this is no request over HTTP, or its headers are too long');
  metrics.errors.inc({ code: error.code });
  log.debug({ address: socket.remoteAddress, reason: code }, 'a request that was not read');
  if (socket.writable) {
    const body = JSON.stringify({ error: toWire(error) });
    const status = httpStatus(error.code);
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  // Who sends so slowly may read as slowly: nobody waits for that.
  socket.destroySoon();
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
}

function asProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const status =
    error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : undefined;
  if (status === 413) {
    return new ProtocolError('too_large', `a request may have ${BODY_LIMIT} bytes`);
  }
  if (status !== undefined && status >= 400 && status < 500) {
    return new ProtocolError('bad_message', 'the request cannot be read');
  }
  return new ProtocolError('internal', 'the server failed; its log says how');
}
