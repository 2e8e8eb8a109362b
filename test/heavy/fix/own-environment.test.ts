import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { cargoTest } from '../../../src/core/frameworks/cargo-test/cargo-test.ts';
import { goTest } from '../../../src/core/frameworks/go-test/go-test.ts';
import { junit } from '../../../src/core/frameworks/junit/junit.ts';
import { expectResults, LAYERS, type OwnProject } from '../../integration/fix/own-environment.ts';
import { pom } from '../frameworks/pom.ts';

/** Caches of the tools, which lie outside of the workspace: filled once. */
let caches = '';
beforeAll(async () => {
  caches = await mkdtemp(join(tmpdir(), 'prime-own-caches-'));
});
afterAll(() => rm(caches, { recursive: true, force: true }));

/** Of an earlier run: our launcher takes such files away. */
const report = '<testsuite><testcase name="gone" classname="shop.CalcTest"/></testsuite>\n';
const javaTest = (imports: string): string =>
  `package shop;\n\n${imports}\n\npublic class CalcTest {\n  @Test\n  public void adds() {\n    assertEquals(3, 1 + 2);\n  }\n}\n`;

/** Class paths of Java and paths of libraries cannot hold a colon. */
const NAME = 'project, odd name';

const projects: Readonly<Record<string, () => OwnProject>> = {
  go: () => ({
    framework: goTest,
    files: {
      'go.mod': 'module example.com/a\n\ngo 1.21\n',
      'a_test.go':
        'package a\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestA(t *testing.T) {\n\tif err := os.WriteFile("made", nil, 0o644); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n',
    },
    env: { GOFLAGS: '-mod=mod', GOCACHE: join(caches, 'go') },
    results: { 'a_test.go::TestA': 'passed' },
  }),
  cargo: () => ({
    framework: cargoTest,
    name: NAME,
    files: {
      // No Cargo.lock: cargo writes one, and target/.
      'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': '#[test]\nfn adds() {\n    assert_eq!(1 + 2, 3);\n}\n',
      'target/debug/old': 'x',
      '.gitignore': 'target\n',
    },
    results: { 'src/lib.rs::adds': 'passed' },
  }),
  Maven: () => ({
    framework: junit,
    name: NAME,
    files: {
      'pom.xml': pom(),
      'src/test/java/shop/CalcTest.java': javaTest(
        'import static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport org.junit.jupiter.api.Test;',
      ),
      'target/surefire-reports/TEST-old.xml': report,
      '.gitignore': 'target\n',
    },
    results: { 'src/test/java/shop/CalcTest.java::adds': 'passed' },
  }),
  Gradle: () => ({
    framework: junit,
    name: NAME,
    files: {
      'settings.gradle': "rootProject.name = 'shop'\n",
      'build.gradle':
        "apply plugin: 'java'\nrepositories { maven { url 'file:///usr/share/maven-repo' } }\ndependencies { testCompile 'junit:junit:4.x' }\n",
      'src/test/java/shop/CalcTest.java': javaTest(
        'import static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;',
      ),
      'build/test-results/test/TEST-old.xml': report,
      '.gitignore': 'build\n.gradle\n',
    },
    env: { GRADLE_USER_HOME: join(caches, 'gradle') },
    results: { 'src/test/java/shop/CalcTest.java::adds': 'passed' },
  }),
};

describe.each(LAYERS)('the run in the user’s own environment (%s)', (layers) => {
  test.each(Object.keys(projects))('changes nothing of the workspace: %s', async (name) => {
    const project = projects[name]?.();
    if (project === undefined) throw new Error(name);
    await expectResults(project, layers);
  });
});
