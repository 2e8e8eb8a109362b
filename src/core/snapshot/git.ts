import { spawn } from 'node:child_process';
import { noSpace, SnapshotError } from './errors.ts';

export interface GitRequest {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
  readonly signal?: AbortSignal;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Nothing of a repository's or a user's settings may start a program or reach a network. */
const HARMLESS = [
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.untrackedCache=keep',
  '-c',
  'protocol.allow=never',
  '-c',
  'core.pager=cat',
  '-c',
  'core.quotePath=false',
];

/** What git may see of the environment: no `GIT_*`, no locale. SUDO_UID belongs to safe.directory. */
const PASSED_ON = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'SUDO_UID', 'TMPDIR'];

const QUIET: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_TRACE2: '0',
  GIT_TRACE2_EVENT: '0',
  GIT_TRACE2_PERF: '0',
};

/**
 * Reading the user's repository: their own ignore rules and `safe.directory` count, nothing is
 * written and nothing is run.
 */
export function readingUserRepository(
  cwd: string,
  args: readonly string[],
  extraEnv: Readonly<Record<string, string>> = {},
): GitRequest {
  const env: Record<string, string> = { ...QUIET, ...extraEnv };
  for (const name of PASSED_ON) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return { args: [...HARMLESS, ...args], cwd, env };
}

/** A repository of our own: no configuration of the user or the system, fixed identity and date. */
export function inOwnRepository(
  gitDir: string,
  workTree: string,
  args: readonly string[],
): GitRequest {
  const person = { name: 'Prime Agent', email: 'agent@localhost', date: '2000-01-01T00:00:00Z' };
  return {
    args: [...HARMLESS, '-c', 'safe.directory=*', '-c', 'core.fsync=none', ...args],
    cwd: workTree,
    env: {
      ...QUIET,
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_DIR: gitDir,
      GIT_WORK_TREE: workTree,
      GIT_AUTHOR_NAME: person.name,
      GIT_AUTHOR_EMAIL: person.email,
      GIT_AUTHOR_DATE: person.date,
      GIT_COMMITTER_NAME: person.name,
      GIT_COMMITTER_EMAIL: person.email,
      GIT_COMMITTER_DATE: person.date,
    },
  };
}

/** Rejects with `SnapshotError` (`git-missing`, `no-space`) or the signal's reason; other failures are a code. */
export function runGit(request: GitRequest): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    request.signal?.throwIfAborted();
    const child = spawn('git', request.args, {
      cwd: request.cwd,
      env: request.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const stop = () => child.kill('SIGKILL');
    request.signal?.addEventListener('abort', stop, { once: true });
    const stdout: Buffer[] = [];
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < 20_000) stderr += chunk.toString('utf8');
    });
    // git may end before it has read everything; its exit code says why.
    child.stdin.on('error', () => {});
    child.on('error', (error) => {
      request.signal?.removeEventListener('abort', stop);
      reject('code' in error && error.code === 'ENOENT' ? gitMissing(request.cwd) : error);
    });
    child.on('close', (code) => {
      request.signal?.removeEventListener('abort', stop);
      if (request.signal?.aborted) return reject(request.signal.reason);
      if (
        code !== 0 &&
        /No space left on device|Disk quota exceeded|Out of disk ?space/i.test(stderr)
      ) {
        return reject(noSpace(request.env.GIT_DIR ?? request.cwd));
      }
      resolve({ code: code ?? -1, stdout: Buffer.concat(stdout), stderr });
    });
    child.stdin.end(request.stdin);
  });
}

/** For commands that have no reason to fail. */
export async function mustRunGit(request: GitRequest): Promise<Buffer> {
  const result = await runGit(request);
  if (result.code === 0) return result.stdout;
  throw gitFailed(request, result);
}

export function gitFailed(request: GitRequest, result: GitResult): SnapshotError {
  const command = request.args.find(
    (word, at) => !word.startsWith('-') && request.args[at - 1] !== '-c',
  );
  return new SnapshotError(
    'git-failed',
    `git ${command ?? ''} failed in ${request.cwd} (exit code ${result.code}): ${result.stderr.trim() || 'no message'}`,
    'Run `git status` in this folder to see whether git can read it.',
  );
}

function gitMissing(cwd: string): SnapshotError {
  return new SnapshotError(
    'git-missing',
    `git was not found on PATH, and it is needed to take a snapshot of ${cwd}.`,
    'Install git (on Debian and Ubuntu: apt-get install git).',
  );
}
