import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pytest } from '../../../src/core/frameworks/pytest/pytest.ts';
import { renderTestRun } from '../../../src/core/tools/run-tests/render.ts';
import {
  HANGING_TEST_MS,
  openProject,
  type Project,
  ran,
  resultOf,
  runHanging,
  statuses,
} from './support.ts';

const files = {
  'pyproject.toml': '[tool.pytest.ini_options]\naddopts = "-x --lf -v --strict-markers"\n',
  'shop/__init__.py': '',
  'shop/cart.py':
    'def total(items):\n    if not isinstance(items, list):\n        raise TypeError("no list")\n    return len(items)\n',
  'tests/conftest.py':
    'import pytest\n\n@pytest.fixture\ndef broken():\n    raise ValueError("no database")\n\n@pytest.fixture\ndef leaky():\n    yield 1\n    raise OSError("cannot close")\n',
  'tests/test_cart.py': `import sys
import unittest
import pytest
from shop.cart import total

def test_passes():
    print("some output")
    assert total([1]) == 1

def test_compares():
    assert total([1]) == 12

def test_source_raises():
    total(3)

@pytest.mark.parametrize("n", [1, 2, pytest.param("a b::c", id="odd [id]::x")])
def test_each(n):
    assert n != 2, "two is bad"

class TestGroup:
    def test_inside(self):
        assert "b" in "acd"

class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(1, 2)

@pytest.mark.xfail
def test_xfail():
    assert False

@pytest.mark.xfail
def test_xpass():
    pass

@pytest.mark.xfail(strict=True)
def test_strict():
    pass

@pytest.mark.skip(reason="later")
def test_skipped():
    pass

def test_setup(broken):
    pass

def test_teardown(leaky):
    pass

def test_exits():
    sys.exit(3)

def test_strings():
    assert "one\\ntwo" == "one\\nthree"

def test_looks_alike():
    assert "12" == 12

def test_text_alone():
    raise AssertionError("only words")

def test_rewritten_elsewhere():
    with pytest.raises(AssertionError):
        assert 1 == 5
    raise KeyError("gone")
`,
  'tests/test_syntax.py': 'def test_x(:\n    pass\n',
  'tests/test_import.py': 'from shop import nowhere\n\ndef test_x():\n    pass\n',
};

