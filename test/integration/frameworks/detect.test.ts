import { execFileSync } from 'node:child_process';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { detectFrameworks } from '../../../src/core/frameworks/detect.ts';
import { openWorkspaceFiles, subWorkspace } from '../../../src/core/frameworks/workspace-files.ts';
import { type Files, writeProject } from './support.ts';

const roots: string[] = [];
afterEach(async () => {
  for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true });
});

async function project(files: Files): Promise<string> {
  const root = await writeProject(files);
  roots.push(root);
  return root;
}

async function detected(files: Files): Promise<readonly string[]> {
  const found = await detectFrameworks(openWorkspaceFiles(await project(files)));
  return found.map(
    ({ framework, detection }) =>
      `${framework.id} in /${detection.projectPath}: ${detection.reason}`,
  );
}

const nodeScript = '{"scripts":{"test":"node --test"}}';
const usesNodeTest = "import test from 'node:test';\n";

describe('detecting frameworks', () => {
  test.each<readonly [string, Files, readonly string[]]>([
    ['nothing', { 'README.md': '' }, []],
    [
      'a test script',
      { 'package.json': nodeScript },
      ['node:test in /: package.json: scripts.test runs node --test'],
    ],
    [
      'a script behind another',
      { 'package.json': '{"scripts":{"test":"npm run unit","unit":"tsx --test src"}}' },
      ['node:test in /: package.json: scripts.test runs node --test'],
    ],
    [
      'only files',
      { 'package.json': '{}', 'src/a.test.js': usesNodeTest },
      ['node:test in /: src/a.test.js imports node:test'],
    ],
    [
      'another runner',
      { 'package.json': '{"scripts":{"test":"jest"}}', 'a.test.js': usesNodeTest },
      ['jest in /: package.json: scripts.test runs jest'],
    ],
    [
      'a broken manifest',
      { 'package.json': '{', 'a.test.js': usesNodeTest },
      ['node:test in /: a.test.js imports node:test'],
    ],
    [
      'a runner by its script, among flags and in front of others',
      { 'package.json': '{"scripts":{"test":"tsc && cross-env CI=1 c8 vitest run && eslint ."}}' },
      ['vitest in /: package.json: scripts.test runs vitest'],
    ],
    [
      'two runners in one script',
      { 'package.json': '{"scripts":{"test":"mocha && jest"}}' },
      [
        'jest in /: package.json: scripts.test runs jest',
        'mocha in /: package.json: scripts.test runs mocha',
      ],
    ],
    [
      'a script of another name',
      { 'package.json': '{"scripts":{"test:unit":"node node_modules/.bin/mocha"}}' },
      ['mocha in /: package.json: scripts.test:unit runs mocha'],
    ],
    ['a configuration file', { '.mocharc.yml': '' }, ['mocha in /: .mocharc.yml exists']],
    [
      'a key of the manifest',
      { 'package.json': '{"jest":{"testEnvironment":"node"}}' },
      ['jest in /: package.json has jest'],
    ],
    [
      'a dependency with tests',
      {
        'package.json': '{"devDependencies":{"tape":"5","tap":"21","ava":"6"}}',
        'test/a.js': "const test = require('tape');\n",
      },
      ['tape in /: package.json depends on tape, and test/a.js is named like a test'],
    ],
    [
      'a dependency that is something else',
      { 'package.json': '{"devDependencies":{"jest-codemods":"1"},"scripts":{"test":"./jest/x"}}' },
      [],
    ],
    [
      'a monorepo with a runner of its own in each package',
      {
        'package.json': '{"workspaces":["packages/*"],"devDependencies":{"vitest":"4"}}',
        'packages/a/package.json': '{"scripts":{"test":"vitest run"}}',
        'packages/a/a.test.ts': "import { test } from 'vitest';\n",
        'packages/b/package.json': '{"scripts":{"test":"mocha"}}',
        'packages/c/package.json': '{"scripts":{"test":"ava"}}',
        'packages/d/package.json': '{"scripts":{"test":"tap"}}',
      },
      [
        'vitest in /packages/a: packages/a/ package.json: scripts.test runs vitest',
        'mocha in /packages/b: packages/b/ package.json: scripts.test runs mocha',
        'tap in /packages/d: packages/d/ package.json: scripts.test runs tap',
        'ava in /packages/c: packages/c/ package.json: scripts.test runs ava',
      ],
    ],
    [
      'unittest alone',
      { Makefile: 'test:\n\tpython -m unittest discover\n', 'test_x.py': 'import unittest\n' },
      ['unittest in /: Makefile starts python -m unittest'],
    ],
    [
      'unittest in a project that has pytest',
      { 'requirements-dev.txt': 'pytest\n', 'test_x.py': 'import unittest\n' },
      ['pytest in /: test_x.py is named like a test'],
    ],
    ['pytest.ini', { 'pytest.ini': '' }, ['pytest in /: pytest.ini exists']],
    [
      'pyproject.toml',
      { 'pyproject.toml': '[tool.pytest.ini_options]\n' },
      ['pytest in /: pyproject.toml has [tool.pytest]'],
    ],
    ['setup.cfg', { 'setup.cfg': '[tool:pytest]\n' }, ['pytest in /: setup.cfg has [tool:pytest]']],
    ['tox.ini', { 'tox.ini': '[pytest]\n' }, ['pytest in /: tox.ini has [pytest]']],
    ['conftest.py', { 'tests/conftest.py': '' }, ['pytest in /: tests/conftest.py exists']],
    ['names alone', { 'a/test_x.py': '' }, ['pytest in /: a/test_x.py is named like a test']],
    [
      'two languages',
      { 'package.json': nodeScript, 'test_x.py': '' },
      [
        'node:test in /: package.json: scripts.test runs node --test',
        'pytest in /: test_x.py is named like a test',
      ],
    ],
    [
      'several projects',
      {
        'package.json': '{"workspaces":["packages/*"]}',
        'packages/a/package.json': nodeScript,
        'packages/b/package.json': nodeScript,
        'packages/b/node_modules/c/package.json': nodeScript,
        'service/pyproject.toml': '',
        'service/tests/test_x.py': '',
      },
      [
        'node:test in /packages/a: packages/a/ package.json: scripts.test runs node --test',
        'node:test in /packages/b: packages/b/ package.json: scripts.test runs node --test',
        'pytest in /service: service/ tests/test_x.py is named like a test',
      ],
    ],
  ])('%s', async (_, files, expected) => {
    expect(await detected(files)).toEqual(expected);
  });
});

