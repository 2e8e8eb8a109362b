import { posix } from 'node:path';
import type { Detection, WorkspaceFiles } from '../framework.ts';

export async function detectCargo(workspace: WorkspaceFiles): Promise<Detection | undefined> {
  const manifest = await workspace.readText('Cargo.toml');
  if (manifest === undefined) return undefined;
  const files = (await workspace.files()).filter((file) => file.endsWith('.rs'));
  if (files.length === 0) return undefined;
  const isWorkspace = /^\s*\[workspace\b/m.test(manifest);
  return {
    // The members of a workspace are run from its top, so nothing below is looked at.
    confidence: isWorkspace ? 0.95 : 0.85,
    reason: isWorkspace ? 'Cargo.toml has [workspace]' : 'Cargo.toml exists',
    projectPath: '',
    leavesNested: !isWorkspace,
  };
}

/** Files that hold nothing but tests; most tests of Rust are inside of the sources. */
export function isCargoTestFile(path: string): boolean {
  const name = posix.basename(path);
  return (
    /(?:^|\/)(?:tests|benches)\//.test(path) || /^(?:tests?|test_.*|.*_tests?)\.rs$/.test(name)
  );
}
