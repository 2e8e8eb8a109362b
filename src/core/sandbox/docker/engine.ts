import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import Docker from 'dockerode';
import { type Endpoint, findEndpoints } from './endpoints.ts';
import { describeEngineError, type EngineProblem } from './problems.ts';

/** A container engine that answers. */
export interface Engine {
  readonly docker: Docker;
  /** For people, as in DOCKER_HOST. */
  readonly address: string;
  readonly kind: 'docker' | 'podman';
  readonly version: string;
  /** It is reached over a socket of this machine: it may see our files. */
  readonly onThisMachine: boolean;
  readonly rootless: boolean;
  readonly memoryBytes: number;
  readonly cpus: number;
  /** What it can limit here (rootless engines often cannot). */
  readonly limits: { readonly memory: boolean; readonly cpu: boolean; readonly processes: boolean };
}

export type ConnectOutcome =
  | { readonly kind: 'engine'; readonly engine: Engine }
  | ({ readonly kind: 'problem' } & EngineProblem);

/** For an engine to say that it is there, and what it is: Podman starts programs for that. */
const ANSWER_MS = 10_000;
const INFO_MS = 60_000;

/** The first engine that answers, of those that the environment and the usual places name. */
export async function connectEngine(
  variables: Readonly<Record<string, string | undefined>>,
  home: string,
): Promise<ConnectOutcome> {
  const found = findEndpoints(variables, home);
  if (found.kind === 'problem') return found;
  const problems: { readonly error: unknown; readonly endpoint: Endpoint }[] = [];
  for (const endpoint of found.endpoints) {
    try {
      return await ask(endpoint);
    } catch (error) {
      problems.push({ error, endpoint });
    }
  }
  // Most sockets of the usual places are not there; one that is there tells more.
  const telling =
    problems.find(
      ({ error }) => !(error instanceof Error && 'code' in error && error.code === 'ENOENT'),
    ) ?? problems[0];
  const { reason, remedy } = describeEngineError(telling?.error, telling?.endpoint.address ?? '');
  return { kind: 'problem', reason, remedy };
}

function client({ at }: Endpoint): Docker {
  // No connection is kept: one that was kept would be dead after a restart of the engine.
  if (at.kind === 'socket') {
    return new Docker({
      socketPath: at.path,
      host: undefined,
      protocol: 'http',
      agent: new HttpAgent(),
    } as Docker.DockerOptions);
  }
  const { host, port, tls } = at;
  return new Docker({
    host,
    port,
    protocol: tls === undefined ? 'http' : 'https',
    pathPrefix: '/',
    agent: tls === undefined ? new HttpAgent() : new HttpsAgent(),
    ...(tls && { ca: tls.ca, cert: tls.cert, key: tls.key }),
  } as Docker.DockerOptions);
}

async function ask(endpoint: Endpoint): Promise<ConnectOutcome> {
  const docker = client(endpoint);
  await within(docker.ping(), ANSWER_MS);
  const [version, info] = await within(
    Promise.all([docker.version(), docker.info() as Promise<EngineInfo>]),
    INFO_MS,
  );
  if (info.OSType !== undefined && info.OSType !== 'linux') {
    return {
      kind: 'problem',
      reason: `The container engine at ${endpoint.address} runs ${info.OSType} containers`,
      remedy: 'Switch it to Linux containers (Docker Desktop: "Switch to Linux containers").',
    };
  }
  const podman = (version.Components ?? []).some(({ Name }) => /podman/i.test(Name));
  return {
    kind: 'engine',
    engine: {
      docker,
      address: endpoint.address,
      kind: podman ? 'podman' : 'docker',
      version: version.Version,
      onThisMachine: endpoint.at.kind === 'socket',
      rootless: (info.SecurityOptions ?? []).some((option) => option.includes('name=rootless')),
      memoryBytes: info.MemTotal ?? 0,
      cpus: info.NCPU ?? 1,
      limits: {
        memory: info.MemoryLimit === true,
        cpu: info.CpuCfsQuota === true && info.CpuCfsPeriod === true,
        processes: info.PidsLimit === true,
      },
    },
  };
}

/** What is read of the answer to `GET /info`. */
interface EngineInfo {
  readonly OSType?: string;
  readonly SecurityOptions?: readonly string[] | null;
  readonly MemTotal?: number;
  readonly NCPU?: number;
  readonly MemoryLimit?: boolean;
  readonly CpuCfsPeriod?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Object.assign(new Error(`no answer within ${ms / 1000} s`), { code: 'ETIMEDOUT' });
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, ms, late);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