describe('the files of a workspace', () => {
  test('with git: tracked and untracked, not ignored; nothing that the repository configures runs', async () => {
    const root = await project({
      'a.txt': '',
      'sub/ü b.txt': '',
      'ignored/x': '',
      '.gitignore': 'ignored/\n',
    });
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root });
    git('init', '-q');
    git('add', 'a.txt');
    await writeFile(join(root, 'spy.sh'), `#!/bin/sh\ntouch ${join(root, 'ran')}\n`);
    await chmod(join(root, 'spy.sh'), 0o755);
    git('config', 'core.fsmonitor', join(root, 'spy.sh'));
    const files = openWorkspaceFiles(root);
    expect(await files.files()).toEqual(['.gitignore', 'a.txt', 'spy.sh', 'sub/ü b.txt']);
    expect(await files.exists('ran')).toBe(false);
    expect(await subWorkspace(files, 'sub').files()).toEqual(['ü b.txt']);
  });

  test('without git: a walk that leaves dependencies out', async () => {
    const root = await project({ 'a/b.txt': 'x', 'node_modules/c/d.js': '', '.venv/e.py': '' });
    const files = openWorkspaceFiles(root);
    expect(await files.files()).toEqual(['a/b.txt']);
    expect(await files.readText('a/b.txt')).toBe('x');
    expect(await files.readText('a')).toBeUndefined();
    expect(await files.readText('gone')).toBeUndefined();
    expect(await files.list('a')).toEqual(['b.txt']);
    expect(await files.list('gone')).toEqual([]);
  });
});
