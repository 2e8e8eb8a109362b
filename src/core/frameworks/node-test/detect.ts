import type { Detection, WorkspaceFiles } from '../framework.ts';
import { readManifest, testScript } from '../javascript/manifest.ts';

/** How many test files are looked into for `node:test`. */
const PEEKED_FILES = 8;
const OTHER_RUNNERS =
  /\b(?:jest|vitest|mocha|ava|tap|jasmine|karma|playwright|cypress|bun test|deno)\b/;

export async function detectNodeTest(workspace: WorkspaceFiles): Promise<Detection | undefined> {
  const script = testScript(await readManifest(workspace));
  if (script !== undefined && /\b(?:node|tsx)\b.*\s--test\b/.test(script)) {
    return {
      confidence: 0.95,
      reason: 'package.json: scripts.test runs node --test',
      projectPath: '',
    };
  }
  if (script !== undefined && OTHER_RUNNERS.test(script)) return undefined;
  const candidates = (await workspace.files()).filter(isNodeTestName);
  for (const file of candidates.slice(0, PEEKED_FILES)) {
    const text = await workspace.readText(file);
    if (text !== undefined && /['"]node:test['"]/.test(text)) {
      return { confidence: 0.85, reason: `${file} imports node:test`, projectPath: '' };
    }
  }
  return undefined;
}

export function isNodeTestName(path: string): boolean {
  return (
    /\.[cm]?[jt]sx?$/.test(path) &&
    !/(?:^|\/)node_modules\//.test(path) &&
    (/[._-](?:test|spec)\.\w+$/.test(path) ||
      /(?:^|\/)(?:tests?|__tests__)\//.test(path) ||
      /(?:^|\/)test(?:-[^/]*)?\.\w+$/.test(path))
  );
}
