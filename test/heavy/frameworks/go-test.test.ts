import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Framework } from '../../../src/core/frameworks/framework.ts';
import { goTest } from '../../../src/core/frameworks/go-test/go-test.ts';
import { findGo } from '../../../src/core/frameworks/go-test/toolchain.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { renderTestRun } from '../../../src/core/tools/run-tests/render.ts';
import { gradedProject } from '../../integration/frameworks/grade-support.ts';
import {
  type Files,
  HANGING_TEST_MS,
  openProject,
  type Project,
  ran,
  resultOf,
  runHanging,
  statuses,
} from '../../integration/frameworks/support.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import { onPath } from '../../support/tools.ts';

/**
 * The real `go`. Where there is none the file says so in one test and runs nothing else: Go is no
 * prerequisite of the project.
 */
const go = onPath('go');

const module = (name: string): Files => ({ 'go.mod': `module example.com/${name}\n\ngo 1.21\n` });
const TIME = { timeoutMs: 170_000 };

/** One build cache for all tests of this file: the standard library is compiled once. */
let cache = '';
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'prime-go-cache-'));
});
afterAll(() => rm(cache, { recursive: true, force: true }));

const framework: Framework = {
  ...goTest,
  toolchain: async (workspace) => {
    const found = await goTest.toolchain(workspace);
    if (found.kind === 'missing') return found;
    const { toolchain } = found;
    return { ...found, toolchain: { ...toolchain, env: { ...toolchain.env, GOCACHE: cache } } };
  },
};

const shop: Files = {
  ...module('shop'),
  'calc/calc.go':
    'package calc\n\nfunc Add(a, b int) int { return a - b }\n\nfunc At(xs []int, i int) int {\n\treturn xs[i]\n}\n',
  'calc/calc_test.go': `package calc

import "testing"

func TestAdd(t *testing.T) {
	if got := Add(1, 2); got != 3 {
		t.Errorf("Add(1, 2) = %d, want %d", got, 3)
	}
}

func TestZero(t *testing.T) {
	t.Log("fine")
}

func TestTable(t *testing.T) {
	for _, name := range []string{"plain", "with space", "a/b"} {
		t.Run(name, func(t *testing.T) {
			if name == "with space" {
				t.Fatal("no\\nspaces")
			}
		})
	}
}

func TestSkipped(t *testing.T) { t.Skip("later") }

func FuzzAdd(f *testing.F) {
	f.Add(1, 2)
	f.Fuzz(func(t *testing.T, a, b int) { Add(a, b) })
}
`,
  'calc/example_test.go': `package calc_test

import (
	"fmt"

	"example.com/shop/calc"
)

func ExampleAdd() {
	fmt.Println(calc.Add(1, 2))
	// Output: 3
}
`,
  'broken/broken_test.go':
    'package broken\n\nimport "testing"\n\nfunc TestX(t *testing.T) {\n\tmissing(1)\n}\n',
  'panics/panics_test.go': `package panics

import (
	"testing"

	"example.com/shop/calc"
)

func TestBefore(t *testing.T) {}

func TestPanics(t *testing.T) {
	calc.At([]int{1}, 5)
}

func TestAfter(t *testing.T) {}
`,
};

