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
    // The build at the top runs the modules below it.
    const isWhole = /<modules>/.test(text) || build.startsWith('settings.');
    return {
      confidence: isWhole ? 0.95 : 0.9,
      reason: `${build} exists, and ${test} is a test`,
      projectPath: '',
    };
  }
  return undefined;
}

/** By the convention of both tools; helpers and resources of tests as well. */
export function isJunitTestFile(path: string): boolean {
  return /(?:^|\/)src\/(?:\w*[tT]ests?|it|testFixtures)\//.test(path);
}
