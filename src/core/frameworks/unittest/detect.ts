import type { Detection, WorkspaceFiles } from '../framework.ts';

/** How many test files are looked into. */
const PEEKED_FILES = 12;
/** Files that say how tests are started. */
const STARTERS = [
  'pyproject.toml',
  'setup.cfg',
  'tox.ini',
  'noxfile.py',
  'Makefile',
  'setup.py',
  'README.md',
  'README.rst',
];
const REQUIREMENTS =
  /^(?:(?:dev|test)?[-_]?requirements?[\w.-]*\.(?:txt|in)|Pipfile|uv\.lock|poetry\.lock)$/;

/**
 * Pytest runs unittest's tests as well, so unittest is chosen only where nothing speaks of pytest:
 * no file of the project's set-up and no test file.
 */
export async function detectUnittest(workspace: WorkspaceFiles): Promise<Detection | undefined> {
  const files = await workspace.files();
  const tests = files.filter(isUnittestName);
  if (tests.length === 0) return undefined;
  const names = await workspace.list('');
  if (names.some((name) => /^\.?pytest\.(?:ini|toml)$|^conftest\.py$/.test(name))) return undefined;
  if (files.some((file) => /(?:^|\/)conftest\.py$/.test(file))) return undefined;
  let started: string | undefined;
  for (const name of names) {
    if (!STARTERS.includes(name) && !REQUIREMENTS.test(name)) continue;
    const text = (await workspace.readText(name)) ?? '';
    if (/\bpytest\b/i.test(text)) return undefined;
    if (
      /-m\s+unittest\b|\bunittest\s+discover\b|["']unittest["']\s*,\s*["']discover["']/.test(text)
    )
      started ??= name;
  }
  let importing: string | undefined;
  for (const file of tests.slice(0, PEEKED_FILES)) {
    const text = (await workspace.readText(file)) ?? '';
    if (/^[ \t]*(?:import|from)[ \t]+pytest\b|^def test/m.test(text)) return undefined;
    if (/^[ \t]*(?:import|from)[ \t]+unittest\b/m.test(text)) importing ??= file;
  }
  if (importing === undefined) return undefined;
  return started === undefined
    ? { confidence: 0.85, reason: `${importing} imports unittest`, projectPath: '' }
    : { confidence: 0.9, reason: `${started} starts python -m unittest`, projectPath: '' };
}

/** unittest's default pattern, and two usual names beside it. */
export function isUnittestName(path: string): boolean {
  return (
    /(?:^|\/)(?:test[^/]*|[^/]*_tests?|tests)\.py$/.test(path) &&
    !/(?:^|\/)(?:site-packages|node_modules)\//.test(path)
  );
}
