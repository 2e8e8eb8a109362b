import { randomUUID } from 'node:crypto';
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
  readonly metrics: Metrics;
  readonly requestRate: RateLimit;
  /** Without one the server keeps what comes and runs nothing of it. */
  readonly sandbox: () => StatusSnapshot['sandbox']['state'];
}

/** Nothing is sent to the server over HTTP that is larger. */
const BODY_LIMIT = 64 * 1024;

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
    requestTimeout: 30_000,
  };
  const app: FastifyInstance = tls
    ? (Fastify({
        ...common,
        https: { cert: tls.certificate, key: tls.key, minVersion: 'TLSv1.2' },
      }) as unknown as FastifyInstance)
    : (Fastify(common) as unknown as FastifyInstance);

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
