import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { openWorkspaceRunner } from '../../../src/core/fix/workspace-runner.ts';
import { createCommandFramework } from '../../../src/core/frameworks/command/command.ts';
import { nodeTest } from '../../../src/core/frameworks/node-test/node-test.ts';
import { pytest } from '../../../src/core/frameworks/pytest/pytest.ts';
import { tempFolder } from '../../support/temp.ts';
import { expectResults, expectUntouched, LAYERS, type OwnProject } from './own-environment.ts';

/** What tests and their tools leave behind: build outputs, caches, changed lock files. */
const MESS = 'echo more >>lock && rm old && mkdir -p target && echo x >target/made';

const projects: Readonly<Record<string, OwnProject>> = {
  command: {
    framework: createCommandFramework(`test -f ignored/data && ${MESS} && ls target/made`),
    files: { lock: '1\n', old: '', 'ignored/data': '7', '.gitignore': 'ignored\n' },
    results: { command: 'passed' },
  },
  'node:test': {
    framework: nodeTest,
    files: {
      'package.json': '{"type":"module"}\n',
      lock: '1\n',
      old: '',
      'test/a.test.js': `import { execFileSync } from 'node:child_process';
import test from 'node:test';
test('makes a mess', () => { execFileSync('bash', ['-c', '${MESS}']); });
`,
    },
    results: { 'test/a.test.js::makes a mess': 'passed' },
  },
  pytest: {
    framework: pytest,
    files: {
      lock: '1\n',
      old: '',
      'test_a.py': `import subprocess

def test_makes_a_mess():
    subprocess.run(["bash", "-c", "${MESS}"], check=True)
`,
    },
    results: { 'test_a.py::test_makes_a_mess': 'passed' },
  },
};

describe.each(LAYERS)('the run in the user’s own environment (%s)', (layers) => {
  test.each(Object.entries(projects))(
    'changes nothing of the workspace: %s',
    async (_, project) => {
      await expectResults(project, layers);
    },
  );
});

describe('the run in the user’s own environment', () => {
  test('sees the user, the environment and the paths that the user has', async () => {
    const command = `[ "$(id -u)" = ${process.getuid?.()} ] && [ "$PWD" = "$(pwd -P)" ] && [ "$OWN" = yes ]`;
    const framework = createCommandFramework(command);
    const result = await expectUntouched(
      { framework, files: { a: '' }, env: { OWN: 'yes' } },
      'auto',
    );
    expect(result, JSON.stringify(result)).toMatchObject({ results: [{ status: 'passed' }] });
  });

  test('writes to no dependency that lies elsewhere', async () => {
    const elsewhere = await tempFolder();
    const framework = createCommandFramework(`touch ${elsewhere}/made && ls ${elsewhere}/made`);
    const dependencies = [{ path: 'node_modules', hostPath: elsewhere }];
    const result = await expectUntouched({ framework, files: { a: '' }, dependencies }, 'auto');
    expect(result, JSON.stringify(result)).toMatchObject({ results: [{ status: 'passed' }] });
    expect(await readdir(elsewhere)).toEqual([]);
  });

  test('ends what the tests leave running', async () => {
    const framework = createCommandFramework(`(setsid sleep 321.5 &) ; sleep 0.1`);
    await expectUntouched({ framework, files: { a: '' } }, 'auto');
    expect(await running(['sleep', '321.5'].join('\0'))).toBe(false);
  });

  test('does not take place where the workspace can neither be layered nor copied', async () => {
    const root = await tempFolder();
    const opened = await openWorkspaceRunner(
      { root, dependencies: [] },
      {
        toolchain: { path: [], mounts: [], env: {} },
        toolbox: {},
        layers: 'copy',
        // A folder inside of the workspace cannot hold a copy of it.
        environment: { PATH: process.env.PATH, PRIME_AGENT_HOME: `${root}/state` },
      },
    );
    expect(opened).toMatchObject({ kind: 'unavailable', reason: expect.stringContaining(root) });
  });
});

async function running(command: string): Promise<boolean> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.startsWith(command)) return true;
  }
  return false;
}
