import type { Detection, WorkspaceFiles } from '../framework.ts';

/** Never certain: a module at the top says nothing of modules below it, which `./...` leaves out. */
const CONFIDENCE = 0.85;

export async function detectGo(workspace: WorkspaceFiles): Promise<Detection | undefined> {
  if (!(await workspace.exists('go.mod'))) return undefined;
  const test = (await workspace.files()).find(isGoTestName);
  if (test === undefined) return undefined;
  return {
    confidence: CONFIDENCE,
    reason: `go.mod exists, and ${test} is a test`,
    projectPath: '',
    leavesNested: true,
  };
}

/** Go leaves out folders that begin with `_` or `.`, `testdata` and `vendor`. */
export function isGoTestName(path: string): boolean {
  return (
    /(?:^|\/)[^_./][^/]*_test\.go$/.test(path) &&
    !/(?:^|\/)(?:[_.][^/]*|testdata|vendor)\//.test(path)
  );
}
