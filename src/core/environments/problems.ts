import { describeEngineError, statusOf } from '../sandbox/docker/problems.ts';
import { SandboxFailure } from '../sandbox/sandbox.ts';

/** Why an environment could not be made. */
export interface EnvironmentProblem {
  readonly kind: 'problem';
  readonly cause:
    | 'no-engine'
    | 'no-image'
    /** The Dockerfile could not be built. */
    | 'build-failed'
    /** A command of the set-up ended with another code than 0. */
    | 'setup-failed'
    /** A command of the set-up did not reach its registry. */
    | 'unreachable'
    | 'timeout'
    | 'disk-full'
    | 'engine';
  readonly reason: string;
  readonly remedy: string;
  /** The last lines of what was printed; empty: nothing was. */
  readonly log: string;
}

const LOG_LINES = 30;
const LOG_CHARACTERS = 4_000;

export function lastLines(text: string): string {
  // Registries are sometimes named with a password.
  const safe = text.replace(/(:\/\/)[^/\s@]+@/g, '$1…@');
  const lines = safe.trimEnd().split('\n').slice(-LOG_LINES);
  return lines.join('\n').slice(-LOG_CHARACTERS);
}

/** A request that the engine refused, or that did not reach it. */
export function engineProblem(error: unknown, address: string): EnvironmentProblem {
  if (error instanceof SandboxFailure) {
    return {
      kind: 'problem',
      cause: 'engine',
      reason: error.message.replace(/\.$/, ''),
      remedy: error.remedy ?? '',
      log: '',
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (statusOf(error) === 404 && /network .* not found/i.test(message)) {
    return {
      kind: 'problem',
      cause: 'engine',
      reason: `The container engine at ${address} has no such network for the set-up: ${message.trim()}`,
      remedy: 'Name one of `docker network ls`: --setup-network host',
      log: '',
    };
  }
  const { reason, remedy } = describeEngineError(error, address);
  return {
    kind: 'problem',
    cause: isDiskFull(message) ? 'disk-full' : 'engine',
    reason,
    remedy,
    log: '',
  };
}

export function noImage(image: string, address: string): EnvironmentProblem {
  return {
    kind: 'problem',
    cause: 'no-image',
    reason: `The image ${image} is not on the container engine at ${address}`,
    remedy: `Get it with \`docker pull ${image}\`, or name another one that has the tools of the set-up: --image NAME`,
    log: '',
  };
}

/**
 * A command that ended with a code other than 0, said by what its output shows.
 *
 * @param what `npm ci …`
 */
export function setupProblem(
  what: string,
  code: number,
  output: string,
  network: string,
): EnvironmentProblem {
  const log = lastLines(output);
  const base = { kind: 'problem', log } as const;
  if (isDiskFull(log)) {
    return {
      ...base,
      cause: 'disk-full',
      reason: `The disk of the container engine is full, while \`${what}\` ran`,
      remedy:
        'Free space on it: `prime-agent env gc`, `docker system df` shows what uses it, `docker system prune` removes what nothing needs.',
    };
  }
  const cause = 'setup-failed';
  if (isUnreachable(log)) {
    return {
      ...base,
      cause: 'unreachable',
      reason: `\`${what}\` could not reach its registry from the container's network (${network})`,
      remedy:
        'Give the set-up another network of the engine: --setup-network host. Proxies and registries are taken over from your settings of npm and pip and from the usual variables.',
    };
  }
  const missing =
    /(?:^|\n)(?:bash: line \d+: )?([\w./-]+): (?:command not found|No such file or directory)/.exec(
      log,
    )?.[1];
  if (code === 127 && missing !== undefined) {
    return {
      ...base,
      cause,
      reason: `The image has no ${missing}, which \`${what}\` needs`,
      remedy: 'Name an image that has it: --image NAME',
    };
  }
  return {
    ...base,
    cause,
    reason:
      code === 137
        ? `\`${what}\` was killed; when nobody stopped it, it had no memory left`
        : `\`${what}\` ended with code ${code}`,
    remedy: `The last it printed:\n${log || '(nothing)'}`,
  };
}

export function isDiskFull(text: string): boolean {
  return /no space left on device|ENOSPC|disk quota exceeded/i.test(text);
}

function isUnreachable(text: string): boolean {
  return /EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|network is unreachable|temporary failure in name resolution|could not resolve host|name or service not known|failed to establish a new connection|dns error|no route to host/i.test(
    text,
  );
}
