import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { INSTALLED, SCRATCH } from '../../../src/core/environments/description.ts';
import { detectEnvironment } from '../../../src/core/environments/detect/detect.ts';
import { junit } from '../../../src/core/frameworks/junit/junit.ts';
import { runProgram } from '../../../src/core/platform/run-program.ts';
import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import { textTree } from '../../../src/core/tasks/tree.ts';
import { renderTestRun } from '../../../src/core/tools/run-tests/render.ts';
import { type GradedProject, gradedProject } from '../../integration/frameworks/grade-support.ts';
import {
  type Files,
  openProject,
  type Project,
  ran,
  resultOf,
  runHanging,
  statuses,
  writeProject,
} from '../../integration/frameworks/support.ts';
import { pom } from './pom.ts';

const TIME = { timeoutMs: 300_000 };

const calc =
  'package shop;\n\npublic class Calc {\n  public static int add(int a, int b) {\n    return a - b;\n  }\n\n  public static int at(int[] xs, int i) {\n    return xs[i];\n  }\n}\n';

const testClass = (body: string, name = 'CalcTest'): string => `package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ${name} {
${body}
}
`;

const file = 'src/test/java/shop/CalcTest.java';

/** Planted tests behave, the fix of `calc` is solved, and tests that were changed to pass are no fix. */
async function expectFair(graded: GradedProject, changedTests: string): Promise<void> {
  expect(graded.baseline.canaryFiles).toEqual([file]);
  expect(
    await graded.grade({ 'src/main/java/shop/Calc.java': calc.replace('a - b', 'a + b') }),
  ).toMatchObject({ verdict: 'passed', strict: { canaries: [] } });
  expect(
    await graded.grade({
      'src/main/java/shop/Calc.java': `${calc}// no fix\n`,
      [file]: changedTests,
    }),
  ).toMatchObject({
    verdict: 'passed_with_test_changes',
    strict: { passed: false },
    reverted: [file],
  });
}

const shop: Files = {
  'pom.xml': pom(),
  'src/main/java/shop/Calc.java': calc,
  'src/test/java/shop/CalcTest.java': testClass(`  @Test
  void adds() {
    assertEquals(3, Calc.add(1, 2));
  }

  @Test
  void zero() {
    System.out.println("some <output> ]]> & more");
    assertEquals(0, Calc.add(0, 0));
  }

  @Test
  void throwsInSource() {
    Calc.at(new int[] {1}, 5);
  }

  @Disabled("later")
  @Test
  void skipped() {}

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void each(int n) {
    assertEquals(1, n);
  }

  @Nested
  class Inner {
    @Test
    void inside() {
      assertEquals("a b", "a c");
    }
  }`),
  'src/test/java/shop/OtherTest.java': testClass('  @Test\n  void fine() {}', 'OtherTest'),
};

