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
    [
      'Go: a module with a test',
      { 'go.mod': 'module a\n', 'calc/calc_test.go': '' },
      ['go test in /: go.mod exists, and calc/calc_test.go is a test'],
    ],
    [
      'Go: files that the tool leaves out are no tests',
      {
        'go.mod': 'module a\n',
        'testdata/a_test.go': '',
        '_old/a_test.go': '',
        'vendor/b/b_test.go': '',
        '_a_test.go': '',
        'a_test.go.txt': '',
      },
      [],
    ],
    ['Go: tests without a module', { 'a_test.go': '' }, []],
    [
      'Go: a workspace of modules, of which the one at the top has tests of its own',
      {
        'go.work': 'go 1.21\nuse (\n\t.\n\t./tools\n)\n',
        'go.mod': 'module a\n',
        'a_test.go': '',
        'tools/go.mod': 'module tools\n',
        'tools/x/x_test.go': '',
        'empty/go.mod': 'module empty\n',
      },
      [
        'go test in /: go.mod exists, and a_test.go is a test',
        'go test in /tools: tools/ go.mod exists, and x/x_test.go is a test',
      ],
    ],
    [
      'Go: the module at the top has none, modules below it have',
      { 'go.mod': 'module a\n', 'b/go.mod': 'module b\n', 'b/b_test.go': '' },
      ['go test in /b: b/ go.mod exists, and b_test.go is a test'],
    ],
    [
      'Go: a module in a module in a folder',
      {
        'api/go.mod': 'module api\n',
        'api/a_test.go': '',
        'api/gen/go.mod': 'module gen\n',
        'api/gen/b_test.go': '',
      },
      [
        'go test in /api: api/ go.mod exists, and a_test.go is a test',
        'go test in /api/gen: api/gen/ go.mod exists, and b_test.go is a test',
      ],
    ],
    [
      'cargo: a package',
      { 'Cargo.toml': '[package]\nname = "a"\n', 'src/lib.rs': '' },
      ['cargo test in /: Cargo.toml exists'],
    ],
    ['cargo: no Rust in it', { 'Cargo.toml': '[package]\nname = "a"\n' }, []],
    [
      'cargo: a workspace is run from its top',
      {
        'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\n',
        'crates/a/Cargo.toml': '[package]\nname = "a"\n',
        'crates/a/src/lib.rs': '',
        'crates/b/Cargo.toml': '[package]\nname = "b"\n',
        'crates/b/src/main.rs': '',
      },
      ['cargo test in /: Cargo.toml has [workspace]'],
    ],
    [
      'cargo: packages beside each other',
      {
        'a/Cargo.toml': '[package]\nname = "a"\n',
        'a/src/lib.rs': '',
        'b/Cargo.toml': '# [workspace]\n[package]\nname = "b"\n',
        'b/src/lib.rs': '',
      },
      ['cargo test in /a: a/ Cargo.toml exists', 'cargo test in /b: b/ Cargo.toml exists'],
    ],
    [
      'Maven: one module',
      { 'pom.xml': '<project/>', 'src/test/java/shop/CartTest.java': '' },
      ['junit in /: pom.xml exists, and src/test/java/shop/CartTest.java is a test'],
    ],
    ['Maven: without a test', { 'pom.xml': '<project/>', 'src/main/java/a/latest/A.java': '' }, []],
    [
      'Maven: modules are run from their top',
      {
        'pom.xml': '<project><modules><module>a</module></modules></project>',
        'a/pom.xml': '<project/>',
        'a/src/test/java/ATest.java': '',
      },
      ['junit in /: pom.xml exists, and a/src/test/java/ATest.java is a test'],
    ],
    [
      'Maven: a project below one that does not run it',
      {
        'pom.xml': '<project/>',
        'src/test/java/ATest.java': '',
        'tools/pom.xml': '<project/>',
        'tools/src/test/java/BTest.java': '',
      },
      [
        'junit in /: pom.xml exists, and src/test/java/ATest.java is a test',
        'junit in /tools: tools/ pom.xml exists, and src/test/java/BTest.java is a test',
      ],
    ],
    [
      'Gradle: one project, in Kotlin',
      { 'build.gradle.kts': '', 'src/test/kotlin/CartTest.kt': '' },
      ['junit in /: build.gradle.kts exists, and src/test/kotlin/CartTest.kt is a test'],
    ],
    [
      'Gradle: settings name the projects, also in a folder of its own',
      {
        'jvm/settings.gradle': "include 'app', 'lib'\n",
        'jvm/app/build.gradle': '',
        'jvm/app/src/test/java/ATest.java': '',
        'jvm/lib/build.gradle': '',
        'jvm/lib/src/integrationTest/java/BTest.java': '',
      },
      ['junit in /jvm: jvm/ settings.gradle exists, and app/src/test/java/ATest.java is a test'],
    ],
    [
      'Gradle: a build at the top with settings beside it runs all of them',
      {
        'settings.gradle.kts': 'include("app")\n',
        'build.gradle.kts': '',
        'app/build.gradle.kts': '',
        'app/src/test/java/ATest.java': '',
      },
      ['junit in /: build.gradle.kts exists, and app/src/test/java/ATest.java is a test'],
    ],
    [
      'a monorepo of Go, Rust, Java and Node',
      {
        'api/go.mod': 'module api\n',
        'api/api_test.go': '',
        'core/Cargo.toml': '[workspace]\nmembers = ["a"]\n',
        'core/a/Cargo.toml': '[package]\nname = "a"\n',
        'core/a/src/lib.rs': '',
        'shop/pom.xml': '<project/>',
        'shop/src/test/java/shop/CartTest.java': '',
        'android/settings.gradle': '',
        'android/app/build.gradle': '',
        'android/app/src/test/java/AppTest.kt': '',
        'web/package.json': '{"scripts":{"test":"vitest run"}}',
        'web/test/fixtures/go/go.mod': 'module fixture\n',
        'web/test/fixtures/go/a_test.go': '',
      },
      [
        'vitest in /web: web/ package.json: scripts.test runs vitest',
        'cargo test in /core: core/ Cargo.toml has [workspace]',
        'junit in /android: android/ settings.gradle exists, and app/src/test/java/AppTest.kt is a test',
        'go test in /api: api/ go.mod exists, and api_test.go is a test',
        'junit in /shop: shop/ pom.xml exists, and src/test/java/shop/CartTest.java is a test',
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
