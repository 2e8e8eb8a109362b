import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';
import { ARCHIVES_PATH, POLICIES_PATH } from '../../../src/core/protocol/paths.ts';
import { sha256Schema } from '../../../src/core/protocol/values.ts';
import { createFileVerifier } from '../files/verified-file.ts';
import type { ArchiveStore } from '../store/archives.ts';
import type { PolicyStore } from '../store/policies.ts';
import type { Identity } from '../store/tokens.ts';
import { bearer } from './bearer.ts';
import { sendFile } from './send-file.ts';

export interface FileParts {
  readonly archives: ArchiveStore;
  readonly policies: PolicyStore;
  readonly authenticate: (token: string, address: string) => Identity;
}

const archiveParams = z.object({ sha256: sha256Schema });
const versionParams = z.object({ version: z.string().regex(/^[1-9][0-9]{0,14}$/) });
const fileParams = versionParams.extend({ '*': z.string() });

/** Task archives and policy versions. What is asked for is looked up in a list; no path is ever made of it. */
export function addFileRoutes(
  app: FastifyInstance,
  { archives, policies, authenticate }: FileParts,
): void {
  const verifier = createFileVerifier();
  const identify = (request: FastifyRequest): Identity => authenticate(bearer(request), request.ip);
  const method = ['GET', 'HEAD'];

  app.route({
    method,
    url: `${ARCHIVES_PATH}/:sha256`,
    async handler(request, reply) {
      const { contributor, role } = identify(request);
      const params = archiveParams.safeParse(request.params);
      if (!params.success) throw notFound('an archive is named by its sha256, 64 hex digits');
      const { sha256 } = params.data;
      // Others' code is nobody's business: whose it is not hears the same as where there is none.
      const found = archives.find(sha256, role === 'admin' ? undefined : contributor);
      if (!found) throw notFound(`there is no archive ${sha256.slice(0, 12)} of yours here`);
      return sendFile(request, reply, verifier, found);
    },
  });
  app.route({
    method,
    url: POLICIES_PATH,
    async handler(request) {
      identify(request);
      return { versions: policies.list() };
    },
  });
  app.route({
    method,
    url: `${POLICIES_PATH}/:version`,
    async handler(request, reply) {
      identify(request);
      const file = policies.manifest(versionOf(versionParams.safeParse(request.params)));
      return sendFile(request, reply, verifier, file, 'application/json');
    },
  });
  app.route({
    method,
    url: `${POLICIES_PATH}/:version/files/*`,
    async handler(request, reply) {
      identify(request);
      const params = fileParams.safeParse(request.params);
      const file = policies.file(versionOf(params), params.data?.['*'] ?? '');
      return sendFile(request, reply, verifier, file);
    },
  });
}

function versionOf(params: z.ZodSafeParseResult<{ readonly version: string }>): number {
  if (!params.success) throw notFound('versions of policies are whole numbers from 1 on');
  return Number(params.data.version);
}

function notFound(text: string): ProtocolError {
  return new ProtocolError('not_found', text);
}
