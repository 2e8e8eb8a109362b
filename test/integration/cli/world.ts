import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { fingerprint } from '../../support/fingerprint.ts';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

/** scripts/build.mjs with another folder as its target. */
const BUILD = `
  import { build } from 'esbuild';
  import { bundleOptions } from './scripts/lib/bundle.mjs';
  const outdir = process.argv[1] + '/dist';
  await build({ ...bundleOptions, entryPoints: { cli: 'src/cli/main.ts' }, outdir });
`;

/** Paths relative to the workspace → text. */
export type Files = Readonly<Record<string, string>>;

export interface CliRun {
  /** undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  /** With the folders of the test replaced by `<workspace>`, `<state>` and `<world>`. */
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** This run may change files of the workspace. */
  readonly changes?: boolean;
  /** This run may leave something behind (it is killed). */
  readonly leaves?: boolean;
  /** Gets the process id once it runs. */
  readonly started?: (pid: number) => void;
  /** Gets the process id with its first words on standard error: it is past its own loading. */
  readonly spoke?: (pid: number) => void;
  /** Starts the command line through this program and its arguments instead. */
  readonly through?: readonly string[];
}

export interface World {
  readonly folder: string;
  readonly workspace: string;
  readonly state: string;
  run(args: readonly string[], options?: RunOptions): Promise<CliRun>;
  read(path: string): Promise<string>;
  /** Processes, mounts and scratch files that earlier runs left; empty when all is well. */
  leftovers(): Promise<readonly string[]>;
}

/** The built command line, in a folder of its own: the checkout is not written to. */
export async function buildCli(): Promise<{ program: string; remove(): Promise<void> }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'prime-agent-cli-')));
  const build = spawn(process.execPath, ['--input-type=module', '--eval', BUILD, folder], {
    cwd: CHECKOUT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(build, 'exit');
  if (code !== 0) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`the build ended with ${code}`);
  }
  // Ordinary users run it too.
  await chmod(folder, 0o755);
  await cp(join(CHECKOUT, 'bin'), join(folder, 'bin'), { recursive: true });
  await cp(join(CHECKOUT, 'package.json'), join(folder, 'package.json'));
  return {
    program: join(folder, 'bin/prime-agent.js'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A workspace with an empty HOME, state folder and folder for temporary files around it. */
export async function createWorld(
  program: string,
  files: Files,
  options: { readonly name?: string; readonly git?: boolean } = {},
): Promise<World> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'prime-agent-world-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const workspace = join(folder, options.name ?? 'project');
  const state = join(folder, 'state');
  for (const name of ['home', 'state', 'tmp']) await mkdir(join(folder, name));
  await mkdir(workspace);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, name)), { recursive: true });
    await writeFile(join(workspace, name), text);
  }
  if (options.git ?? true) await commitAll(workspace);

  const environment = {
    PATH: process.env.PATH,
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    PRIME_AGENT_HOME: state,
    NODE_NO_WARNINGS: '1',
  };
  const clean = (text: string): string =>
    text
      .replaceAll(workspace, '<workspace>')
      .replaceAll(state, '<state>')
      .replaceAll(folder, '<world>');

  const leftovers = async (): Promise<readonly string[]> => [
    ...(await processesOf(folder)).map((line) => `process ${line}`),
    ...(await readFile('/proc/self/mounts', 'utf8').catch(() => ''))
      .split('\n')
      .filter((line) => line.includes(folder))
      .map((line) => `mount ${line}`),
    ...(await readdir(join(folder, 'tmp'))).map((name) => `temporary ${name}`),
    ...(await readdir(join(state, 'scratch')).catch(() => [])).map((name) => `scratch ${name}`),
    ...(await readdir(join(folder, 'home'))).map((name) => `home ${name}`),
  ];

  return {
    folder,
    workspace,
    state,
    leftovers,
    read: (path) => readFile(join(workspace, path), 'utf8'),
    async run(given, more = {}) {
      // What is printed must not depend on the machine's number of cores.
      const isFix = given[0] === 'fix' && !given.includes('--parallel');
      const args = isFix ? ['fix', '--parallel', '1', ...given.slice(1)] : given;
      const before = await fingerprint(workspace);
      const [command = '', ...rest] = [...(more.through ?? []), process.execPath, program, ...args];
      const child = spawn(command, rest, {
        cwd: more.cwd ?? workspace,
        env: { ...environment, ...more.env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
      child.stdout.on('data', (chunk: Buffer) => output.stdout.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => output.stderr.push(chunk));
      const { pid } = child;
      if (pid !== undefined) {
        more.started?.(pid);
        child.stderr.once('data', () => more.spoke?.(pid));
      }
      const [code] = (await once(child, 'close')) as [number | null];
      if (!more.changes) expect(await fingerprint(workspace)).toEqual(before);
      if (!more.leaves) await expect.poll(leftovers, { timeout: 3_000 }).toEqual([]);
      return {
        code: code ?? undefined,
        stdout: Buffer.concat(output.stdout).toString('utf8'),
        stderr: clean(Buffer.concat(output.stderr).toString('utf8')),
      };
    },
  };
}

export async function git(folder: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(
    'git',
    ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
    },
  );
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${Buffer.concat(errors).toString()}`);
}

async function commitAll(workspace: string): Promise<void> {
  await git(workspace, 'init', '--quiet', '--initial-branch=main');
  await git(workspace, 'add', '--all');
  await git(workspace, 'commit', '--quiet', '--allow-empty', '--message=start');
}

/** Processes (not our own) that name the folder in their command line or environment. */
async function processesOf(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const read = (name: string): Promise<string> =>
      readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    const command = await read('cmdline');
    // Inside a sandbox only the mounts still name it.
    const named = command.includes(folder) || (await read('environ')).includes(folder);
    if (named || (await read('mountinfo')).includes(folder)) {
      found.push(`${pid} ${command.replaceAll('\0', ' ').slice(0, 200)}`);
    }
  }
  return found;
}
