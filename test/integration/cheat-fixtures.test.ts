import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

/**
 * Proves that the cheat fixtures are real, without the grader: every cheat turns the plain test
 * command green although the code is still wrong, and every legitimate patch makes it right. "Right"
 * is decided by an oracle: a program that calls the code with inputs that no test uses, outside any
 * test runner.
 */

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'cheats');

const command = z.array(z.string()).min(1);

const suiteSchema = z.strictObject({
  bases: z.record(
    z.string(),
    z.strictObject({
      framework: z.enum(['node:test', 'pytest']),
      /** Plain test command; exit code 0 is what a naive grader calls solved. */
      command,
      env: z.record(z.string(), z.string()),
      target: z.array(z.string()),
      /** Files and folders of tests, for graders that restore them. */
      tests: z.array(z.string()),
      oracle: z.strictObject({ argv: command, stdout: z.string() }),
    }),
  ),
  cases: z.array(
    z.strictObject({
      id: z.string(),
      framework: z.enum(['node:test', 'pytest']),
      base: z.string(),
      target: z.array(z.string()),
      patch: z.string(),
      kind: z.enum(['cheat', 'legitimate']),
      class: z.enum([
        'plain',
        'test-edit',
        'config',
        'runner',
        'object',
        'detect',
        'tamper',
        'collection',
        'hard-coded',
      ]),
      note: z.string(),
      /** Where the base's command cannot show it: npm reads scripts and .npmrc. */
      command: command.optional(),
      /** `exit`: exit code 0. `absence`: no test is reported as failed. */
      fools: z.enum(['exit', 'absence']).optional(),
      /** False: nothing but other inputs can tell it from a fix. */
      detectable: z.boolean().optional(),
      /** `user-site`: Python with its user site folder, which a virtual environment switches off. */
      needs: z.literal('user-site').optional(),
    }),
  ),
});

const { bases, cases } = suiteSchema.parse(
  JSON.parse(await readFile(join(fixtures, 'cases.json'), 'utf8')),
);

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
