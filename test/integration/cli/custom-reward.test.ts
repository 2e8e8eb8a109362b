import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeProject } from './projects.ts';
import { playScript, replace, type ScriptedTurn, submit } from './scripted-server.ts';
import { buildCli, createWorld, type Files, type World } from './world.ts';

let cli: Awaited<ReturnType<typeof buildCli>>;
beforeAll(async () => {
  cli = await buildCli();
});
afterAll(() => cli.remove());

const world = (files: Files): Promise<World> => createWorld(cli.program, files);

const CHECK =
  "import { answer } from './src/main.js';\nif (answer !== 42) { console.log('answer is', answer); process.exit(3); }\n";
/** No test at all: only a check that exits with 3. */
const ANSWER: Files = {
  ...nodeProject('export const answer = 41;\n'),
  'check.js': CHECK,
  'reward.mjs': `export async function reward({ run, readText }) {
  const { code } = await run(['node', 'check.js']);
  return code === 0 && readText('src/main.js').includes('answer');
}
`,
  'reward.json':
    '{ "kind": "command", "command": "node check.js", "files": ["check.js"], "timeoutSeconds": 60 }\n',
};
const FIX: readonly ScriptedTurn[] = [[replace('src/main.js', '41', '42')], [submit('off by one')]];
const CHEAT: readonly ScriptedTurn[] = [
  [replace('check.js', '!== 42', '!== 41')],
  [submit('the check was wrong')],
];

async function fix(
  { run }: Pick<World, 'run'>,
  script: readonly ScriptedTurn[],
  ...args: readonly string[]
) {
  const tasks: string[] = [];
  const server = await playScript((task) => {
    tasks.push(task);
    return script;
  });
  const policy = ['--policy', server.baseUrl, '--attempts', '1', '--json'];
  const { code, stdout, stderr } = await run(['fix', ...args, ...policy]);
  return { code, report: JSON.parse(stdout), stderr, tasks };
}

describe('prime-agent fix with a reward of the user’s own', () => {
  it.each([
    ['a command', ['--reward-command', 'node check.js', '--reward-files', 'check.js']],
    ['a module', ['--reward', 'reward.mjs', '--reward-files', 'check.js']],
    ['a JSON file', ['--reward', 'reward.json']],
  ])('%s: 1 for a fix, 0 for a change of what decides', async (_, args) => {
    const { run } = await world(ANSWER);
    const solved = await fix({ run }, FIX, ...args);
    expect(solved).toMatchObject({
      code: 0,
      report: {
        outcome: 'solved',
        solved: [expect.stringMatching(/^reward:[0-9a-f]{12}$/)],
        patch: expect.stringContaining('+export const answer = 42;'),
      },
    });
    const [id] = solved.report.solved;
    expect(solved.tasks[0]).toContain(`FAIL ${id}`);
    expect(solved.stderr).toContain('Running the reward: custom reward');

    const cheated = await fix({ run }, CHEAT, ...args);
    expect(cheated).toMatchObject({
      code: 1,
      report: {
        unsolved: [{ id, reason: 'solved only with changes to tests or configuration' }],
        tests: [{ attempts: [{ reward: 0, outcome: 'solved_with_test_changes' }] }],
      },
    });
  });

  it('an endless loop is a reward of 0, and can be mended', async () => {
    const spec = { kind: 'command', command: 'node check.js', timeoutSeconds: 6 };
    const { run } = await world({
      ...ANSWER,
      'src/main.js': 'for (;;);\nexport const answer = 42;\n',
      'reward.json': JSON.stringify(spec),
    });
    const end: readonly ScriptedTurn[] = [
      [replace('src/main.js', 'for (;;);', '')],
      [submit('no loop')],
    ];
    const { report, tasks } = await fix({ run }, end, '--reward', 'reward.json');
    expect(tasks[0]).toContain('the command had not ended when the time was up');
    expect(report).toMatchObject({ outcome: 'solved' });
  });

  it('has nothing to do when the reward of the unchanged code is 1', async () => {
    const { run } = await world(ANSWER);
    expect(await fix({ run }, FIX, '--reward-command', 'true')).toMatchObject({
      code: 0,
      report: {
        outcome: 'nothing-to-do',
        reason: 'The reward of the unchanged code is already 1, so there is nothing to solve.',
      },
    });
  });

  it('refuses a reward whose repeats do not agree', async () => {
    const { run, folder } = await world(ANSWER);
    // Without isolation a run can see that it is not the first one.
    const mark = join(folder, 'seen');
    const flaky = `test -e ${mark} && rm ${mark} || { touch ${mark}; false; }`;
    const args = ['--reward-command', flaky, '--sandbox', 'none'];
    expect(await fix({ run }, FIX, ...args)).toMatchObject({
      code: 2,
      report: { outcome: 'problem', reason: expect.stringContaining('do not agree') },
    });
  });

  it.each([
    [['--reward', 'none.json'], 'none.json cannot be read.'],
    [['--reward', 'none.mjs'], 'none.mjs cannot be read.'],
    [['--reward', 'package.json'], 'package.json is not a reward at “kind”'],
    [['--reward', 'README'], 'must end with .mjs or .js'],
    [['--reward', '../outside.mjs'], 'must be a path inside of the workspace'],
    [['--reward', 'reward.json', '--reward-command', 'x'], 'exclude each other'],
    [['--command', 'x', '--reward', 'reward.json'], 'exclude each other'],
    [['--reward-files', 'check.js'], 'there is none'],
    [['--reward-command', ' '], 'The command is not a reward at “command”'],
  ])('%j is refused before any work', async (args, reason) => {
    const { run } = await world(ANSWER);
    expect(await fix({ run }, FIX, ...args)).toMatchObject({
      code: 2,
      report: { outcome: 'problem', cause: 'usage', reason: expect.stringContaining(reason) },
      tasks: [],
    });
  });
});

