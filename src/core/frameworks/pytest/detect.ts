import type { Detection, WorkspaceFiles } from '../framework.ts';
import { detectUnittest } from '../unittest/detect.ts';

export async function detectPytest(workspace: WorkspaceFiles): Promise<Detection | undefined> {
  const found = (confidence: number, reason: string): Detection => ({
    confidence,
    reason,
    projectPath: '',
  });
  for (const name of ['pytest.ini', '.pytest.ini', 'pytest.toml']) {
    if (await workspace.exists(name)) return found(0.95, `${name} exists`);
  }
  const configured: readonly (readonly [string, RegExp, string])[] = [
    ['pyproject.toml', /^\s*\[tool\.pytest(?:\.ini_options)?\]/m, '[tool.pytest]'],
    ['setup.cfg', /^\[tool:pytest\]/m, '[tool:pytest]'],
    ['tox.ini', /^\[pytest\]/m, '[pytest]'],
  ];
  for (const [name, pattern, section] of configured) {
    const text = await workspace.readText(name);
    if (text !== undefined && pattern.test(text)) return found(0.95, `${name} has ${section}`);
  }
  const files = await workspace.files();
  const conftest = files.find((file) => /(?:^|\/)conftest\.py$/.test(file));
  if (conftest) return found(0.85, `${conftest} exists`);
  const test = files.find(isPytestName);
  // A project of unittest is run by unittest: pytest need not be there.
  if (test && (await detectUnittest(workspace))) return undefined;
  if (test) return found(0.8, `${test} is named like a test`);
  return undefined;
}

/** pytest's default `python_files`. */
export function isPytestName(path: string): boolean {
  return (
    /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path) &&
    !/(?:^|\/)(?:site-packages|node_modules)\//.test(path)
  );
}