describe('Maven with JUnit 5', () => {
  let project: Project;
  beforeAll(async () => {
    // Plugins and packages come from the network once, by Maven itself; the tests run without one.
    const warm = await writeProject({
      ...shop,
      [file]: testClass('  @Test\n  void fine() {}'),
    });
    const fetched = await runProgram('mvn', ['--batch-mode', '--quiet', 'test'], {
      cwd: warm,
      timeoutMs: 500_000,
      env: process.env,
    });
    await rm(warm, { recursive: true, force: true });
    if (fetched.code !== 0) {
      throw new Error(
        `Maven is missing, or could not fetch its plugins and JUnit 5 (a JDK 17, mvn, a repository of packages that it can reach):\n${fetched.stdout}${fetched.stderr}`,
      );
    }
    project = await openProject(junit, shop);
  });
  afterAll(async () => {
    await project?.close();
  });

  test('a run of everything reports each test once', async () => {
    const run = ran(await project.run([], TIME));
    expect(statuses(run.results)).toEqual({
      [`${file}::adds`]: 'failed',
      [`${file}::zero`]: 'passed',
      [`${file}::throwsInSource`]: 'failed',
      [`${file}::skipped`]: 'skipped',
      [`${file}::each(int)[1]`]: 'passed',
      [`${file}::each(int)[2]`]: 'failed',
      [`${file}::Inner > inside`]: 'failed',
      'src/test/java/shop/OtherTest.java::fine': 'passed',
    });
    expect(run.complete).toBe(true);
    const failure = (id: string) => resultOf(run, `${file}::${id}`).failure;
    expect(failure('adds')).toMatchObject({
      expected: '3',
      actual: '-1',
      place: { file, line: 12 },
    });
    expect(failure('throwsInSource')).toMatchObject({
      message: 'ArrayIndexOutOfBoundsException: Index 5 out of bounds for length 1',
      place: { file, line: 23 },
      ownFrame: { file: 'src/main/java/shop/Calc.java', line: 9, function: 'Calc.at' },
    });
    expect(failure('Inner > inside')).toMatchObject({ expected: 'a b', actual: 'a c' });
  });

  test.each([
    ['one test', `${file}::zero`, 1],
    ['a parametrised test', `${file}::each`, 2],
    ['one of its parameters', `${file}::each(int)[2]`, 1],
    ['a nested class', `${file}::Inner`, 1],
    ['a test of a nested class', `${file}::Inner > inside`, 1],
    ['a file', file, 7],
    ['a folder', 'src/test', 8],
  ])('choosing %s gives exactly that', async (_, id, count) => {
    const run = ran(await project.run([id], TIME));
    expect(run.results).toHaveLength(count);
    for (const result of run.results) expect(result.id.startsWith(id)).toBe(true);
  });

  test('listing reads the sources and starts nothing', async () => {
    const run = ran(await project.run([], { ...TIME, listOnly: true }));
    expect(run.results.map(({ id }) => id).sort()).toEqual(
      [
        ...['adds', 'zero', 'throwsInSource', 'skipped', 'each', 'Inner > inside'].map(
          (name) => `${file}::${name}`,
        ),
        'src/test/java/shop/OtherTest.java::fine',
      ].sort(),
    );
    expect(run.results.every(({ status }) => status === 'listed')).toBe(true);
  });

  test('a test that does not exist is said, and the others run', async () => {
    const ids = [`${file}::nothing`, `${file}::zero`];
    expect(renderTestRun(await project.run(ids, TIME), { tests: ids })).toBe(
      `1 passed\n\nNot found: ${file}::nothing`,
    );
  });

  const single: readonly (readonly [string, Files, readonly RegExp[]])[] = [
    [
      'a test that does not compile',
      { [file]: testClass('  @Test\n  void a() {\n    int x = "a";\n  }') },
      [
        /ERROR src\/test\/java\/shop\/CalcTest.java\n {2}incompatible types: .*\n {2}at .*CalcTest.java:12/,
      ],
    ],
    [
      'System.exit in a test',
      {
        [file]: testClass('  @Test\n  void dies() {\n    System.exit(0);\n  }'),
        'src/test/java/shop/AaTest.java': testClass('  @Test\n  void fine() {}', 'AaTest'),
      },
      [
        /FAIL src\/test\/java\/shop\/CalcTest.java\n {2}this test class was running when the test process ended/,
      ],
    ],
    [
      '@BeforeAll that throws',
      {
        [file]: testClass(
          '  @BeforeAll\n  static void start() {\n    throw new IllegalStateException("no database");\n  }\n\n  @Test\n  void a() {}',
        ),
      },
      [/FAIL src\/test\/java\/shop\/CalcTest.java\n {2}IllegalStateException: no database/],
    ],
    [
      'a package that is not installed',
      {
        'pom.xml': pom().replace('5.10.2', '5.0.999'),
        [file]: testClass('  @Test\n  void a() {}'),
      },
      [/The tests did not run: .*5\.0\.999/],
    ],
    [
      'modules',
      {
        'pom.xml': pom(
          '<packaging>pom</packaging><modules><module>one</module><module>two</module></modules>',
        ),
        ...Object.fromEntries(
          ['one', 'two'].map((name) => [
            `${name}/pom.xml`,
            `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><parent><groupId>example</groupId><artifactId>shop</artifactId><version>1.0</version></parent><artifactId>${name}</artifactId></project>`,
          ]),
        ),
        'one/src/test/java/shop/CalcTest.java': testClass(
          '  @Test\n  void a() {\n    Assertions.fail("no");\n  }',
        ),
        'two/src/test/java/shop/CalcTest.java': testClass('  @Test\n  void a() {}'),
      },
      [/1 failed, 1 passed/, /FAIL one\/src\/test\/java\/shop\/CalcTest.java::a\n {2}no/],
    ],
  ];

  test.each(single)('%s', async (_, content, expected) => {
    const other = await openProject(junit, { 'pom.xml': pom(), ...content });
    try {
      const text = renderTestRun(await other.run([], TIME));
      for (const pattern of expected) expect(text).toMatch(pattern);
    } finally {
      await other.close();
    }
  });

  test('a hanging test class is named after the time limit, earlier results are kept', async () => {
    const run = await runHanging(
      (begun) =>
        openProject(junit, {
          'pom.xml': pom(),
          'src/test/java/shop/AaTest.java': testClass('  @Test\n  void quick() {}', 'AaTest'),
          'src/test/java/shop/BbTest.java': testClass(
            `  @Test\n  void hangs() throws Exception {\n    java.nio.file.Files.createFile(java.nio.file.Path.of("${begun}"));\n    while (true) {}\n  }`,
            'BbTest',
          ),
        }),
      45_000,
    );
    expect(run.kind).toBe('timeout');
    expect(statuses(run.kind === 'timeout' ? run.results : [])).toEqual({
      'src/test/java/shop/AaTest.java::quick': 'passed',
      'src/test/java/shop/BbTest.java': 'error',
    });
    expect(resultOf(run, 'src/test/java/shop/BbTest.java').failure?.message).toBe(
      'this test class had not ended when the time was up',
    );
  });

  test('grading: planted tests behave, a fix is solved, a changed test and a listener are no fix', async () => {
    const graded = await gradedProject(junit, {
      'pom.xml': pom(),
      'src/main/java/shop/Calc.java': calc,
      [file]: testClass(
        '  @Test\n  void adds() {\n    assertEquals(3, Calc.add(1, 2));\n  }\n\n  @Test\n  void zero() {}',
      ),
    });
    await expectFair(graded, testClass('  @Test\n  void adds() {}'));
    const listener =
      'src/main/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener';
    expect(
      await graded.grade({
        'src/main/java/shop/Calc.java': `${calc}// no fix\n`,
        [listener]: 'shop.Calc\n',
      }),
    ).toMatchObject({ verdict: 'failed', strict: { passed: false }, reverted: [listener] });
  });

  test('runs in the local sandbox, on a repository of packages that it cannot write to', async () => {
    const other = await openProject(junit, shop, { provider: createLocalSandbox() });
    try {
      const run = ran(await other.run([], TIME));
      expect(run.results).toHaveLength(8);
    } finally {
      await other.close();
    }
  });
});

