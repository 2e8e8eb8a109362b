import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { makeBaseline } from '../../../src/core/grading/baseline.ts';
import { gradePatch } from '../../../src/core/grading/grade.ts';
import { createRewardFramework, rewardTestId } from '../../../src/core/grading/reward/framework.ts';
import { readRewardSpec } from '../../../src/core/grading/reward/spec.ts';
import {
  type RewardValidation,
  validateReward,
} from '../../../src/core/grading/reward/validate.ts';
import type { GradeSetup } from '../../../src/core/grading/types.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';

interface Prepared {
  readonly setup: GradeSetup;
  readonly target: string;
  patchOf(files: Readonly<Record<string, string>>): Promise<string>;
}

const BROKEN = 'export const add = (a, b) => a - b;\n';
const FIXED = 'export const add = (a, b) => a + b;\n';
const CHECK = "import { add } from './add.mjs';\nprocess.exit(add(1, 2) === 3 ? 0 : 1);\n";

async function prepare(spec: object, files: Readonly<Record<string, string>>): Promise<Prepared> {
  const folder = await tempFolder();
  const root = join(folder, 'work');
  await writeFiles(root, { 'add.mjs': BROKEN, ...files });
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  git('init', '-q');
  git('add', '-A');
  const stateDir = join(folder, 'state');
  const made = await makeBase(root, { stateDir });
  const read = readRewardSpec(JSON.stringify(spec), 'reward.json');
  if (made.kind !== 'base' || read.kind !== 'spec') throw new Error(JSON.stringify([made, read]));
  const module = read.spec.kind === 'module' ? files[read.spec.path] : undefined;
  const framework = createRewardFramework(read.spec, module);
  const toolchain = await framework.toolchain(openWorkspaceFiles(root));
  if (toolchain.kind !== 'found') throw new Error(toolchain.reason);
  return {
    setup: {
      provider: createNoneSandbox({ stateDir }),
      spec: {
        base: made.base,
        toolchain: {
          ...toolchain.toolchain,
          // What an own command may start is found by prepareWorkspace; here node is enough.
          path: [...toolchain.toolchain.path, join(process.execPath, '..')],
        },
        toolbox: framework.toolbox,
        limits: { processes: 512, fileBytes: 2 ** 30 },
      },
      framework,
      program: toolchain.program,
      projectPath: '',
      timeoutMs: read.spec.timeoutSeconds * 1000,
    },
    target: rewardTestId(read.spec, module),
    patchOf: async (changes) => {
      await writeFiles(root, changes);
      git('add', '-A', '-N');
      const patch = git('diff');
      git('checkout', '-q', '--', '.');
      return patch;
    },
  };
}

async function validate(
  spec: object,
  files: Readonly<Record<string, string>>,
  fix: Readonly<Record<string, string>> = { 'add.mjs': FIXED },
): Promise<RewardValidation> {
  const { setup, target, patchOf } = await prepare(spec, files);
  return validateReward({ setup, target, fix: await patchOf(fix), repeats: 2 });
}

const command = { kind: 'command', command: 'node check.mjs', files: ['check.mjs'] };
const module = { kind: 'module', path: 'reward.mjs' };

const byRunning = `export async function reward({ run, readText, root }) {
  const { code } = await run(['node', '--input-type=module', '-e', 'import { add } from "./add.mjs"; process.exit(add(1, 2) === 3 ? 0 : 1)']);
  return code === 0 && readText('add.mjs').includes('add') && root.length > 0;
}
`;

