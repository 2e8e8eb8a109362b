import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeTest } from '../../../src/core/frameworks/node-test/node-test.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { makeBaseline } from '../../../src/core/grading/baseline.ts';
import { gradePatch } from '../../../src/core/grading/grade.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import { makeBase } from '../../../src/core/snapshot/base.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';

/** Without isolation code under test can reach the supervisor: the one real way to break a sandbox from inside. */
const KILLS_SUPERVISOR = `
const { readFileSync } = require('node:fs');
const supervisors = [];
for (let pid = process.ppid; pid > 1; ) {
  const parent = Number(readFileSync('/proc/' + pid + '/stat', 'utf8').split(') ')[1].split(' ')[1]);
  if (readFileSync('/proc/' + pid + '/cmdline', 'utf8').includes('supervisor')) supervisors.push(pid);
  pid = parent;
}
// The outermost first: the end of an inner one may take this process with it.
for (const pid of supervisors.reverse()) process.kill(pid, 'SIGKILL');
exports.add = (a, b) => a + b;
`;

it('a patch that breaks its sandbox every time is failed, not without a reward', async () => {
  const folder = await tempFolder();
  const root = join(folder, 'work');
  await writeFiles(root, {
    'package.json': '{"scripts":{"test":"node --test"}}',
    'add.js': 'exports.add = (a, b) => a - b;\n',
    'add.test.js':
      "const { test } = require('node:test');\nconst assert = require('node:assert');\ntest('adds', () => assert.equal(require('./add.js').add(1, 2), 3));\n",
  });
  execFileSync('git', ['init', '-q'], { cwd: root });
  const stateDir = join(folder, 'state');
  const made = await makeBase(root, { stateDir });
  const toolchain = await nodeTest.toolchain(openWorkspaceFiles(root));
  if (made.kind !== 'base' || toolchain.kind !== 'found') throw new Error('cannot prepare');
  const setup = {
    provider: createNoneSandbox({ stateDir }),
    spec: {
      base: made.base,
      toolchain: toolchain.toolchain,
      toolbox: nodeTest.toolbox,
      limits: { processes: 512, fileBytes: 2 ** 30 },
    },
    framework: nodeTest,
    program: toolchain.program,
    projectPath: '',
    timeoutMs: 20_000,
  };
  const outcome = await makeBaseline(setup);
  if (outcome.kind !== 'baseline') throw new Error(JSON.stringify(outcome));
  execFileSync('git', ['add', '-A'], { cwd: root });
  await writeFiles(root, { 'add.js': KILLS_SUPERVISOR });
  const patch = execFileSync('git', ['diff'], { cwd: root, encoding: 'utf8' });
  const graded = await gradePatch({
    setup,
    baseline: outcome.baseline,
    targets: ['add.test.js::adds'],
    patch,
  });
  expect(graded).toMatchObject({
    kind: 'graded',
    report: { verdict: 'failed', strict: { explanation: expect.stringContaining('broke twice') } },
  });
});
