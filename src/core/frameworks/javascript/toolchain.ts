import semver from 'semver';
import type { ToolchainResult, WorkspaceFiles } from '../framework.ts';
import { findNode } from '../node-test/toolchain.ts';
import { withOuter } from '../workspace-files.ts';

export interface Needed {
  /** Package of the runner, in node_modules of the project or of a folder around it. */
  readonly name: string;
  /** First version that our reporter reads. */
  readonly oldest: string;
}

/** The project's Node, where the runner is installed. */
export async function findNodeWith(
  workspace: WorkspaceFiles,
  { name, oldest }: Needed,
): Promise<ToolchainResult> {
  const node = await findNode(workspace);
  if (node.kind === 'missing') return node;
  const version = await installedVersion(workspace, name);
  if (version === undefined) {
    const places = withOuter(workspace);
    const plug = await anyOf(places, '.pnp.cjs');
    return {
      kind: 'missing',
      reason: plug
        ? `${name} is installed by Yarn's Plug'n'Play, which is not supported.`
        : `${name} is not installed: there is no node_modules/${name}.`,
      remedy: plug
        ? 'Set "nodeLinker: node-modules" in .yarnrc.yml, then run yarn install.'
        : `Install the project's dependencies: ${await installCommand(places)}`,
    };
  }
  if (semver.lt(version, oldest)) {
    return {
      kind: 'missing',
      reason: `${name} ${version} is too old: its tests can be read from version ${oldest} on.`,
      remedy: `Update it: npm install --save-dev ${name}@latest`,
    };
  }
  return { ...node, detail: `${node.detail}, ${name} ${version}` };
}

async function installedVersion(
  workspace: WorkspaceFiles,
  name: string,
): Promise<string | undefined> {
  for (const place of withOuter(workspace)) {
    const text = await place.readText(`node_modules/${name}/package.json`);
    if (text === undefined) continue;
    try {
      const { version } = JSON.parse(text) as { version?: unknown };
      if (typeof version === 'string' && semver.valid(version)) return version;
    } catch {
      // Half an installation is none.
    }
  }
  return undefined;
}

async function installCommand(places: readonly WorkspaceFiles[]): Promise<string> {
  if (await anyOf(places, 'pnpm-lock.yaml')) return 'pnpm install';
  if (await anyOf(places, 'yarn.lock')) return 'yarn install';
  return (await anyOf(places, 'package-lock.json')) ? 'npm ci' : 'npm install';
}

async function anyOf(places: readonly WorkspaceFiles[], file: string): Promise<boolean> {
  for (const place of places) if (await place.exists(file)) return true;
  return false;
}
