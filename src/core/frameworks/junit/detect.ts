import type { Detection, WorkspaceFiles } from '../framework.ts';

export async function detectJunit(workspace: WorkspaceFiles): Promise<Detection | undefined> {
  const builds = [
    'pom.xml',
    'build.gradle',
    'build.gradle.kts',
    'settings.gradle',
    'settings.gradle.kts',
  ];
  for (const build of builds) {
    const text = await workspace.readText(build);
    if (text === undefined) continue;
    const test = (await workspace.files()).find(isJunitTestFile);
    if (test === undefined) return undefined;
    // The build at the top runs the modules below it, where it names them.
    const isWhole =
      /<modules>/.test(text) || (build !== 'pom.xml' && (await hasSettings(workspace)));
    return {
      confidence: isWhole ? 0.95 : 0.85,
      reason: `${build} exists, and ${test} is a test`,
      projectPath: '',
      leavesNested: !isWhole,
    };
  }
  return undefined;
}

async function hasSettings(workspace: WorkspaceFiles): Promise<boolean> {
  return (
    (await workspace.exists('settings.gradle')) || (await workspace.exists('settings.gradle.kts'))
  );
}

/**
 * By the convention of both tools: `src/test`, `src/integrationTest`, `src/integration-test`.
 * Helpers and resources of tests as well.
 */
export function isJunitTestFile(path: string): boolean {
  return /(?:^|\/)src\/(?:tests?|\w+Tests?|[\w-]+[-_]tests?|it|testFixtures)\//.test(path);
}
