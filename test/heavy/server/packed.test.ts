import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kill } from '../../integration/server/world.ts';
import { suiteFolder, writeFiles } from '../../support/temp.ts';

/** Somebody's machine: an empty folder, a home of its own, and nothing of this checkout. */
const machine = suiteFolder('prime-agent-installed-');
const checkout = process.cwd();
const app = (): string => join(machine(), 'app');
const home = (): string => join(machine(), 'home');
const shop = (): string => join(machine(), 'shop');
let server: ChildProcess | undefined;

function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', LANG = 'C.UTF-8' } = process.env;
  return { PATH, LANG, HOME: home(), ...more };
}

function run(
  command: string,
  args: readonly string[],
  { cwd = app(), env = environment() } = {},
): { readonly code: number | null; readonly out: string; readonly err: string } {
  const done = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 50_000_000 });
  return { code: done.status, out: done.stdout, err: `${done.stderr}${done.error ?? ''}` };
}

function ok(command: string, args: readonly string[], options?: Parameters<typeof run>[2]): string {
  const { code, out, err } = run(command, args, options);
  expect(code, `${command} ${args.join(' ')}\n${out}\n${err}`).toBe(0);
  return out;
}

const agent = (...args: string[]): string => ok('npx', ['--no-install', 'prime-agent', ...args]);