describe('pytest in a project', () => {
  let project: Project;
  beforeAll(async () => {
    project = await openProject(pytest, files);
  });
  afterAll(async () => {
    await project?.close();
  });

  test('a run of everything reports each test once, with collection errors apart', async () => {
    const run = ran(await project.run());
    const file = 'tests/test_cart.py';
    expect(statuses(run.results)).toEqual({
      [`${file}::test_passes`]: 'passed',
      [`${file}::test_compares`]: 'failed',
      [`${file}::test_source_raises`]: 'failed',
      [`${file}::test_each[1]`]: 'passed',
      [`${file}::test_each[2]`]: 'failed',
      [`${file}::test_each[odd [id]::x]`]: 'passed',
      [`${file}::TestGroup::test_inside`]: 'failed',
      [`${file}::Old::test_old`]: 'failed',
      [`${file}::test_xfail`]: 'xfailed',
      [`${file}::test_xpass`]: 'xpassed',
      [`${file}::test_strict`]: 'failed',
      [`${file}::test_skipped`]: 'skipped',
      [`${file}::test_setup`]: 'error',
      [`${file}::test_teardown`]: 'error',
      [`${file}::test_exits`]: 'failed',
      [`${file}::test_strings`]: 'failed',
      [`${file}::test_looks_alike`]: 'failed',
      [`${file}::test_text_alone`]: 'failed',
      [`${file}::test_rewritten_elsewhere`]: 'failed',
    });
    expect(run.complete).toBe(true);
    const errors = Object.fromEntries(
      run.collectionErrors.map(({ file: name, ...rest }) => [name, rest]),
    );
    expect(errors['tests/test_syntax.py']).toMatchObject({
      message: expect.stringContaining('SyntaxError'),
      place: { file: 'tests/test_syntax.py', line: 1 },
    });
    expect(errors['tests/test_import.py']).toMatchObject({
      message: expect.stringContaining("cannot import name 'nowhere' from 'shop'"),
      place: { file: 'tests/test_import.py', line: 1 },
    });
  });

  test('failures carry values, message, place and first own frame', async () => {
    const run = await project.run(['tests/test_cart.py']);
    const failure = (name: string) => resultOf(run, `tests/test_cart.py::${name}`).failure;
    expect(failure('test_compares')).toMatchObject({
      expected: '12',
      actual: '1',
      place: { file: 'tests/test_cart.py', line: 11 },
    });
    expect(failure('test_compares')?.ownFrame).toBeUndefined();
    expect(failure('test_source_raises')).toMatchObject({
      message: 'TypeError: no list',
      place: { file: 'tests/test_cart.py', line: 14 },
      ownFrame: { file: 'shop/cart.py', line: 3, function: 'total' },
    });
    expect(failure('test_each[2]')?.message).toContain('two is bad');
    expect(failure('TestGroup::test_inside')).toMatchObject({ message: "assert 'b' in 'acd'" });
    expect(failure('Old::test_old')?.message).toBe('1 != 2');
    expect(failure('test_strict')?.message).toContain('XPASS(strict)');
    expect(failure('test_setup')?.message).toBe('ValueError: no database');
    expect(failure('test_teardown')?.message).toBe('in teardown: OSError: cannot close');
    expect(failure('test_exits')?.message).toBe('SystemExit: 3');
    expect(failure('test_strings')).toMatchObject({ expected: 'one\nthree', actual: 'one\ntwo' });
    // Without quotes the two would look the same.
    expect(failure('test_looks_alike')).toMatchObject({ expected: '12', actual: "'12'" });
    expect(failure('test_text_alone')).toMatchObject({ message: 'only words' });
    expect(failure('test_rewritten_elsewhere')).not.toHaveProperty('expected');
    expect(failure('test_rewritten_elsewhere')?.message).toBe("KeyError: 'gone'");
  });

  test.each([
    ['one test', 'tests/test_cart.py::test_passes', 1],
    ['a parametrised test', 'tests/test_cart.py::test_each', 3],
    ['one of its parameters', 'tests/test_cart.py::test_each[odd [id]::x]', 1],
    ['a class', 'tests/test_cart.py::TestGroup', 1],
    ['a folder', 'tests', 19],
  ])('choosing %s gives exactly that', async (_, id, count) => {
    const run = ran(await project.run([id]));
    expect(run.results).toHaveLength(count);
    for (const result of run.results) expect(result.id.startsWith(id)).toBe(true);
  });

  test('listing only collects', async () => {
    const run = ran(await project.run(['tests/test_cart.py'], { listOnly: true }));
    expect(run.results).toHaveLength(19);
    expect(run.results.every(({ status }) => status === 'listed')).toBe(true);
    expect(run.results[0]).toMatchObject({ file: 'tests/test_cart.py', line: 6 });
  });

  test('a file or test that does not exist is said, and the others run', async () => {
    const ids = [
      'tests/gone.py::x',
      'tests/test_cart.py::nothing',
      'tests/test_cart.py::test_passes',
    ];
    expect(renderTestRun(await project.run(ids), { tests: ids })).toBe(
      '1 file could not be loaded, 1 passed\n\nERROR tests/gone.py\n  there is no such file\n\nNot found: tests/test_cart.py::nothing',
    );
  });

  test('nothing is written into the workspace', async () => {
    const result = await project.session.run(
      { argv: ['bash', '-c', 'ls -A; find . -name "*.pyc"'] },
      { timeoutMs: 10_000, maxOutputBytes: 10_000 },
    );
    const names = new TextDecoder().decode(result.output.head);
    expect(names).not.toMatch(/pytest_cache|pyc/);
  });
});

