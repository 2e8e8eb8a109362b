import type { FastifyRequest } from 'fastify';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';

/** Throws `ProtocolError`. The token stands in the header alone: addresses end up in logs. */
export function bearer(request: FastifyRequest): string {
  const [, token] = /^Bearer (\S{1,256})$/.exec(request.headers.authorization ?? '') ?? [];
  if (token !== undefined) return token;
  throw new ProtocolError('unauthorized', 'send a token: Authorization: Bearer pa_…');
}
