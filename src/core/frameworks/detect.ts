import { posix } from 'node:path';
import { allFrameworks } from './all.ts';
import type { Detection, Framework, WorkspaceFiles } from './framework.ts';
import { subWorkspace } from './workspace-files.ts';

export interface DetectedProject {
  readonly framework: Framework;
  readonly detection: Detection;
}

/** A configuration at the top that says so itself speaks for the folders below. */
const CERTAIN = 0.9;
const MAX_PROJECTS = 50;
const MANIFESTS = new Set([
  'package.json',
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'pytest.ini',
  'tox.ini',
  'go.mod',
  'Cargo.toml',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'settings.gradle',
  'settings.gradle.kts',
]);

/**
 * The test projects of a workspace, per framework: the root where it configures the framework
 * itself, else the outermost folders with a manifest that do, else the root. Several languages in one workspace give several projects.
 */
export async function detectFrameworks(
  workspace: WorkspaceFiles,
  frameworks: readonly Framework[] = allFrameworks,
): Promise<readonly DetectedProject[]> {
  const folders = await manifestFolders(workspace);
  const found: DetectedProject[] = [];
  for (const framework of frameworks) {
    const atRoot = await framework.detect(workspace);
    if (atRoot && atRoot.confidence >= CERTAIN) {
      found.push({ framework, detection: atRoot });
      continue;
    }
    const below: DetectedProject[] = [];
    for (const folder of folders) {
      const isRunByAnother = ({ detection }: DetectedProject): boolean =>
        detection.leavesNested !== true && folder.startsWith(`${detection.projectPath}/`);
      if (below.some(isRunByAnother)) continue;
      const detection = await framework.detect(subWorkspace(workspace, folder));
      if (!detection) continue;
      const reason = `${folder}/ ${detection.reason}`;
      below.push({
        framework: inFolder(framework, folder),
        detection: { ...detection, reason, projectPath: folder },
      });
    }
    // Tests of the root itself, outside of every project below it.
    const files = atRoot && below.length > 0 ? await outside(workspace, below) : undefined;
    const own = files ? await framework.detect({ ...workspace, files: async () => files }) : atRoot;
    if (own) found.push({ framework, detection: own });
    found.push(...below);
  }
  return found.sort((a, b) => b.detection.confidence - a.detection.confidence);
}

/** Its tool chain is looked for in the project's folder first, then around it. */
function inFolder(framework: Framework, folder: string): Framework {
  return {
    ...framework,
    toolchain: (workspace, wishes) => framework.toolchain(subWorkspace(workspace, folder), wishes),
  };
}

async function outside(
  workspace: WorkspaceFiles,
  below: readonly DetectedProject[],
): Promise<readonly string[]> {
  const prefixes = below.map(({ detection }) => `${detection.projectPath}/`);
  const files = await workspace.files();
  return files.filter((file) => !prefixes.some((prefix) => file.startsWith(prefix)));
}

/** Outermost first; dependency folders and examples of fixtures left out. */
async function manifestFolders(workspace: WorkspaceFiles): Promise<readonly string[]> {
  const folders = new Set<string>();
  for (const file of await workspace.files()) {
    const folder = posix.dirname(file);
    if (folder === '.' || !MANIFESTS.has(posix.basename(file))) continue;
    if (
      /(?:^|\/)(?:node_modules|site-packages|vendor|fixtures?|testdata|templates?)(?:\/|$)/.test(
        folder,
      )
    )
      continue;
    folders.add(folder);
  }
  const depth = (path: string): number => path.split('/').length;
  return [...folders]
    .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
    .slice(0, MAX_PROJECTS);
}
