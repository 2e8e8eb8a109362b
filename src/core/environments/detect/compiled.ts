import type { FileTree } from '../../tasks/tree.ts';
import { INSTALLED, SCRATCH } from '../description.ts';
import { pathsBelow, type Recipe, textOf, within } from './recipe.ts';

/** Modules in a cache outside of the workspace, which is all that an offline build looks at. */
export function goRecipe(files: FileTree, folder: string): Recipe | undefined {
  const manifest = textOf(files, within(folder, 'go.mod'));
  if (manifest === undefined) return undefined;
  const version = /^go (\d+\.\d+)/m.exec(manifest)?.[1] ?? '1.25';
  const modules = `${INSTALLED}/go/mod`;
  const paths = pathsBelow(files, folder, (path) =>
    /^(?:.*\/)?go\.(?:mod|sum|work|work\.sum)$/.test(path),
  );
  const hasSums = paths.some((path) => path.endsWith('.sum'));
  return {
    language: 'go',
    image: `golang:${version}-bookworm`,
    files: hasSums ? paths : [],
    // Without go.sum there is nothing to fetch.
    setup: hasSums ? [{ tool: 'go', folder, command: 'go mod download' }] : [],
    path: [],
    variables: hasSums ? { GOMODCACHE: modules, GOFLAGS: '-modcacherw' } : {},
    notes: [],
  };
}

/** Crates in a home of their own. Cargo reads manifests only beside sources, so it gets all files. */
export function cargoRecipe(files: FileTree, folder: string): Recipe | undefined {
  if (!files.has(within(folder, 'Cargo.toml'))) return undefined;
  const toolchain =
    textOf(files, within(folder, 'rust-toolchain.toml')) ??
    textOf(files, within(folder, 'rust-toolchain')) ??
    '';
  const version = /\b(1\.\d+(?:\.\d+)?)\b/.exec(toolchain)?.[1] ?? '1';
  const isLocked = files.has(within(folder, 'Cargo.lock'));
  return {
    language: 'rust',
    image: `rust:${version}-bookworm`,
    files: 'all',
    setup: [{ tool: 'cargo', folder, command: `cargo fetch${isLocked ? ' --locked' : ''}` }],
    path: [],
    variables: { CARGO_HOME: `${INSTALLED}/cargo` },
    notes: isLocked ? [] : ['There is no Cargo.lock: the newest crates that fit are fetched.'],
  };
}

/**
 * Maven. What its plug-ins load shows only when they run, so the tests run once in the set-up; how
 * they end is not looked at.
 */
export function mavenRecipe(files: FileTree, folder: string): Recipe | undefined {
  if (!files.has(within(folder, 'pom.xml'))) return undefined;
  const repository = `${INSTALLED}/m2/repository`;
  return {
    language: 'jvm',
    image: 'maven:3.9-eclipse-temurin-21',
    files: 'all',
    setup: [
      {
        tool: 'maven',
        folder,
        command:
          'mvn --batch-mode --no-transfer-progress -Dmaven.test.failure.ignore=true -DfailIfNoTests=false test',
      },
    ],
    path: [],
    variables: { MAVEN_OPTS: `-Dmaven.repo.local=${repository}` },
    notes: [],
  };
}

/** Gradle; the tests run once, as with Maven. Later runs only read the cache of packages. */
export function gradleRecipe(files: FileTree, folder: string): Recipe | undefined {
  const names = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'];
  if (!names.some((name) => files.has(within(folder, name)))) return undefined;
  const home = `${INSTALLED}/gradle`;
  const init = `${SCRATCH}/ignore-failures.gradle`;
  return {
    language: 'jvm',
    image: 'gradle:8-jdk21',
    files: 'all',
    setup: [
      {
        tool: 'gradle',
        folder,
        command: [
          // Not `configureEach`, which Gradle has since 4.9.
          `echo 'allprojects { tasks.withType(Test) { ignoreFailures = true } }' > ${init}`,
          `GRADLE_USER_HOME=${home} gradle --no-daemon --console=plain --init-script ${init} test`,
          // Locks and logs of the run; what is kept is read-only.
          `rm -rf ${home}/daemon ${home}/caches/modules-2/*.lock ${home}/caches/modules-2/gc.properties`,
        ].join(' && '),
      },
    ],
    path: [],
    variables: { GRADLE_RO_DEP_CACHE: `${home}/caches` },
    notes: [],
  };
}