/** Gradle and JUnit 4 as Debian packages them: nothing is fetched at all. */
describe('Gradle with JUnit 4', () => {
  const build =
    "apply plugin: 'java'\nrepositories { maven { url 'file:///usr/share/maven-repo' } }\ndependencies { testCompile 'junit:junit:4.x' }\n";
  const junit4 = (body: string): string =>
    `package shop;\n\nimport static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;\n\npublic class CalcTest {\n${body}\n}\n`;
  const files: Files = {
    'settings.gradle': '\n',
    'build.gradle': build,
    'src/main/java/shop/Calc.java': calc,
    [file]: junit4(
      '  @Test\n  public void adds() {\n    assertEquals(3, Calc.add(1, 2));\n  }\n\n  @Test\n  public void zero() {}',
    ),
  };
  let project: Project;
  beforeAll(async () => {
    const version = await runProgram('gradle', ['--version'], { env: process.env });
    if (!/^Gradle 4\./m.test(version.stdout)) {
      throw new Error(
        `Debian's Gradle 4 and JUnit 4 are missing (apt-get install gradle junit4): ${version.stdout}${version.stderr}`,
      );
    }
    project = await openProject(junit, files);
  });
  afterAll(async () => {
    await project?.close();
  });

  test('a run of everything, one test, and the list', async () => {
    const run = ran(await project.run([], TIME));
    expect(statuses(run.results)).toEqual({
      [`${file}::adds`]: 'failed',
      [`${file}::zero`]: 'passed',
    });
    expect(run.complete).toBe(true);
    expect(resultOf(run, `${file}::adds`).failure).toMatchObject({
      expected: '3',
      actual: '-1',
      place: { file, line: 10 },
    });
    // A second run is a run as well, although nothing has changed.
    expect(statuses(ran(await project.run([`${file}::zero`], TIME)).results)).toEqual({
      [`${file}::zero`]: 'passed',
    });
    expect(ran(await project.run([], { ...TIME, listOnly: true })).results).toHaveLength(2);
  });

  test.each([
    [
      'a test that does not compile',
      junit4('  @Test\n  public void a() {\n    int x = "a";\n  }'),
      /ERROR src\/test\/java\/shop\/CalcTest.java\n {2}incompatible types: /,
    ],
    [
      'System.exit in a test',
      junit4('  @Test\n  public void dies() {\n    System.exit(3);\n  }'),
      /FAIL src\/test\/java\/shop\/CalcTest.java::dies\n {2}this test was running when the test process ended/,
    ],
  ])('%s', async (_, source, expected) => {
    const other = await openProject(junit, { ...files, [file]: source });
    try {
      expect(renderTestRun(await other.run([], TIME))).toMatch(expected);
    } finally {
      await other.close();
    }
  });

  test('all projects run, also after failures, by the Gradle of the wrapper, in the local sandbox', async () => {
    // As a wrapper leaves it: Debian's own Gradle in the folder of the distribution.
    const home = await mkdtemp(join(tmpdir(), 'prime-gradle-home-'));
    const distribution = join(home, 'wrapper/dists/gradle-4.4.1-bin/5d0f');
    await mkdir(distribution, { recursive: true });
    await cp('/usr/share/gradle', join(distribution, 'gradle-4.4.1'), {
      recursive: true,
      dereference: true,
    });
    vi.stubEnv('GRADLE_USER_HOME', home);
    const place = 'src/test/java/shop/CalcTest.java';
    const leaver = 'src/test/java/shop/LeaverTest.java';
    const build = files['build.gradle'] ?? '';
    const other = await openProject(
      junit,
      {
        'gradle/wrapper/gradle-wrapper.properties':
          'distributionUrl=https\\://services.example/gradle-4.4.1-bin.zip\n',
        'settings.gradle': "include 'one', 'two', 'three'\n",
        ...Object.fromEntries(
          ['one', 'two', 'three'].map((name) => [`${name}/build.gradle`, build]),
        ),
        [`one/${place}`]: junit4('  @Test\n  public void fails() {\n    assertEquals(1, 2);\n  }'),
        [`two/${leaver}`]: junit4(
          '  @Test\n  public void leaves() {\n    System.exit(0);\n  }',
        ).replace('CalcTest', 'LeaverTest'),
        [`three/${place}`]: junit4('  @Test\n  public void fine() {}'),
      },
      { provider: createLocalSandbox() },
    );
    try {
      expect(other.program).toBe(join(distribution, 'gradle-4.4.1/bin/gradle'));
      expect(other.detail).toMatch(/^Gradle 4\.4\.1 at .*\/wrapper\/dists\/.*, Java in \//);
      const run = ran(await other.run([], TIME));
      expect(statuses(run.results)).toEqual({
        [`one/${place}::fails`]: 'failed',
        [`two/${leaver}::leaves`]: 'error',
        [`three/${place}::fine`]: 'passed',
      });
    } finally {
      vi.unstubAllEnvs();
      await other.close();
      await rm(home, { recursive: true, force: true });
    }
  });

  test('the set-up of a task environment runs its tests, however they end', async () => {
    const found = detectEnvironment(textTree(files), { image: 'any' });
    if (found.kind !== 'described') throw new Error(found.reason);
    expect(found.source).toBe('gradle');
    const [step] = found.description.setup;
    const folder = await writeProject(files);
    const scratch = await mkdtemp(join(tmpdir(), 'prime-gradle-setup-'));
    try {
      // Where a container has its folders of the set-up, this machine has others.
      const command = (step?.command ?? '')
        .replaceAll(INSTALLED, `${scratch}/installed`)
        .replaceAll(SCRATCH, scratch);
      const { code, stdout, stderr } = await runProgram('bash', ['-o', 'pipefail', '-c', command], {
        cwd: folder,
        timeoutMs: 500_000,
        env: process.env,
      });
      const said = `${stdout}${stderr}`;
      expect(code, said).toBe(0);
      expect(said).toContain('There were failing tests');
      expect(await readdir(`${scratch}/installed/gradle/caches`)).toContain('modules-2');
    } finally {
      await rm(folder, { recursive: true, force: true });
      await rm(scratch, { recursive: true, force: true });
    }
  });

  test('a hanging test is named after the time limit', async () => {
    const run = await runHanging(
      (begun) =>
        openProject(junit, {
          ...files,
          [file]: junit4(
            `  @Test\n  public void hangs() throws Exception {\n    java.nio.file.Files.createFile(java.nio.file.Path.of("${begun}"));\n    while (true) {}\n  }`,
          ),
        }),
      100_000,
    );
    expect(run.kind).toBe('timeout');
    expect(resultOf(run, `${file}::hangs`).failure?.message).toBe(
      'this test had not ended when the time was up',
    );
  });

  test('grading: planted tests behave, a fix is solved, a changed test is no fix', async () => {
    const graded = await gradedProject(junit, files);
    const changed = junit4('  @Test\n  public void adds() {}\n\n  @Test\n  public void zero() {}');
    await expectFair(graded, changed);
  });
});
