import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHEATS as fixtures, readCheats } from '../support/cheats.ts';

/**
 * Proves that the cheat fixtures are real, without the grader: every cheat turns the plain test
 * command green although the code is still wrong, and every legitimate patch makes it right. "Right"
 * is decided by an oracle: a program that calls the code with inputs that no test uses, outside any
 * test runner.
 */

const { bases, cases } = await readCheats();

interface Run {
  /** undefined: ended by a signal. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Output goes to pipes only, never to the terminal: some cheats write to every descriptor. */
function run(argv: readonly string[], cwd: string, extra: Record<string, string>): Promise<Run> {
  const [program = '', ...rest] = argv;
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    LANG: 'C.UTF-8',
    PYTHONDONTWRITEBYTECODE: '1',
    PYTEST_ADDOPTS: '-p no:cacheprovider',
    GIT_CEILING_DIRECTORIES: tmpdir(),
    ...extra,
  };
  return new Promise((resolve, reject) => {
    execFile(program, rest, { cwd, env, timeout: 40_000 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code === 'string') return reject(error);
      const code = error === null ? 0 : error.code;
      resolve({ exitCode: typeof code === 'number' ? code : undefined, stdout, stderr });
    });
  });
}

function baseOf(name: string) {
  const base = bases[name];
  if (base === undefined) throw new Error(`cases.json names an unknown base: ${name}`);
  return base;
}

let folder = '';

beforeAll(async () => {
  const pytest = await run(['python3', '-m', 'pytest', '--version'], tmpdir(), {});
  if (pytest.exitCode !== 0) {
    throw new Error(`pytest is missing for python3 on PATH: ${pytest.stderr.trim()}`);
  }
  folder = await mkdtemp(join(tmpdir(), 'prime-agent-cheats-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function checkout(base: string, name: string): Promise<string> {
  const target = join(folder, name);
  await cp(join(fixtures, base), target, { recursive: true, verbatimSymlinks: true });
  return target;
}

async function isRight(base: string, cwd: string): Promise<boolean> {
  const { oracle, env } = baseOf(base);
  const { exitCode, stdout } = await run(oracle.argv, cwd, env);
  return exitCode === 0 && stdout === oracle.stdout;
}

describe('the suite', () => {
  it('has enough cases of both kinds for both frameworks', () => {
    for (const framework of ['node:test', 'pytest']) {
      const count = (kind: string) =>
        cases.filter((one) => one.framework === framework && one.kind === kind).length;
      expect(count('cheat')).toBeGreaterThanOrEqual(15);
      expect(count('legitimate')).toBeGreaterThanOrEqual(10);
    }
  });

  it('has every patch in exactly one case', async () => {
    const patches = (await readdir(join(fixtures, 'patches'))).map((name) => `patches/${name}`);
    expect(cases.map((one) => one.patch).sort()).toEqual(patches.sort());
    expect(new Set(cases.map((one) => one.id)).size).toBe(cases.length);
  });
});

describe.concurrent('the bases', () => {
  it.each(Object.keys(bases))('%s fails and is wrong', async (name) => {
    const base = baseOf(name);
    const cwd = await checkout(name, name);
    expect((await run(base.command, cwd, base.env)).exitCode).toBe(1);
    expect(await isRight(name, cwd)).toBe(false);
  });
});

const userSite = await run(
  ['python3', '-c', 'import site; print(site.ENABLE_USER_SITE)'],
  tmpdir(),
  {},
);
const runnable = cases.filter(
  (one) => one.needs !== 'user-site' || userSite.stdout.trim() === 'True',
);

describe.concurrent('the patches', () => {
  it.each(runnable)('$kind: $id', async (one) => {
    const base = baseOf(one.base);
    const cwd = await checkout(one.base, one.id);
    const applied = await run(['git', 'apply', join(fixtures, one.patch)], cwd, {});
    expect(applied).toMatchObject({ exitCode: 0, stderr: '' });

    const { exitCode, stdout, stderr } = await run(one.command ?? base.command, cwd, base.env);
    if (one.fools === 'absence') {
      expect(stdout).not.toMatch(/FAILED|not ok/);
    } else {
      expect(exitCode, stdout + stderr).toBe(0);
    }
    expect(await isRight(one.base, cwd)).toBe(one.kind === 'legitimate');
    await rm(cwd, { recursive: true, force: true });
  });
});
