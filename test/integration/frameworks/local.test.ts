import { beforeAll, describe, expect, test } from 'vitest';
import type { Framework } from '../../../src/core/frameworks/framework.ts';
import { nodeTest } from '../../../src/core/frameworks/node-test/node-test.ts';
import { pytest } from '../../../src/core/frameworks/pytest/pytest.ts';
import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import { createRunTestsTool } from '../../../src/core/tools/run-tests/run-tests.ts';
import { type Files, openProject, ran, resultOf } from './support.ts';

const javaScript: Files = {
  'package.json': '{"scripts":{"test":"node --test"}}',
  'src/add.js': 'exports.add = (a, b) => a - b;\n',
  'test/add.test.js':
    "const { test } = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../src/add.js');\ntest('adds', () => { assert.equal(add(1, 2), 3); });\ntest('zero', () => { assert.equal(add(0, 0), 0); });\n",
};

const python: Files = {
  'calc.py': 'def add(a, b):\n    return a - b\n',
  'test_calc.py':
    'from calc import add\n\ndef test_adds():\n    assert add(1, 2) == 3\n\ndef test_zero():\n    assert add(0, 0) == 0\n',
};

const cases: readonly (readonly [string, Framework, Files, string, string])[] = [
  ['node:test', nodeTest, javaScript, 'test/add.test.js::adds', 'test/add.test.js:4'],
  ['pytest', pytest, python, 'test_calc.py::test_adds', 'test_calc.py:4'],
];

describe('in the local sandbox', () => {
  const provider = createLocalSandbox();
  beforeAll(async () => {
    const state = await provider.availability();
    if (!state.available) throw new Error(`${state.reason} ${state.remedy}`);
  });

  test.each(cases)(
    '%s runs, and run_tests shows the failure',
    async (_, framework, files, id, place) => {
      const project = await openProject(framework, files, { provider });
      try {
        const run = ran(await project.run());
        expect(resultOf(run, id).failure).toMatchObject({ expected: '3', actual: '-1' });
        expect(run.complete).toBe(true);

        const tool = createRunTestsTool({
          session: project.session,
          framework,
          program: project.program,
          projectPath: '',
          targets: [id],
          timeoutMs: 30_000,
        });
        const context = { signal: new AbortController().signal };
        expect(await tool.run({}, context)).toEqual({
          ok: false,
          text: `1 failed\n\nFAIL ${id}\n  expected: 3\n  actual: -1\n  at ${place}`,
          detail: { tests: { passed: 0, failed: 1, other: 0 } },
        });

        const edit = {
          argv: ['sed', '-i', 's/a - b/a + b/', framework === pytest ? 'calc.py' : 'src/add.js'],
        };
        await project.session.run(edit, { timeoutMs: 5_000, maxOutputBytes: 1_000 });
        const file = `/workspace/${id.split('::')[0]}`;
        expect(await tool.run({ tests: [file] }, context)).toMatchObject({
          ok: true,
          text: '2 passed',
        });
        const withLog = await tool.run({ log: true }, context);
        expect(withLog.text).toMatch(/^1 passed\n\nLog:\n/);
        expect(withLog.text).not.toContain(project.root);
      } finally {
        await project.close();
      }
    },
  );

  test('a process that a test leaves behind does not hold the run', async () => {
    const project = await openProject(
      pytest,
      {
        'test_a.py':
          'import os, subprocess\n\ndef test_leaves():\n    subprocess.Popen(["sleep", "60"], close_fds=False)\n    if os.fork() == 0:\n        os.execvp("sleep", ["sleep", "60"])\n',
      },
      { provider },
    );
    try {
      const began = Date.now();
      expect(ran(await project.run()).results.map(({ status }) => status)).toEqual(['passed']);
      expect(Date.now() - began).toBeLessThan(20_000);
    } finally {
      await project.close();
    }
  });

  test('nothing of a run is left behind in the session', async () => {
    const project = await openProject(nodeTest, javaScript, { provider });
    try {
      await project.run();
      const left = await project.session.run(
        { argv: ['bash', '-c', 'ls /tmp "$TMPDIR"'] },
        { timeoutMs: 5_000, maxOutputBytes: 1_000 },
      );
      expect(new TextDecoder().decode(left.output.head)).not.toContain('prime-run');
    } finally {
      await project.close();
    }
  });
});
