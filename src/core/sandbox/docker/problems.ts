import { SandboxFailure } from '../sandbox.ts';
import { tlsReason } from './tls-problems.ts';

/** What went wrong with a container engine, and what to do about it, for people. */
export interface EngineProblem {
  readonly reason: string;
  readonly remedy: string;
}

/** What dockerode and Node tell about a failed request. */
interface RequestError {
  readonly message: string;
  /** Node's name of a failed system call, of TLS, or of HTTP. */
  readonly code: string;
  /** HTTP status of the engine's answer; 0: none came. */
  readonly status: number;
}

const CONNECTION_LOST = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);
const NO_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

function read(error: unknown): RequestError {
  if (!(error instanceof Error)) return { message: String(error), code: '', status: 0 };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const status =
    'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 0;
  // dockerode writes `(HTTP code 500) server error - text `.
  const message = error.message.replace(/^\(HTTP code \d+\) [^-]*- /, '').trim();
  return { message, code, status };
}

/** HTTP status of the engine's answer to a failed request; 0: it did not answer. */
export function statusOf(error: unknown): number {
  return read(error).status;
}

/** Names a failed request. `address` is where the engine was asked, as in DOCKER_HOST. */
export function describeEngineError(error: unknown, address: string): EngineProblem {
  const { message, code, status } = read(error);
  if (code === 'EACCES' || code === 'EPERM') {
    return {
      reason: `You have no permission to use the container engine at ${address}`,
      remedy:
        'Join the group that owns the socket (`sudo usermod -aG docker $USER`, then log in again), or use rootless Docker or Podman, which need no group.',
    };
  }
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return {
      reason: `No container engine answers at ${address}`,
      remedy:
        'Start it (`sudo systemctl start docker`, Docker Desktop, or the user service podman.socket), or name another one with DOCKER_HOST.',
    };
  }
  if (NO_HOST.has(code)) {
    return {
      reason: `The container engine at ${address} cannot be reached (${code})`,
      remedy: 'Check DOCKER_HOST, the name and the port, and that this machine may connect there.',
    };
  }
  if (/no space left on device|disk quota exceeded/i.test(message)) {
    return {
      reason: `The disk of the container engine at ${address} is full`,
      remedy:
        'Free space on it: `docker system df` shows what uses it, `docker system prune` removes what nothing needs.',
    };
  }
  const insecure = tlsReason(code, message);
  if (insecure !== undefined) {
    return {
      reason: `No secure connection to the container engine at ${address}: ${insecure}`,
      remedy:
        'Check DOCKER_TLS_VERIFY and DOCKER_CERT_PATH (ca.pem, cert.pem, key.pem), and that the engine listens with TLS at that port.',
    };
  }
  if (CONNECTION_LOST.has(code) || /socket hang up|aborted/.test(message)) {
    return {
      reason: `The connection to the container engine at ${address} was lost`,
      remedy: 'The engine stopped or was restarted. See that it runs, then try again.',
    };
  }
  if (status === 507 || /cannot allocate memory/i.test(message)) {
    return {
      reason: `The container engine at ${address} has no memory left: ${message}`,
      remedy: 'Run fewer attempts at the same time (`--parallel 1`).',
    };
  }
  return {
    reason: `The container engine at ${address} refused${status > 0 ? ` (${status})` : ''}: ${message}`,
    remedy: 'Run `prime-agent doctor`; it tries the engine. `docker info` shows its own warnings.',
  };
}

/** The same as an exception: the attempt becomes invalid. One that is a `SandboxFailure` stays as it is. */
export function asSandboxFailure(error: unknown, address: string): SandboxFailure {
  if (error instanceof SandboxFailure) return error;
  const { reason, remedy } = describeEngineError(error, address);
  return new SandboxFailure(`${reason}.`, remedy);
}
