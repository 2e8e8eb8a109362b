import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADD, nodeProject, PYTHON, SEVERAL, twoBugs } from './projects.ts';
import { bash, create, playScript, replace, submit } from './scripted-server.ts';
import { buildCli, createWorld, type Files, type World } from './world.ts';

let cli: Awaited<ReturnType<typeof buildCli>>;
beforeAll(async () => {
  cli = await buildCli();
});
afterAll(() => cli.remove());

const world = (files: Files): Promise<World> => createWorld(cli.program, files);

/** The records of all attempts, oldest first, as they are on disk. */
async function records(state: string): Promise<readonly Record<string, unknown>[][]> {
  const root = join(state, 'trajectories');
  const names = (await readdir(root, { recursive: true }))
    .filter((name) => name.endsWith('.jsonl') && !name.includes('index'))
    .sort();
  return Promise.all(
    names.map(async (name) =>
      (await readFile(join(root, name), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    ),
  );
}

const FIX_ADD = [[replace('src/add.js', 'a - b', 'a + b')], [submit('Minus instead of plus.')]];

describe('prime-agent fix', () => {
  it('solves a failing test without a model, and changes exactly its file with --apply', async () => {
    const { run, read } = await world(ADD);
    const shown = await run(['fix', '--attempts', '1']);
    expect(shown.stdout).toContain('-  return a - b;\n+  return a + b;\n');
    expect(shown.stdout).toContain('1 of 1 failing test solved.');
    expect(shown.stderr).toContain('Your files are unchanged.');
    expect(shown.code).toBe(0);

    const applied = await run(['fix', '--attempts', '1', '--apply'], { changes: true });
    expect(applied.stderr).toContain('Applied to your files.');
    expect(applied.code).toBe(0);
    for (const [path, text] of Object.entries(ADD)) {
      const wanted = path === 'src/add.js' ? text.replace('a - b', 'a + b') : text;
      expect(await read(path)).toBe(wanted);
    }
    const again = await run(['fix']);
    expect(again.stdout).toBe('No test fails: 2 of 2 pass.\n');
    expect(again.code).toBe(0);
  });

  it('works the same with pytest', async () => {
    const { run } = await world(PYTHON);
    const { code, stdout } = await run(['fix', '--attempts', '1', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'solved',
      solved: ['tests/test_tiny.py::test_equal_is_enough'],
      patch: expect.stringContaining('+    return a >= b'),
    });
    expect(code).toBe(0);
  });

  it('takes one patch for two tests with one cause, and exits with 1 while another test fails', async () => {
    const { run, state } = await world(SEVERAL);
    const server = await playScript((task) =>
      task.includes('add.test.js') ? FIX_ADD : [[submit('no idea')]],
    );
    const { code, stdout } = await run([
      'fix',
      '--policy',
      server.baseUrl,
      '--attempts',
      '2',
      '--json',
    ]);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      outcome: 'not-solved',
      solved: ['test/add.test.js::adds', 'test/sum.test.js::sums'],
      unsolved: [{ id: 'test/greet.test.js::greets politely' }],
      applied: false,
    });
    const tests = report.tests as {
      id: string;
      solvedBy?: string;
      attempts: { outcome: string }[];
    }[];
    expect(
      tests.map((test) => [
        test.id,
        test.solvedBy,
        test.attempts.map((attempt) => attempt.outcome),
      ]),
    ).toEqual([
      ['test/add.test.js::adds', undefined, ['solved']],
      ['test/greet.test.js::greets politely', undefined, ['failed', 'failed']],
      ['test/sum.test.js::sums', 'test/add.test.js::adds', []],
    ]);
    expect(code).toBe(1);
    expect(await records(state)).toHaveLength(3);
  });

  const AREA = [[replace('src/shape.js', 'a + b', 'a * b')], [submit('area')]];
  const PERIMETER = [[replace('src/shape.js', '(a - b)', '(a + b)')], [submit('perimeter')]];
  const shapes = (task: string) => (task.includes('area.test.js') ? AREA : PERIMETER);

  it('stacks the patches of several tests and verifies them together', async () => {
    const { run, read } = await world(twoBugs(8));
    const server = await playScript(shapes);
    const { code, stderr } = await run(['fix', '--policy', server.baseUrl, '--apply'], {
      changes: true,
    });
    expect(stderr).toContain('Verifying all patches together');
    expect(code).toBe(0);
    const source = await read('src/shape.js');
    expect(source).toContain('a * b');
    expect(source).toContain('2 * (a + b)');
  });

  it('leaves out a patch that conflicts with an earlier one, and says what to do', async () => {
    const { run } = await world(twoBugs(0));
    const server = await playScript(shapes);
    const { code, stdout } = await run([
      'fix',
      '--policy',
      server.baseUrl,
      '--attempts',
      '1',
      '--json',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'not-solved',
      solved: ['test/area.test.js::area'],
      unsolved: [
        {
          id: 'test/perimeter.test.js::perimeter',
          reason:
            'its patch does not fit onto the patches before it: apply those, then run the same command again',
        },
      ],
    });
    expect(code).toBe(1);
  });

  it('never counts a patch that only changes the test', async () => {
    const { run } = await world(ADD);
    const server = await playScript(() => [
      [replace('test/add.test.js', 'add(2, 3), 5', 'add(2, 3), -1')],
      [submit('the test was wrong')],
    ]);
    const { code, stdout } = await run([
      'fix',
      '--policy',
      server.baseUrl,
      '--attempts',
      '1',
      '--json',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      unsolved: [{ reason: 'solved only with changes to tests or configuration' }],
      tests: [{ attempts: [{ outcome: 'solved_with_test_changes', reward: 0 }] }],
    });
    expect(code).toBe(1);
  });

  it.each([
    ['an id', 'test/greet.test.js::greets politely'],
    ['a file', 'test/greet.test.js'],
    ['a name', 'greets politely'],
  ])('works on the test that is named by %s only', async (_, name) => {
    const { run } = await world(SEVERAL);
    const server = await playScript(() => [
      [replace('src/greet.js', '"Hello " + name', '"Good evening, " + name + "."')],
      [submit('greeting')],
    ]);
    const { code, stdout } = await run([
      'fix',
      '--test',
      name,
      '--policy',
      server.baseUrl,
      '--json',
      '--no-parity',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'solved',
      tests: [{ id: 'test/greet.test.js::greets politely' }],
    });
    expect(code).toBe(0);
  });

  it('shows a hint and the guidance of the repository to the policy', async () => {
    const { run, state } = await world({ ...ADD, 'AGENTS.md': 'Prefer early returns.\n' });
    const server = await playScript(() => FIX_ADD);
    await run(['fix', '--policy', server.baseUrl, '--hint', 'It broke last Tuesday.']);
    const [[header] = []] = await records(state);
    const task = JSON.stringify(header?.messages);
    expect(task).toContain('It broke last Tuesday.');
    expect(task).toContain('Prefer early returns.');
    expect(task).toContain('FAIL test/add.test.js::adds');
  });

  it('takes the exit code of an own command, which finds the programs of the project', async () => {
    const { run } = await world({
      ...nodeProject('export const answer = 41;\n'),
      'check.js':
        "import { answer } from './src/main.js';\nif (answer !== 42) throw new Error('answer is ' + answer);\n",
    });
    const server = await playScript((task) =>
      task.includes('answer is 41')
        ? [[replace('src/main.js', '41', '42')], [submit('off by one')]]
        : [],
    );
    const { code, stdout } = await run([
      'fix',
      '--command',
      'node check.js',
      '--policy',
      server.baseUrl,
      '--json',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'solved', solved: ['command'] });
    expect(code).toBe(0);
  });

  it('makes attempts at the same time and ends the others once one is solved', async () => {
    const { run } = await world(ADD);
    let asked = 0;
    const server = await playScript(() => {
      asked += 1;
      return asked <= 2 ? FIX_ADD : [[bash('sleep 30')]];
    });
    const began = performance.now();
    const { code, stdout } = await run([
      'fix',
      '--policy',
      server.baseUrl,
      '--attempts',
      '3',
      '--parallel',
      '3',
      '--json',
    ]);
    expect(code).toBe(0);
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(JSON.parse(stdout).tests[0].attempts.length).toBeGreaterThan(0);
  });

  it('gives every test a first try before any gets a second one', async () => {
    const { run } = await world(twoBugs(8));
    const tasks: string[] = [];
    const server = await playScript((task) => {
      tasks.push(task.includes('area.test.js') ? 'area' : 'perimeter');
      return [[submit('no idea')]];
    });
    const args = ['fix', '--policy', server.baseUrl, '--attempts', '2', '--parallel', '1'];
    const { code, stdout } = await run([...args, '--no-parity', '--json']);
    expect(tasks).toEqual(['area', 'perimeter', 'area', 'perimeter']);
    expect(JSON.parse(stdout).tests).toMatchObject([
      { attempts: [{ reward: 0 }, { reward: 0 }] },
      { attempts: [{ reward: 0 }, { reward: 0 }] },
    ]);
    expect(code).toBe(1);
  });

  it('goes on without a test that only the sandbox breaks, and a file that cannot be loaded', async () => {
    const { run } = await world({
      ...ADD,
      'test/broken.test.js': "import test from 'node:test';\ntest('x', () => {\n",
      'test/secret.test.js':
        "import { readFileSync } from 'node:fs';\nimport test from 'node:test';\ntest('secret', () => void readFileSync('local/key'));\n",
      'local/key': '1',
      '.gitignore': 'local/\n',
    });
    const server = await playScript(() => FIX_ADD);
    const { code, stdout } = await run(['fix', '--policy', server.baseUrl, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'not-solved',
      solved: ['test/add.test.js::adds'],
      unsolved: [
        {
          id: 'test/secret.test.js::secret',
          reason: expect.stringContaining('fails only in the sandbox'),
          remedy: expect.stringContaining('--include "local/key"'),
        },
        { id: 'test/broken.test.js', reason: expect.stringContaining('could not be loaded') },
      ],
    });
    expect(code).toBe(1);
  });

  it('changes nothing with --apply while nothing is solved', async () => {
    const { run } = await world(ADD);
    const server = await playScript(() => [
      [create('src/other.js', 'export {};\n')],
      [submit('something')],
    ]);
    const { code } = await run(['fix', '--policy', server.baseUrl, '--attempts', '1', '--apply']);
    expect(code).toBe(1);
  });
});