const single: readonly (readonly [string, Readonly<Record<string, string>>, readonly RegExp[]])[] =
  [
    [
      'os._exit in a test',
      { 'test_a.py': 'import os\ndef test_one(): pass\ndef test_dies(): os._exit(7)\n' },
      [
        /1 failed, 1 passed/,
        /FAIL test_a.py::test_dies\n {2}the test process ended while this test ran \(exit code 7\)/,
        /broke off/,
      ],
    ],
    [
      'a segmentation fault',
      { 'test_a.py': 'import ctypes\ndef test_dies(): ctypes.string_at(0)\n' },
      [/FAIL test_a.py::test_dies\n.*exit code 139: segmentation fault/],
    ],
    [
      'sys.exit on import',
      { 'test_a.py': 'import sys\nsys.exit(4)\ndef test_x(): pass\n' },
      [/SystemExit|sys\.exit|did not run/],
    ],
    ['no tests', { 'pytest.ini': '[pytest]\n', 'a.py': '' }, [/^No tests were found\.$/]],
    [
      'a broken conftest',
      { 'conftest.py': 'import nowhere\n', 'test_a.py': 'def test_x(): pass\n' },
      [/^The tests did not run: .*ModuleNotFoundError: No module named 'nowhere'/],
    ],
    [
      'an unknown option',
      {
        'pytest.ini': '[pytest]\naddopts = --no-such-option\n',
        'test_a.py': 'def test_x(): pass\n',
      },
      [/^The tests did not run: .*unrecognized arguments: --no-such-option/],
    ],
    [
      'files that pose as the runner',
      {
        'pytest.py': 'raise SystemExit(0)\n',
        '_pytest/__init__.py': 'raise SystemExit(0)\n',
        'sitecustomize.py': 'import os; os._exit(0)\n',
        'test_a.py': 'def test_x(): assert 0\n',
      },
      [/^1 failed/],
    ],
  ];

test.each(single)('%s', async (_, content, expected) => {
  const project = await openProject(pytest, content);
  try {
    const text = renderTestRun(await project.run());
    for (const pattern of expected) expect(text).toMatch(pattern);
  } finally {
    await project.close();
  }
});

test(
  'a hanging test is named after the time limit, earlier results are kept',
  async () => {
    const run = await runHanging(
      (begun) =>
        openProject(pytest, {
          'test_a.py': `def test_quick(): pass\ndef test_hangs():\n    open('${begun}', 'w').close()\n    while True: pass\n`,
        }),
      6_000,
    );
    expect(run.kind).toBe('timeout');
    expect(renderTestRun(run)).toContain(
      'FAIL test_a.py::test_hangs\n  this test had not ended when the time was up\n  at test_a.py:2',
    );
    expect(resultOf(run, 'test_a.py::test_quick').status).toBe('passed');
  },
  HANGING_TEST_MS,
);

test('cancelling ends the run at once', async () => {
  const project = await openProject(pytest, {
    'test_a.py': 'import time\ndef test_sleeps(): time.sleep(60)\n',
  });
  try {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 1_500);
    const began = Date.now();
    expect(await project.run([], { signal: controller.signal })).toEqual({ kind: 'cancelled' });
    expect(Date.now() - began).toBeLessThan(5_000);
  } finally {
    await project.close();
  }
});

test('a project in a folder: ids are relative to the workspace', async () => {
  const project = await openProject(pytest, {
    'services/api/pytest.ini': '[pytest]\n',
    'services/api/app.py': 'def f():\n    return 1\n',
    'services/api/test_app.py': 'from app import f\n\ndef test_f():\n    assert f() == 2\n',
  });
  try {
    const options = { projectPath: 'services/api' };
    const run = ran(await project.run([], options));
    expect(statuses(run.results)).toEqual({ 'services/api/test_app.py::test_f': 'failed' });
    expect(run.results[0]?.failure?.place).toMatchObject({
      file: 'services/api/test_app.py',
      line: 4,
    });
    expect(
      ran(await project.run(['services/api/test_app.py::test_f'], options)).results,
    ).toHaveLength(1);
  } finally {
    await project.close();
  }
});
