import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

/**
 * The examples are the yardstick for every policy: their tests must fail for the stated reason alone.
 * Runs git, node and pytest directly, so that nothing of the agent takes part in the proof.
 */

const root = join(import.meta.dirname, '..', '..');
const examplesFolder = join(root, 'examples');
const fixtures = join(root, 'test', 'fixtures', 'examples');
const run = promisify(execFile);

const listingSchema = z.strictObject({
  repositories: z.array(
    z.strictObject({
      name: z.string(),
      language: z.string(),
      framework: z.enum(['node:test', 'pytest']),
      setup: z.array(z.string()).optional(),
    }),
  ),
  tests: z.array(
    z.strictObject({
      example: z.string(),
      test: z.string(),
      bug: z.string(),
      file: z.string(),
      oneOperatorEdit: z.boolean(),
      patch: z.string(),
    }),
  ),
});

const listing = listingSchema.parse(
  JSON.parse(await readFile(join(examplesFolder, 'examples.json'), 'utf8')),
);

/** What the runners may see: nothing that vitest puts into the environment. */
const env = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  LANG: 'C.UTF-8',
  PYTHONDONTWRITEBYTECODE: '1',
};

interface Results {
  readonly passed: ReadonlySet<string>;
  readonly failed: ReadonlySet<string>;
}

async function output(program: string, argv: readonly string[], cwd: string): Promise<string> {
  try {
    return (await run(program, [...argv], { cwd, env, timeout: 60_000 })).stdout;
  } catch (error) {
    // A runner's exit code says only that something failed; the report says what.
    if (error instanceof Error && 'code' in error && error.code === 1 && 'stdout' in error) {
      return String(error.stdout);
    }
    throw error;
  }
}

async function nodeTests(folder: string): Promise<Results> {
  const manifest = z
    .object({ scripts: z.object({ test: z.string() }) })
    .parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
  const reporter = `--test-reporter=${join(fixtures, 'reporter.mjs')}`;
  const command = manifest.scripts.test.replace('--test', `${reporter} --test`);
  const text = await output('sh', ['-c', command], folder);
  const results = text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => z.object({ id: z.string(), passed: z.boolean() }).parse(JSON.parse(line)));
  return {
    passed: new Set(results.filter((result) => result.passed).map((result) => result.id)),
    failed: new Set(results.filter((result) => !result.passed).map((result) => result.id)),
  };
}

async function pytestTests(folder: string): Promise<Results> {
  // Its absence ends with exit code 1 as well, which would read as "no test ran".
  await run('python3', ['-c', 'import pytest'], { cwd: folder, env }).catch((error: unknown) => {
    throw new Error('pytest is missing for python3 on PATH', { cause: error });
  });
  const argv = ['-m', 'pytest', '-q', '-rA', '--tb=no', '-p', 'no:cacheprovider'];
  const lines = (await output('python3', argv, folder)).split('\n');
  const ids = (status: string) =>
    lines
      .filter((line) => line.startsWith(`${status} `))
      .map((line) => line.slice(status.length + 1).split(' - ')[0] ?? '');
  return { passed: new Set(ids('PASSED')), failed: new Set([...ids('FAILED'), ...ids('ERROR')]) };
}

describe('the list of examples', () => {
  it('has enough failing tests, in enough repositories, not all of one kind', () => {
    expect(listing.repositories.length).toBeGreaterThanOrEqual(5);
    expect(listing.tests.length).toBeGreaterThanOrEqual(15);
    const easy = listing.tests.filter((test) => test.oneOperatorEdit).length;
    expect(easy / listing.tests.length).toBeGreaterThan(0.35);
    expect(easy / listing.tests.length).toBeLessThan(0.65);
  });

  it('has bugs in large files', async () => {
    const bugs = new Map(listing.tests.map((test) => [`${test.example}/${test.patch}`, test]));
    let large = 0;
    for (const { example, file } of bugs.values()) {
      const text = await readFile(join(examplesFolder, example, file), 'utf8');
      if (text.trimEnd().split('\n').length > 80) large += 1;
    }
    expect(large).toBeGreaterThanOrEqual(5);
  });

  it('does not repeat itself', () => {
    const ids = listing.tests.map((test) => `${test.example} ${test.test}`);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe.each(listing.repositories)('$name', ({ name, framework, setup }) => {
  const tests = listing.tests.filter((test) => test.example === name);
  const patches = [...new Set(tests.map((test) => test.patch))];
  const targets = tests.map((test) => test.test).sort();
  const runTests = framework === 'pytest' ? pytestTests : nodeTests;
  let folder = '';
  let before: Results;

  const apply = (patch: string, ...options: string[]) =>
    run('git', ['apply', ...options, join(fixtures, name, patch)], { cwd: folder });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'prime-agent-example-'));
    await cp(join(examplesFolder, name), folder, { recursive: true });
    const [program, ...argv] = setup ?? [];
    // With the whole environment: proxies and certificates for the registry come from there.
    if (program !== undefined) await run(program, argv, { cwd: folder, timeout: 100_000 });
    before = await runTests(folder);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('fails in the listed tests and in no other', () => {
    expect([...before.failed].sort()).toEqual(targets);
    expect(before.passed.size).toBeGreaterThan(3 * targets.length);
  });

  it.each(patches)('%s repairs its tests and changes no other result', async (patch) => {
    await apply(patch);
    try {
      const repaired = tests.filter((test) => test.patch === patch).map((test) => test.test);
      const after = await runTests(folder);
      expect([...after.failed].sort()).toEqual(targets.filter((id) => !repaired.includes(id)));
      expect([...after.passed].sort()).toEqual([...before.passed, ...repaired].sort());
    } finally {
      await apply(patch, '--reverse');
    }
  });

  it('is green with all patches', async () => {
    for (const patch of patches) await apply(patch);
    const after = await runTests(folder);
    expect([...after.failed]).toEqual([]);
    expect(after.passed.size).toBe(before.passed.size + targets.length);
  });
});
