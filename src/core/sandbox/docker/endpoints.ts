import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { EngineProblem } from './problems.ts';

/** Where a container engine may listen. */
export interface Endpoint {
  /** For people, as in DOCKER_HOST. */
  readonly address: string;
  readonly at:
    | { readonly kind: 'socket'; readonly path: string }
    | {
        readonly kind: 'tcp';
        readonly host: string;
        readonly port: number;
        readonly tls: TlsFiles | undefined;
      };
}

/** Contents of the files in PEM. */
export interface TlsFiles {
  readonly ca: Buffer;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
}

export type FoundEndpoints =
  | { readonly kind: 'endpoints'; readonly endpoints: readonly Endpoint[] }
  | ({ readonly kind: 'problem' } & EngineProblem);

type Variables = Readonly<Record<string, string | undefined>>;

const configSchema = z.object({ currentContext: z.string().optional() });
const contextSchema = z.object({
  Endpoints: z.object({ docker: z.object({ Host: z.string().optional() }).optional() }),
});

/**
 * Where to look, in order: DOCKER_HOST alone; else the chosen context of the docker command alone;
 * else the usual sockets of Docker, rootless Docker, Docker Desktop and Podman.
 *
 * @param variables the host's environment
 * @param home the user's home folder
 */
export function findEndpoints(
  variables: Variables,
  home: string,
  read: (path: string) => Buffer = (path) => readFileSync(path),
): FoundEndpoints {
  const config = variables.DOCKER_CONFIG || join(home, '.docker');
  if (variables.DOCKER_HOST) {
    const certificates = variables.DOCKER_TLS_VERIFY
      ? variables.DOCKER_CERT_PATH || config
      : undefined;
    return endpointOf('DOCKER_HOST', variables.DOCKER_HOST, certificates, read);
  }
  const context = variables.DOCKER_CONTEXT || currentContext(config, read);
  if (context !== undefined && context !== 'default') {
    return contextEndpoint(context, config, read);
  }
  const runtime = variables.XDG_RUNTIME_DIR;
  const sockets = [
    '/var/run/docker.sock',
    ...(runtime ? [join(runtime, 'docker.sock')] : []),
    join(home, '.docker/run/docker.sock'),
    ...(runtime ? [join(runtime, 'podman/podman.sock')] : []),
    '/run/podman/podman.sock',
  ];
  return { kind: 'endpoints', endpoints: sockets.map(socketEndpoint) };
}

function socketEndpoint(path: string): Endpoint {
  return { address: `unix://${path}`, at: { kind: 'socket', path } };
}

function endpointOf(
  source: string,
  text: string,
  certificates: string | undefined,
  read: (path: string) => Buffer,
): FoundEndpoints {
  const [, scheme = 'tcp', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/.exec(text) ?? [];
  if (scheme === 'unix' && rest.startsWith('/')) {
    return { kind: 'endpoints', endpoints: [socketEndpoint(rest)] };
  }
  if (scheme === 'ssh') {
    return problem(
      `${source} names ${text}, and connections over ssh are not made here`,
      'Forward the socket and name it: `ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock HOST &`, then DOCKER_HOST=unix:///tmp/docker.sock.',
    );
  }
  const url = URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : undefined;
  if (!['tcp', 'http', 'https'].includes(scheme) || url === undefined || url.hostname === '') {
    return problem(
      `${source} is not understood: ${text}`,
      'Use unix:///path/of/docker.sock or tcp://host:port.',
    );
  }
  const secure = certificates !== undefined || scheme === 'https';
  const port = url.port === '' ? (secure ? 2376 : 2375) : Number(url.port);
  let tls: TlsFiles | undefined;
  if (secure) {
    if (certificates === undefined) {
      return problem(
        `${source} names ${text}, but no certificates are given`,
        'Set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH to the folder with ca.pem, cert.pem and key.pem.',
      );
    }
    try {
      tls = readTls(certificates, read);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return problem(
        `The certificates for ${text} cannot be read: ${why}`,
        'Set DOCKER_CERT_PATH to the folder with ca.pem, cert.pem and key.pem.',
      );
    }
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const address = `tcp://${url.hostname}:${port}`;
  return { kind: 'endpoints', endpoints: [{ address, at: { kind: 'tcp', host, port, tls } }] };
}

/** A client's own certificate is optional, with its key; the one that the engine is known by is not. */
function readTls(folder: string, read: (path: string) => Buffer): TlsFiles {
  const optional = (name: string): Buffer | undefined => {
    try {
      return read(join(folder, name));
    } catch (error) {
      // One that is there and cannot be read would show as a refusal of the engine.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  };
  const ca = read(join(folder, 'ca.pem'));
  const cert = optional('cert.pem');
  const key = optional('key.pem');
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error(
      `${folder} has ${cert ? 'cert.pem and no key.pem' : 'key.pem and no cert.pem'}`,
    );
  }
  return { ca, cert, key };
}

function currentContext(config: string, read: (path: string) => Buffer): string | undefined {
  try {
    return configSchema.parse(JSON.parse(read(join(config, 'config.json')).toString()))
      .currentContext;
  } catch {
    return undefined;
  }
}

function contextEndpoint(
  name: string,
  config: string,
  read: (path: string) => Buffer,
): FoundEndpoints {
  const id = createHash('sha256').update(name).digest('hex');
  let host: string | undefined;
  try {
    const text = read(join(config, 'contexts/meta', id, 'meta.json')).toString();
    host = contextSchema.parse(JSON.parse(text)).Endpoints.docker?.Host;
  } catch {}
  if (!host) {
    return problem(
      `The docker context "${name}" was not found in ${config}`,
      'See `docker context ls`, choose one with `docker context use`, or set DOCKER_HOST.',
    );
  }
  const certificates = join(config, 'contexts/tls', id, 'docker');
  let hasCertificates = true;
  try {
    read(join(certificates, 'ca.pem'));
  } catch {
    hasCertificates = false;
  }
  return endpointOf(
    `The docker context "${name}"`,
    host,
    hasCertificates ? certificates : undefined,
    read,
  );
}

function problem(reason: string, remedy: string): FoundEndpoints {
  return { kind: 'problem', reason, remedy };
}