describe('a reward is admitted when 0, 1 and repeats agree', () => {
  it.each([
    ['a command', command, { 'check.mjs': CHECK }],
    ['a module', module, { 'reward.mjs': byRunning }],
    [
      'a module that throws on the unchanged code',
      module,
      {
        'reward.mjs':
          "export async function reward({ root }) {\n  const { add } = await import(root + '/add.mjs');\n  if (add(1, 2) !== 3) throw new Error('wrong sum');\n  return true;\n}\n",
      },
    ],
  ])('%s', async (_, spec, files) => {
    expect(await validate(spec, files)).toEqual({ kind: 'valid', runs: 4 });
  });

  it.each([
    [
      'scores the unchanged code 1',
      { ...command, command: 'true' },
      { 'check.mjs': CHECK },
      /The unchanged code already scores 1/,
    ],
    [
      'never scores 1',
      { ...command, command: 'false' },
      { 'check.mjs': CHECK },
      /The fix scores 0/,
    ],
    [
      'returns a number',
      module,
      { 'reward.mjs': 'export const reward = () => 1;\n' },
      /The fix scores 0/,
    ],
    ['exports nothing', module, { 'reward.mjs': 'export default 1;\n' }, /The fix scores 0/],
  ])('not when it %s', async (_, spec, files, reason) => {
    const result = await validate(spec, files);
    expect(result).toMatchObject({ kind: 'rejected', reason: expect.stringMatching(reason) });
  });

  it('not when every other run says otherwise', async () => {
    const counter = join(await tempFolder(), 'runs');
    const command = `n=$(cat ${counter} 2>/dev/null || echo 0); echo $((n + 1)) > ${counter}; exit $((n % 2))`;
    expect(await validate({ kind: 'command', command }, {})).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('Repeats on the unchanged code do not agree'),
    });
  });

  // A bug may be an endless loop.
  const ENDLESS = 'export const add = (a, b) => { for (;;) {} };\n';
  it.each([
    ['a command', command, { 'check.mjs': CHECK }],
    [
      'a module',
      module,
      {
        'reward.mjs':
          "export async function reward({ root }) {\n  const { add } = await import(root + '/add.mjs');\n  return add(1, 2) === 3;\n}\n",
      },
    ],
  ])('%s whose time is up on the unchanged code scores 0 there', async (_, spec, files) => {
    const limited = { ...spec, timeoutSeconds: 8 };
    expect(await validate(limited, { ...files, 'add.mjs': ENDLESS })).toEqual({
      kind: 'valid',
      runs: 4,
    });
  });

  it('not when its time is up with the fix as well, or in some of the runs', async () => {
    const slow = { kind: 'command', command: 'sleep 30', timeoutSeconds: 2 };
    expect(await validate(slow, {})).toMatchObject({
      kind: 'rejected',
      reason: expect.stringMatching(/^The fix scores 0\. .*did not end within 2 s/),
      remedy: expect.stringContaining('the command had not ended when the time was up'),
    });
    const folder = await tempFolder();
    const once = `test -e ${folder}/seen && exit 0; touch ${folder}/seen; sleep 30`;
    expect(await validate({ ...slow, command: once }, {})).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('Repeats on the unchanged code do not agree'),
    });
  });

  it('not when the fix changes what decides', async () => {
    const result = await validate(
      command,
      { 'check.mjs': CHECK },
      { 'check.mjs': 'process.exit(0);\n' },
    );
    expect(result).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('The fix changes what decides the reward (check.mjs)'),
    });
  });

  it('the reason of a module that returns no boolean is told', async () => {
    const result = await validate(module, { 'reward.mjs': 'export const reward = () => 1;\n' });
    expect(result).toMatchObject({
      remedy: expect.stringContaining('reward(context) returned number, not true or false'),
    });
  });
});

describe('grading by a module', () => {
  it.each([
    ['exits before it returns', 'process.exit(0);\nexport const add = (a, b) => a + b;\n'],
    [
      'writes a reward of its own and leaves',
      `import { writeSync } from 'node:fs';
writeSync(3, '{"type":"reward","value":true}\\n{"type":"reward","key":"0","value":true}\\n');
process.exit(0);
export const add = (a, b) => a - b;
`,
    ],
    [
      'replaces what the report is written with',
      `import fs, { readFileSync } from 'node:fs';
const { stringify } = JSON;
JSON.stringify = (value) => stringify({ ...value, value: true });
const { writeSync } = fs;
fs.writeSync = (fd, text) => writeSync(fd, String(text).replace('false', 'true'));
try { readFileSync(4); } catch {}
export const add = (a, b) => a - b;
`,
    ],
  ])('code under test that %s scores 0', async (_, source) => {
    const { setup, target, patchOf } = await prepare(module, {
      'reward.mjs':
        "export async function reward({ root }) {\n  const { add } = await import(root + '/add.mjs');\n  return add(1, 2) === 3;\n}\n",
    });
    const outcome = await makeBaseline(setup);
    if (outcome.kind !== 'baseline') throw new Error(JSON.stringify(outcome));
    const graded = await gradePatch({
      setup,
      baseline: outcome.baseline,
      targets: [target],
      patch: await patchOf({ 'add.mjs': source }),
    });
    expect(graded).toMatchObject({ kind: 'graded', report: { verdict: 'failed' } });
  });

  it('a change of the module in the workspace counts for nothing', async () => {
    const { setup, target, patchOf } = await prepare(module, { 'reward.mjs': byRunning });
    const outcome = await makeBaseline(setup);
    if (outcome.kind !== 'baseline') throw new Error(JSON.stringify(outcome));
    const patch = await patchOf({ 'reward.mjs': 'export const reward = () => true;\n' });
    const graded = await gradePatch({
      setup,
      baseline: outcome.baseline,
      targets: [target],
      patch,
    });
    expect(graded).toMatchObject({
      kind: 'graded',
      report: { verdict: 'failed', reverted: ['reward.mjs'] },
    });
  });
});