/** Without npx, whose own process a signal would hit. */
async function serve(...args: string[]): Promise<string> {
  server = spawn(
    process.execPath,
    [installed('bin', 'prime-agent.js'), 'serve', '--json', ...args],
    {
      cwd: app(),
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = await once(server.stdout as NonNullable<typeof server.stdout>, 'data');
  return JSON.parse(String(line)).url;
}

const installed = (...path: string[]): string =>
  join(app(), 'node_modules', 'prime-agent', ...path);

beforeAll(async () => {
  for (const folder of [app(), home(), shop()]) await mkdir(folder);
  const tarball = join(machine(), 'package.tgz');
  ok(process.execPath, [join(checkout, 'scripts', 'pack.mjs'), '--out', tarball], {
    cwd: checkout,
    env: { ...environment(), HOME: homedir() },
  });
  // Where packages come from is this machine's affair, and so is what it has fetched before.
  const npm = environment({
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_cache: ok('npm', ['config', 'get', 'cache'], {
      cwd: homedir(),
      env: { ...environment(), HOME: homedir() },
    }).trim(),
  });
  ok('npm', ['install', '--ignore-scripts', tarball], { env: npm });
  await rm(tarball);
});
afterAll(async () => {
  if (server) await kill(server);
});

describe('the package, installed in an empty folder without install scripts', () => {
  test('makes its database work by itself, once, and says so while it does', async () => {
    const first = run('npx', ['--no-install', 'prime-agent', 'token', 'create', 'alice']);
    expect(first.code, first.err).toBe(0);
    expect(first.out).toMatch(/^pa_\S+\n$/);
    expect(first.err).toMatch(/Preparing the database of the training server for Node \S+, once/);
    expect(first.err).toMatch(/compiled in \d+ s|a prebuilt file was fetched/);
    const again = run('npx', ['--no-install', 'prime-agent', 'token', 'list']);
    expect(again).toMatchObject({ code: 0, err: '', out: expect.stringContaining('alice') });
    const kept = join(home(), '.cache', 'prime-agent', 'sqlite');
    expect(await readdir(kept)).toEqual([expect.stringMatching(/\.node$/)]);
  });

  test('says what is missing where it can neither fetch nor compile the database', async () => {
    // Node alone: no npm, no compiler, and nobody reachable at that proxy.
    const bin = join(machine(), 'bin');
    await mkdir(bin);
    ok('ln', ['-s', await realpath(process.execPath), join(bin, 'node')]);
    const proxy = 'http://127.0.0.1:9';
    const env = { PATH: bin, HOME: shop(), https_proxy: proxy, npm_config_https_proxy: proxy };
    const bare = run(join(bin, 'node'), [installed('bin', 'prime-agent.js'), 'token', 'list'], {
      env,
    });
    expect(bare.code).toBe(3);
    expect(bare.err).toContain('no prebuilt file could be fetched, and to compile one g++, make');
    expect(bare.err).toContain('apt-get install g++ make python3');
    expect(await readdir(join(shop(), '.cache', 'prime-agent', 'sqlite'))).toEqual([]);
    await rm(join(shop(), '.cache'), { recursive: true });
  });

  test('records an attempt, takes it in, and has it still after a SIGKILL', async () => {
    await writeFiles(shop(), {
      'package.json': '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }',
      'sum.js': 'export function sum(a, b) {\n  return a - b;\n}\n',
      'sum.test.js': [
        "import assert from 'node:assert';",
        "import test from 'node:test';",
        "import { sum } from './sum.js';",
        "test('adds', () => assert.equal(sum(2, 3), 5));",
        "test('leaves zero', () => assert.equal(sum(4, 0), 4));",
        '',
      ].join('\n'),
    });
    agent('fix', shop(), '--policy', 'edit-search', '--no-parity', '--attempts', '1');
    agent('outbox', 'allow', shop(), '--yes');
    const token = ok('npx', ['--no-install', 'prime-agent', 'token', 'create', 'bob']).trim();

    const url = await serve('--port', '0');
    const health = await fetch(`${url}/healthz`);
    expect(await health.json()).toMatchObject({ status: 'ok', version: expect.any(String) });
    const send = (to: string): string =>
      ok('npx', ['--no-install', 'prime-agent', 'outbox', 'send', '--server', to, '--json'], {
        env: environment({ PRIME_AGENT_TOKEN: token }),
      });
    expect(JSON.parse(send(url))).toMatchObject({ sent: 1, refused: 0, waiting: 0 });
    const attempts = (): unknown =>
      JSON.parse(agent('data', 'ls', 'trajectories', '--json')).trajectories;
    const stored = attempts();
    expect(stored).toMatchObject([{ id: expect.stringMatching(/^bob\//) }]);
    const maps = await readFile(`/proc/${server?.pid}/maps`, 'utf8').catch(() => '');
    expect(maps).not.toContain(checkout);

    if (server) await kill(server);
    expect(JSON.parse(send(await serve('--port', '0')))).toMatchObject({ sent: 0, waiting: 0 });
    expect(attempts()).toEqual(stored);
  });

  test('runs nano and its workers from there', async () => {
    const report = ok('npx', [
      ...['--no-install', 'prime-agent', 'fix', shop(), '--no-parity', '--json'],
      ...['--policy', 'nano', '--attempts', '8'],
    ]);
    expect(JSON.parse(report)).toMatchObject({
      policy: expect.stringContaining('nano'),
      outcome: 'solved',
    });
  });

  test('has the learner as a Python package, and neither tests nor sources', async () => {
    const learner = installed('server', 'learner');
    const said = run('python3', ['-m', 'prime_learner'], { cwd: learner });
    expect(said).toMatchObject({ code: 2, err: expect.stringContaining('warm-start,export,grpo') });
    const own = await readdir(installed('server', 'learner', 'prime_learner'));
    const ours = await readdir(join(checkout, 'server', 'learner', 'prime_learner'));
    const sources = (names: readonly string[]): readonly string[] =>
      names.filter((name) => !name.startsWith('__pycache__')).sort();
    expect(sources(own)).toEqual(sources(ours));
    expect((await readdir(installed())).sort()).toEqual(
      [
        ...['CHANGELOG.md', 'LICENSE', 'README.md', 'ThirdPartyNotices.txt', 'package.json'],
        ...['bin', 'dist', 'docs', 'policies', 'server'],
      ].sort(),
    );
  });
});