describe('prime-agent fix --command', () => {
  it('says the exit code of a command that prints nothing', async () => {
    const silent = CHECK.replace(/console\.log\(.*?\); /, '');
    const { run } = await world({ ...ANSWER, 'check.js': silent });
    const { code, report, tasks } = await fix({ run }, FIX, '--command', 'node check.js');
    expect(tasks[0]).toMatch(/FAIL command\n {2}exit code 3$/);
    expect({ code, report }).toMatchObject({ code: 0, report: { solved: ['command'] } });
  });

  it('is not solved by a command that a signal ends, or by a changed Makefile', async () => {
    const makefile = `check:\n\t@node check.js\n`;
    const { run } = await world({ ...ANSWER, Makefile: makefile });
    const killed = [
      [
        replace(
          'src/main.js',
          'export const answer = 41;',
          "export const answer = 42;\nprocess.kill(process.pid, 'SIGKILL');",
        ),
      ],
      [submit('ended')],
    ];
    expect(await fix({ run }, killed, '--command', 'make -s check')).toMatchObject({
      code: 1,
      report: { tests: [{ attempts: [{ outcome: 'failed', reward: 0 }] }] },
    });
    const cheat = [[replace('Makefile', '@node check.js', '@true')], [submit('fine now')]];
    expect(await fix({ run }, cheat, '--command', 'make -s check')).toMatchObject({
      code: 1,
      report: { tests: [{ attempts: [{ outcome: 'solved_with_test_changes', reward: 0 }] }] },
    });
  });
});

describe('prime-agent tests', () => {
  it('shows what a reward is', async () => {
    const { run } = await world(ANSWER);
    const { stdout } = await run(['tests', '--reward', 'reward.json']);
    expect(stdout).toMatch(/^FAIL reward:[0-9a-f]{12}\n$/);
  });
});

describe('prime-agent tasks check', () => {
  const patch = (file: string, from: string, to: string): string =>
    `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
  const GOOD = patch('src/main.js', 'export const answer = 41;', 'export const answer = 42;');

  async function check(text: string, ...args: readonly string[]) {
    const { run, folder } = await world(ANSWER);
    const file = join(folder, 'fix.patch');
    await writeFile(file, text);
    return run(['tasks', 'check', '--fix', file, '--repeats', '2', ...args]);
  }

  it('admits a reward that is 0 before and 1 after the fix', async () => {
    expect(await check(GOOD, '--reward', 'reward.json')).toMatchObject({
      code: 0,
      stdout:
        'The reward is fit for use: 0 on the unchanged code and 1 with the fix, in all 4 runs.\n',
    });
    const { stdout } = await check(GOOD, '--reward', 'reward.mjs', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'valid', runs: 4 });
  });

  it('rejects a reward that the fix does not reach, with what to do', async () => {
    const useless = patch('src/main.js', 'export const answer = 41;', 'export const answer = 7;');
    const { code, stderr } = await check(useless, '--reward', 'reward.json');
    expect(stderr).toContain('prime-agent: The fix scores 0. Still not passing: reward:');
    expect(stderr).toContain('Run the reward on the fixed code by hand.');
    expect(code).toBe(1);
    const { stdout } = await check(GOOD, '--reward-command', 'true', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'rejected',
      reason: 'The unchanged code already scores 1, so there is nothing to solve.',
    });
  });

  it('wants a reward and a patch', async () => {
    expect(await check(GOOD)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no reward to check.'),
    });
    expect(await check('', '--reward', 'reward.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is empty'),
    });
  });
});
