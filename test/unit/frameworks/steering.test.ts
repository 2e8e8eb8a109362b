import { describe, expect, test } from 'vitest';
import { nodeSteering } from '../../../src/core/frameworks/node-test/steering.ts';
import { pytestSteering } from '../../../src/core/frameworks/pytest/steering.ts';

describe('which files', () => {
  test.each([
    ['test/a.js', true],
    ['src/a.test.ts', true],
    ['src/__tests__/a.mjs', true],
    ['test/fixtures/data.json', true],
    ['src/__snapshots__/a.snap', true],
    ['src/contest.js', false],
    ['src/latest.js', false],
    ['src/testing.js', false],
  ])('node:test: is %s a test file? %s', (path, expected) => {
    expect(nodeSteering.isTestFile(path)).toBe(expected);
  });

  test.each([
    ['.npmrc', true],
    ['packages/a/.nvmrc', true],
    ['node_modules/x/index.js', true],
    ['package.json', false],
    ['src/index.js', false],
  ])('node:test: does %s steer as a whole? %s', (path, expected) => {
    expect(nodeSteering.isSteeringFile(path)).toBe(expected);
  });

  test.each([
    ['tests/data.json', true],
    ['pkg/test_a.py', true],
    ['pkg/a_test.py', true],
    ['conftest.py', true],
    ['pkg/attest.py', false],
    ['numbers/testing/compare.py', false],
    ['pkg/latest_a.py', false],
  ])('pytest: is %s a test file? %s', (path, expected) => {
    expect(pytestSteering.isTestFile(path)).toBe(expected);
  });

  test.each([
    ['pytest.ini', true],
    ['sitecustomize.py', true],
    ['lib/x.pth', true],
    ['pytest.py', true],
    ['_pytest/python.py', true],
    ['setup.cfg', false],
    ['app/pytester.py', false],
    ['pytest_mock/plugin.py', false],
  ])('pytest: does %s steer as a whole? %s', (path, expected) => {
    expect(pytestSteering.isSteeringFile(path)).toBe(expected);
  });
});

describe('package.json', () => {
  const before = `{
    "name": "x",
    "scripts": { "test": "npm run unit", "unit": "node --test", "start": "node ." }
}
`;
  const restore = (after: string, old: string | undefined = before): string | undefined =>
    nodeSteering.restoreKeys('package.json', old, after);

  test('other keys and their formatting stay', () => {
    const after = before.replace('"x"', '"y"').replace('"node ."', '"node main.js"');
    expect(restore(after)).toBe(after);
  });

  test('test scripts and what they run come back, new ones go', () => {
    const after = `{
    "name": "y",
    "scripts": { "test": "true", "unit": "true", "pretest": "cp a b", "start": "node ." },
    "jest": {}
}
`;
    expect(JSON.parse(restore(after) ?? '')).toEqual({
      name: 'y',
      scripts: { test: 'npm run unit', unit: 'node --test', start: 'node .' },
    });
    expect(restore(after)).toContain('\n    "name": "y",\n');
  });

  test('a removed script comes back', () => {
    expect(JSON.parse(restore('{"name":"x"}') ?? '')).toEqual({
      name: 'x',
      scripts: { test: 'npm run unit', unit: 'node --test' },
    });
  });

  test('a new manifest gets no test script', () => {
    expect(
      JSON.parse(
        nodeSteering.restoreKeys(
          'package.json',
          undefined,
          '{"scripts":{"test":"true","a":"b"}}',
        ) ?? '',
      ),
    ).toEqual({ scripts: { a: 'b' } });
  });

  test('what is no JSON any more is put back as a whole', () => {
    expect(restore('{ broken')).toBe(before);
  });

  test('other files are not its business', () => {
    expect(nodeSteering.restoreKeys('package-lock.json', '{}', '{}')).toBeUndefined();
    expect(pytestSteering.restoreKeys('package.json', '{}', '{}')).toBeUndefined();
  });
});

describe('pyproject.toml', () => {
  const before = `[project]
name = "x"  # a comment
description = """
[tool.pytest.ini_options]
"""

[tool.pytest.ini_options]
addopts = "-q"

[tool.black]
line-length = 100
`;
  const restore = (after: string): string | undefined =>
    pytestSteering.restoreKeys('pyproject.toml', before, after);

  test('other tables stay byte for byte', () => {
    const after = before
      .replace('line-length = 100', 'line-length =   88 # wide')
      .replace('"x"', "'y'");
    expect(restore(after)).toBe(after);
  });

  test('changed options come back', () => {
    expect(
      restore(before.replace('addopts = "-q"', 'addopts = "-p no:assertion"').replace('100', '88')),
    ).toBe(before.replace('100', '88'));
  });

  test('removed options come back', () => {
    const after = before.replace('[tool.pytest.ini_options]\naddopts = "-q"\n\n', '');
    expect(restore(after)).toContain('[tool.pytest.ini_options]\naddopts = "-q"\n');
  });

  test.each([
    ['a dotted key', `tool.pytest.ini_options.python_files = "x"\n${before}`],
    [
      'an inline table',
      `${before.replace('[tool.pytest.ini_options]\naddopts', '[tool.pytest]\nini_options = { python_files = "x" }\naddopts')}`,
    ],
    ['no TOML', 'a = = 1'],
  ])('%s cannot smuggle options in', (_, after) => {
    const text = restore(after);
    expect(text).not.toContain('python_files');
  });
});

describe('INI files', () => {
  test('only their pytest section is put back', () => {
    const before = '[metadata]\nname = x\n\n[tool:pytest]\naddopts = -q\n\n[flake8]\nmax = 1\n';
    const after =
      '[metadata]\nname = y\n\n[tool:pytest]\naddopts = -k nothing\npython_files = z\n\n[flake8]\nmax = 2\n';
    expect(pytestSteering.restoreKeys('setup.cfg', before, after)).toBe(
      before.replace('name = x', 'name = y').replace('max = 1', 'max = 2'),
    );
  });

  test('a new section goes', () => {
    expect(
      pytestSteering.restoreKeys('tox.ini', undefined, '[pytest]\naddopts = -q\n[other]\na = 1\n'),
    ).toBe('[other]\na = 1\n');
  });
});