if (go === undefined) {
  test('go test is not tried: there is no go on PATH', () => {
    expect(onPath('go')).toBeUndefined();
  });
} else {
  test('looking for Go leaves nothing in the home folder, and heeds its settings', async () => {
    const home = await tempFolder();
    await writeFiles(home, { '.config/go/env': 'GOFLAGS=-mod=mod\n' });
    const host = { env: { PATH: process.env.PATH }, home, nodeProgram: undefined };
    const found = await findGo(openWorkspaceFiles(join(home, 'work')), host);
    expect(found).toMatchObject({
      kind: 'found',
      toolchain: { env: { GOFLAGS: '-mod=mod -buildvcs=false' } },
    });
    expect(await readdir(join(home, '.config/go'))).toEqual(['env']);
    expect(await readdir(home)).toEqual(['.config']);
  });

  describe('go test in a module', () => {
    let project: Project;
    beforeAll(async () => {
      project = await openProject(framework, shop);
    });
    afterAll(async () => {
      await project?.close();
    });

    test('a run of everything reports each test once, with packages that do not build apart', async () => {
      const run = ran(await project.run([], TIME));
      const file = 'calc/calc_test.go';
      expect(statuses(run.results)).toEqual({
        [`${file}::TestAdd`]: 'failed',
        [`${file}::TestZero`]: 'passed',
        [`${file}::TestTable`]: 'failed',
        [`${file}::TestTable/plain`]: 'passed',
        [`${file}::TestTable/with_space`]: 'failed',
        [`${file}::TestTable/a/b`]: 'passed',
        [`${file}::TestSkipped`]: 'skipped',
        [`${file}::FuzzAdd`]: 'passed',
        [`${file}::FuzzAdd/seed#0`]: 'passed',
        'calc/example_test.go::ExampleAdd': 'failed',
        'panics/panics_test.go::TestBefore': 'passed',
        'panics/panics_test.go::TestPanics': 'failed',
      });
      expect(run.complete).toBe(true);
      expect(run.collectionErrors).toEqual([
        {
          file: 'broken/broken_test.go',
          message: 'broken/broken_test.go:6:2: undefined: missing',
          place: { file: 'broken/broken_test.go', line: 6, column: 2 },
        },
      ]);
      const failure = (id: string) => resultOf(run, id).failure;
      expect(failure(`${file}::TestAdd`)).toMatchObject({
        message: 'Add(1, 2) = -1, want 3',
        place: { file, line: 7 },
      });
      expect(failure(`${file}::TestTable`)?.message).toBe('TestTable/with_space failed');
      expect(failure(`${file}::TestTable/with_space`)).toMatchObject({
        message: 'no\nspaces',
        place: { file, line: 19 },
      });
      expect(failure('calc/example_test.go::ExampleAdd')).toMatchObject({
        expected: '3',
        actual: '-1',
        place: { file: 'calc/example_test.go', line: 9 },
      });
      expect(failure('panics/panics_test.go::TestPanics')).toMatchObject({
        message: 'panic: runtime error: index out of range [5] with length 1',
        place: { file: 'panics/panics_test.go', line: 12 },
        ownFrame: { file: 'calc/calc.go', line: 6, function: 'calc.At' },
      });
      expect(JSON.stringify(run.results)).not.toContain(project.root);
    });

    test.each([
      ['one test', 'calc/calc_test.go::TestZero', 1],
      ['a test with its subtests', 'calc/calc_test.go::TestTable', 4],
      ['a subtest', 'calc/calc_test.go::TestTable/with_space', 1],
      ['a subtest with a slash', 'calc/calc_test.go::TestTable/a/b', 1],
      ['a file', 'calc/example_test.go', 1],
      ['a folder', 'calc', 10],
    ])('choosing %s gives exactly that', async (_, id, count) => {
      const run = ran(await project.run([id], TIME));
      expect(run.results).toHaveLength(count);
      for (const result of run.results) expect(result.id.startsWith(id)).toBe(true);
    });

    test('listing compiles and names the tests', async () => {
      const run = ran(await project.run(['calc'], { ...TIME, listOnly: true }));
      expect(statuses(run.results)).toEqual({
        'calc/calc_test.go::TestAdd': 'listed',
        'calc/calc_test.go::TestZero': 'listed',
        'calc/calc_test.go::TestTable': 'listed',
        'calc/calc_test.go::TestSkipped': 'listed',
        'calc/calc_test.go::FuzzAdd': 'listed',
        'calc/example_test.go::ExampleAdd': 'listed',
      });
      expect(run.results[0]).toMatchObject({ file: 'calc/calc_test.go', line: 5 });
    });

    test('a test that does not exist is said, and the others run', async () => {
      const ids = ['calc/calc_test.go::TestNothing', 'calc/calc_test.go::TestZero'];
      expect(renderTestRun(await project.run(ids, TIME), { tests: ids })).toBe(
        '1 passed\n\nNot found: calc/calc_test.go::TestNothing',
      );
    });
  });

  const single: readonly (readonly [string, Files, readonly RegExp[]])[] = [
    [
      'os.Exit in a test',
      {
        'a_test.go':
          'package a\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestOne(t *testing.T) {}\n\nfunc TestDies(t *testing.T) { os.Exit(3) }\n',
      },
      [
        /1 failed, 1 passed/,
        /FAIL a_test.go::TestDies\n {2}the test process ended while this test ran \(exit code 1\)\n {2}at a_test.go:10/,
      ],
    ],
    [
      'a process that leaves with code 0',
      {
        'a_test.go':
          'package a\n\nimport (\n\t"syscall"\n\t"testing"\n)\n\nfunc TestOne(t *testing.T) { syscall.Exit(0) }\n',
      },
      [/FAIL a_test.go::TestOne\n {2}the test process ended while this test ran/, /broke off/],
    ],
    [
      'TestMain that fails although all tests pass',
      {
        'a_test.go':
          'package a\n\nimport (\n\t"fmt"\n\t"os"\n\t"testing"\n)\n\nfunc TestOne(t *testing.T) {}\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tfmt.Println("leaked 3 goroutines")\n\tos.Exit(1)\n}\n',
      },
      [/FAIL a_test.go\n {2}leaked 3 goroutines/],
    ],
    [
      'a panic while the package is loaded',
      {
        'a_test.go':
          'package a\n\nimport "testing"\n\nvar x = func() int { panic("no database") }()\n\nfunc TestOne(t *testing.T) {}\n',
      },
      [/ERROR a_test.go\n {2}panic: no database/],
    ],
    [
      'a package that is not installed',
      {
        'a_test.go':
          'package a\n\nimport (\n\t"testing"\n\n\t"example.org/nowhere/lib"\n)\n\nfunc TestOne(t *testing.T) { lib.Do() }\n',
      },
      [/ERROR a_test.go\n.*no required module provides package example.org\/nowhere\/lib/],
    ],
    [
      'a newer Go wanted',
      {
        'go.mod': 'module example.com/a\n\ngo 1.99\n',
        'a_test.go': 'package a\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {}\n',
      },
      [/The tests did not run: .*go.mod requires go >= 1.99/],
    ],
    [
      'vendored packages',
      {
        'go.mod': 'module example.com/a\n\ngo 1.21\n\nrequire example.org/lib v1.0.0\n',
        'vendor/modules.txt': '# example.org/lib v1.0.0\n## explicit; go 1.21\nexample.org/lib\n',
        'vendor/example.org/lib/lib.go': 'package lib\n\nfunc One() int { return 1 }\n',
        'a_test.go':
          'package a\n\nimport (\n\t"testing"\n\n\t"example.org/lib"\n)\n\nfunc TestOne(t *testing.T) {\n\tif lib.One() != 1 {\n\t\tt.Fail()\n\t}\n}\n',
      },
      [/^1 passed/],
    ],
  ];

  test.each(single)('%s', async (_, content, expected) => {
    const project = await openProject(framework, { ...module('a'), ...content });
    try {
      const text = renderTestRun(await project.run([], TIME));
      for (const pattern of expected) expect(text).toMatch(pattern);
    } finally {
      await project.close();
    }
  });

  test(
    'a hanging test is named after the time limit, earlier results are kept',
    async () => {
      const run = await runHanging(async (begun) => {
        const project = await openProject(framework, {
          ...module('a'),
          'a_test.go': `package a\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestQuick(t *testing.T) {}\n\nfunc TestHangs(t *testing.T) {\n\tos.WriteFile("${begun}", nil, 0o644)\n\tfor {\n\t}\n}\n`,
        });
        // Compiled first, so that the limit is about the tests alone.
        await project.run(['a_test.go::TestQuick'], TIME);
        return project;
      }, 25_000);
      expect(run.kind).toBe('timeout');
      expect(resultOf(run, 'a_test.go::TestQuick').status).toBe('passed');
      expect(resultOf(run, 'a_test.go::TestHangs')).toMatchObject({
        status: 'error',
        failure: { message: 'this test had not ended when the time was up' },
      });
    },
    HANGING_TEST_MS,
  );

  test('two modules in one workspace: ids are relative to the workspace', async () => {
    const project = await openProject(framework, {
      'services/api/go.mod': 'module example.com/api\n\ngo 1.21\n',
      'services/api/app/app_test.go':
        'package app\n\nimport "testing"\n\nfunc TestF(t *testing.T) { t.Error("no") }\n',
    });
    try {
      const options = { ...TIME, projectPath: 'services/api' };
      const run = ran(await project.run([], options));
      expect(statuses(run.results)).toEqual({ 'services/api/app/app_test.go::TestF': 'failed' });
      expect(run.results[0]?.failure?.place).toMatchObject({
        file: 'services/api/app/app_test.go',
        line: 5,
      });
      expect(
        ran(await project.run(['services/api/app/app_test.go::TestF'], options)).results,
      ).toHaveLength(1);
    } finally {
      await project.close();
    }
  });

  test('grading: planted tests behave, a fix is solved, a changed test is not', async () => {
    const source = 'package a\n\nfunc Add(a, b int) int { return a - b }\n';
    const project = await gradedProject(framework, {
      ...module('a'),
      'a.go': source,
      'a_test.go':
        'package a\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("wrong sum")\n\t}\n}\n\nfunc TestZero(t *testing.T) {}\n',
    });
    expect(project.baseline.canaryFiles).toEqual(['a_test.go']);
    expect(await project.grade({ 'a.go': source.replace('-', '+') })).toMatchObject({
      verdict: 'passed',
      strict: { canaries: [] },
    });
    expect(
      await project.grade({ 'a.go': `${source}\n// no fix\n`, 'a_test.go': 'package a\n' }),
    ).toMatchObject({ verdict: 'failed', reverted: ['a_test.go'] });
    const leaves = `package a\n\nimport "syscall"\n\nfunc Add(a, b int) int {\n\tsyscall.Exit(0)\n\treturn 0\n}\n`;
    expect(await project.grade({ 'a.go': leaves })).toMatchObject({ verdict: 'failed' });
  });
}
