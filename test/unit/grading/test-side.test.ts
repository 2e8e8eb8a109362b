import { describe, expect, it } from 'vitest';
import { cargoTest } from '../../../src/core/frameworks/cargo-test/cargo-test.ts';
import type { Framework } from '../../../src/core/frameworks/framework.ts';
import { goTest } from '../../../src/core/frameworks/go-test/go-test.ts';
import { junit } from '../../../src/core/frameworks/junit/junit.ts';
import { nodeTest } from '../../../src/core/frameworks/node-test/node-test.ts';
import { pytest } from '../../../src/core/frameworks/pytest/pytest.ts';
import {
  foldersAbove,
  importedModules,
  preloadedFiles,
  type TestContext,
} from '../../../src/core/grading/test-context.ts';
import { isTestSide } from '../../../src/core/grading/test-side.ts';
import { parsePatch } from '../../../src/core/snapshot/patch-format.ts';

interface Around {
  readonly testFiles?: readonly string[];
  readonly imported?: readonly string[];
  readonly preloaded?: readonly string[];
  readonly existing?: readonly string[];
  readonly projectPath?: string;
}

function contextOf({
  testFiles = [],
  imported = [],
  preloaded = [],
  existing = [],
}: Around): TestContext {
  return {
    testFiles: new Set(testFiles),
    foldersWithTests: foldersAbove(testFiles),
    imported: new Set(imported),
    preloaded: new Set(preloaded),
    mentions: () => false,
    exists: async (path) => existing.includes(path),
  };
}

async function testSide(patch: string, framework: Framework, around: Around): Promise<boolean> {
  const [part] = parsePatch(patch);
  if (!part) throw new Error('no patch');
  return isTestSide(framework, part, contextOf(around), around.projectPath);
}

const change = (path: string, line = 'x = 1'): string =>
  `diff --git "a/${path}" "b/${path}"\n--- "a/${path}"\n+++ "b/${path}"\n@@ -1 +1 @@\n-y\n+${line}\n`;
const addition = (path: string): string => change(path).replace('\n', '\nnew file mode 100644\n');

describe('the side of the tests', () => {
  it.each([
    [
      'a helper next to tests',
      change('unit_tests/helpers.py'),
      { testFiles: ['unit_tests/test_a.py'] },
    ],
    ['a helper above tests', change('Tests/common.py'), { testFiles: ['Tests/unit/test_a.py'] }],
    ['data in a folder for it', change('testdata/cases.txt'), {}],
    ['expected output', change('golden/report.json'), {}],
    ['metadata that names plugins', addition('x.egg-info/entry_points.txt'), {}],
    [
      'a module that tests take from elsewhere',
      addition('statistics.py'),
      { imported: ['statistics'] },
    ],
    ['the same in a sub-project', addition('pkg/a/json.py'), { projectPath: 'pkg/a' }],
    [
      'the same as a copy',
      'diff --git a/x.py b/json.py\nsimilarity index 100%\ncopy from x.py\ncopy to json.py\n',
      {},
    ],
    [
      'a test file with an odd name',
      change('checks/gr\\303\\266\\303\\237e.py'),
      { testFiles: ['checks/größe.py'] },
    ],
  ])('pytest: %s', async (_, patch, around) => {
    expect(await testSide(patch, pytest, around)).toBe(true);
  });

  it('node:test: what scripts load before the tests', async () => {
    expect(await testSide(change('register.mjs'), nodeTest, { preloaded: ['register.mjs'] })).toBe(
      true,
    );
  });

  it.each([
    ['a source', change('app/calc.py'), {}],
    ['code in a folder named like data', change('app/expected/reader.py'), {}],
    ['a package whose name holds “tests”, without tests in it', change('lab_tests/model.py'), {}],
    ['a module that tests will import', addition('newer.py'), { imported: [] }],
    [
      'a package file for a folder that exists',
      addition('ledger/__init__.py'),
      { imported: ['ledger'], existing: ['ledger'] },
    ],
  ])('pytest, not: %s', async (_, patch, around) => {
    expect(await testSide(patch, pytest, around)).toBe(false);
  });

  it.each<readonly [string, Framework, string, Around]>([
    ['a helper among tests', goTest, change('calc/helper_test.go'), {}],
    ['a new test file where there was none', goTest, addition('fresh/a_test.go'), {}],
    ['data that tests compare with', goTest, change('calc/testdata/out.txt'), {}],
    ['a package of helpers for tests', goTest, change('internal/testutil/equal.go'), {}],
    ['what replaces modules', goTest, change('go.mod'), {}],
    ['a module of tests for another crate', cargoTest, change('tests/common/mod.rs'), {}],
    [
      'a new file of tests among sources',
      cargoTest,
      addition('src/test_more.rs').replace('+x = 1', '+#[test]'),
      {},
    ],
    ['snapshots that tests compare with', cargoTest, change('src/snapshots/a.snap'), {}],
    ['a profile', cargoTest, change('crates/a/Cargo.toml'), {}],
    ['fixtures of Gradle', junit, change('src/testFixtures/java/Orders.java'), {}],
    ['another set of tests', junit, addition('src/integrationTest/java/a/B.java'), {}],
    ['resources of tests', junit, change('app/src/test/resources/a.json'), {}],
    ['a listener', junit, addition('src/main/resources/META-INF/services/org.junit.X'), {}],
    ['a build', junit, change('app/build.gradle.kts'), {}],
  ])('%s', async (_, framework, patch, around) => {
    expect(await testSide(patch, framework, around)).toBe(true);
  });

  it.each<readonly [string, Framework, string, Around]>([
    ['a Go source next to its test', goTest, change('a/a.go'), { testFiles: ['a/a_test.go'] }],
    ['a Go source that is named so', goTest, addition('a/attest.go'), {}],
    ['Go in a folder named like data', goTest, change('app/expected/reader.go'), {}],
    [
      'a Rust source with tests of its own',
      cargoTest,
      change('src/lib.rs'),
      { testFiles: ['src/lib.rs'] },
    ],
    ['a Rust source named like a test, without one', cargoTest, addition('tool/test_plan.rs'), {}],
    ['a Java source', junit, change('src/main/java/shop/Cart.java'), {}],
    ['a Java package named like the tests', junit, change('src/main/java/shop/test/A.java'), {}],
    ['a resource', junit, change('src/main/resources/application.yml'), {}],
  ])('not: %s', async (_, framework, patch, around) => {
    expect(await testSide(patch, framework, around)).toBe(false);
  });

  it('node:test, not: a source named -spec next to tests, with .test( in it', async () => {
    const around = { testFiles: ['src/a.test.js'] };
    expect(
      await testSide(change('src/openapi-spec.js', 'if (/a/.test(b)) c();'), nodeTest, around),
    ).toBe(false);
  });
});

it('reads imports at the left margin', () => {
  const source =
    'import os, app.calc as c\nfrom ledger.fees import fee\n  import late\nfrom . import own\ntry:\n    import maybe\n';
  expect(importedModules(source)).toEqual(['os', 'app', 'ledger']);
});

it('reads what scripts load first', () => {
  const manifest = JSON.stringify({
    scripts: {
      test: 'node --import ./register.mjs -r "./a b" --env-file=.env.ci --test',
      lint: 'x',
    },
  });
  expect(preloadedFiles(manifest)).toEqual(expect.arrayContaining(['register.mjs', '.env.ci']));
});
