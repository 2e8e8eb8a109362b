import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADD, PYTHON, SEVERAL } from './projects.ts';
import { bash, playScript, replace, submit } from './scripted-server.ts';
import { buildCli, createWorld, type Files, type World } from './world.ts';

let cli: Awaited<ReturnType<typeof buildCli>>;
beforeAll(async () => {
  cli = await buildCli();
});
afterAll(() => cli.remove());

const world = (files: Files): Promise<World> => createWorld(cli.program, files);

describe('prime-agent tests', () => {
  it('lists what passes and what fails, for people and for scripts', async () => {
    const { run } = await world(SEVERAL);
    const { stdout, stderr, code } = await run(['tests']);
    expect(stdout).toBe(
      [
        'FAIL test/add.test.js::adds',
        'pass test/add.test.js::adds zero',
        'FAIL test/greet.test.js::greets politely',
        'FAIL test/sum.test.js::sums',
        '',
      ].join('\n'),
    );
    expect(stderr).toContain('4 tests, 3 failing.');
    expect(code).toBe(0);

    const json = await run(['tests', '--failing', '--json']);
    const [project] = JSON.parse(json.stdout).projects;
    expect(project).toMatchObject({ framework: 'node:test', notLoaded: [] });
    expect(project.tests.map((test: { id: string }) => test.id)).toEqual([
      'test/add.test.js::adds',
      'test/greet.test.js::greets politely',
      'test/sum.test.js::sums',
    ]);
  });

  it('gives an own command the interpreter of the project', async () => {
    const { run, workspace } = await world({ ...PYTHON, '.gitignore': '.venv\n' });
    const make = spawn(
      'python3',
      ['-m', 'venv', '--without-pip', '--system-site-packages', join(workspace, '.venv')],
      { stdio: 'ignore' },
    );
    expect(await once(make, 'close')).toEqual([0, null]);
    const check = `python -c "import sys; assert sys.prefix.endswith('.venv'), sys.prefix"`;
    const { stdout, stderr } = await run(['tests', '--command', check]);
    expect({ stdout, stderr }).toMatchObject({ stdout: 'pass command\n' });
  });
});

describe('prime-agent trajectories', () => {
  it('lists, shows and exports what attempts did', async () => {
    const { run } = await world(ADD);
    expect(await run(['trajectories', 'list'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No attempts are recorded yet. Make one with: prime-agent fix\n',
    });
    const server = await playScript(() => [
      [bash(String.raw`printf '\033[2Jgone\n'`), replace('src/add.js', 'a - b', 'a + b')],
      [submit('Plus, not minus.')],
    ]);
    await run(['fix', '--policy', server.baseUrl, '--no-parity']);

    const list = await run(['trajectories', 'list']);
    expect(list.stdout).toMatch(
      /^\S+ {2}solved {2}tiny at \S+ {2}2 turns {2}project {2}test\/add.test.js::adds\n$/,
    );
    const [{ attemptId }] = JSON.parse((await run(['trajectories', 'list', '--json'])).stdout);

    const show = await run(['trajectories', 'show', attemptId.slice(0, -2)]);
    expect(show.stdout).toContain('Plus, not minus.');
    expect(show.stdout).toContain('+  return a + b;');

    const lines = (await run(['trajectories', 'export', attemptId])).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['header', 'turn', 'turn', 'end']);

    const atif = JSON.parse((await run(['trajectories', 'export', '--format', 'atif'])).stdout);
    expect(atif).toMatchObject({ schema_version: expect.stringMatching(/^ATIF-v1/) });

    const unknown = await run(['trajectories', 'show', 'nothing']);
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'prime-agent: No attempt is called nothing. List them with: prime-agent trajectories list\n',
    });
  });
});

describe('prime-agent doctor', () => {
  it('says what is there', async () => {
    const { run } = await world(ADD);
    const { stdout, code } = await run(['doctor', '--json']);
    const { findings } = JSON.parse(stdout) as { findings: { what: string; state: string }[] };
    const states = Object.fromEntries(findings.map(({ what, state }) => [what, state]));
    expect(states).toMatchObject({
      Node: 'ok',
      git: 'ok',
      'sandbox (local)': 'ok',
      'node:test': 'ok',
    });
    expect(code).toBe(0);
  });

  it('names what is missing and how to get it', async () => {
    const { run, folder } = await world(ADD);
    const { stdout, code } = await run(['doctor'], { env: { PATH: join(folder, 'home') } });
    expect(stdout).toContain(
      'missing  git: not found; snapshots and patches need it\n         → Install git',
    );
    expect(stdout).toContain('missing  sandbox (local): ');
    expect(code).toBe(3);
  });
});
