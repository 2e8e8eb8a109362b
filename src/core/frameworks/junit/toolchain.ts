import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runProgram } from '../../platform/run-program.ts';
import type { ToolchainResult, WorkspaceFiles } from '../framework.ts';
import { currentHost, type Host, neededMounts, pathFolders } from '../host.ts';
import { withOuter } from '../workspace-files.ts';

const PROBE_TIMEOUT_MS = 30_000;

type Tool = 'mvn' | 'gradle';

/**
 * A JDK, and Maven or Gradle: the version that the project's wrapper has fetched already, else the
 * one on PATH. The wrapper's own script came with the repository and is not started here.
 */
export async function findBuildTool(
  workspace: WorkspaceFiles,
  host: Host = currentHost(),
): Promise<ToolchainResult> {
  const root = withOuter(workspace).at(-1)?.root ?? workspace.root;
  const java = await findJava(host, root);
  if (java === undefined) {
    return {
      kind: 'missing',
      reason: 'No Java compiler (javac) was found by JAVA_HOME or on PATH.',
      remedy: 'Install a JDK, for example from adoptium.net or with apt-get install default-jdk.',
    };
  }
  const tool: Tool = (await workspace.exists('pom.xml')) ? 'mvn' : 'gradle';
  const program =
    (await fetchedByWrapper(workspace, tool, host)) ?? (await onPath(tool, host, root));
  if (program === undefined) {
    const wrapper = tool === 'mvn' ? 'mvnw' : 'gradlew';
    const name = tool === 'mvn' ? 'Maven' : 'Gradle';
    return {
      kind: 'missing',
      reason: `No ${name} was found: neither one that ./${wrapper} has fetched nor ${tool} on PATH.`,
      remedy: `Run ./${wrapper} test once, or install ${name}.`,
    };
  }
  const version = await runProgram(program, ['--version'], {
    timeoutMs: PROBE_TIMEOUT_MS,
    cwd: '/',
    env: { PATH: host.env.PATH, HOME: '/nonexistent', JAVA_HOME: java },
  });
  const number = /(?:Apache Maven|Gradle) (\d[\w.-]*)/.exec(version.stdout)?.[1] ?? '';
  const caches = tool === 'mvn' ? mavenCaches(host) : gradleCaches(host);
  return {
    kind: 'found',
    program,
    detail: `${tool === 'mvn' ? 'Maven' : 'Gradle'} ${number} at ${program}, Java in ${java}`,
    toolchain: {
      path: [join(java, 'bin'), dirname(program)],
      mounts: [
        ...neededMounts([java, dirname(dirname(program)), ...caches.folders], root),
        // Debian keeps parts of its packages there.
        ...(program.startsWith('/usr/share/') ? await existing(['/etc/maven', '/etc/gradle']) : []),
      ],
      env: { JAVA_HOME: java, ...caches.env },
    },
  };
}

async function findJava(host: Host, root: string): Promise<string | undefined> {
  const { JAVA_HOME: home } = host.env;
  const places = [...(home ? [join(home, 'bin')] : []), ...pathFolders(host)];
  for (const folder of places) {
    const program = await realpath(join(folder, 'javac')).catch(() => undefined);
    if (program !== undefined && !program.startsWith(`${root}/`)) return dirname(dirname(program));
  }
  return undefined;
}

async function onPath(tool: Tool, host: Host, root: string): Promise<string | undefined> {
  for (const folder of pathFolders(host)) {
    const program = await realpath(join(folder, tool)).catch(() => undefined);
    if (program !== undefined && !program.startsWith(`${root}/`)) return program;
  }
  return undefined;
}

/** `~/.gradle/wrapper/dists/gradle-8.10-bin/HASH/gradle-8.10/bin/gradle`; Maven's likewise. */
async function fetchedByWrapper(
  workspace: WorkspaceFiles,
  tool: Tool,
  host: Host,
): Promise<string | undefined> {
  const settings =
    tool === 'mvn'
      ? '.mvn/wrapper/maven-wrapper.properties'
      : 'gradle/wrapper/gradle-wrapper.properties';
  const text = await workspace.readText(settings);
  const archive = /^distributionUrl\s*=.*\/([\w.+-]+?)\.(?:zip|tar\.gz)\s*$/m.exec(text ?? '')?.[1];
  if (archive === undefined) return undefined;
  const home =
    tool === 'mvn'
      ? (host.env.MAVEN_USER_HOME ?? join(host.home, '.m2'))
      : (host.env.GRADLE_USER_HOME ?? join(host.home, '.gradle'));
  for (const name of [archive, archive.replace(/-(?:bin|all)$/, '')]) {
    const found = await programBelow(join(home, 'wrapper/dists', name), tool, 2);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function programBelow(
  folder: string,
  tool: Tool,
  depth: number,
): Promise<string | undefined> {
  const program = join(folder, 'bin', tool);
  const info = await stat(program).catch(() => undefined);
  if (info?.isFile()) return program;
  if (depth === 0) return undefined;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isDirectory()) continue;
    const found = await programBelow(join(folder, entry.name), tool, depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Caches {
  readonly folders: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Packages alone: settings.xml may hold passwords. */
function mavenCaches(host: Host): Caches {
  const repository = join(host.home, '.m2/repository');
  return { folders: [repository], env: { MAVEN_OPTS: `-Dmaven.repo.local=${repository}` } };
}

/** Gradle itself knows a cache of packages that it only reads (6.2 and later). */
function gradleCaches(host: Host): Caches {
  const caches = join(host.env.GRADLE_USER_HOME ?? join(host.home, '.gradle'), 'caches');
  return { folders: [join(caches, 'modules-2')], env: { GRADLE_RO_DEP_CACHE: caches } };
}

async function existing(folders: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    if (await stat(folder).catch(() => undefined)) found.push(folder);
  }
  return found;
}
