import type { Detection, WorkspaceFiles } from '../framework.ts';
import { readManifest, testScript } from './manifest.ts';

/** What gives one runner of JavaScript tests away. */
export interface Traits {
  /** Its program in scripts and its package: `vitest`. */
  readonly tool: string;
  /** Names of its configuration files in the project's folder; some have none. */
  readonly config?: RegExp;
  /** Top-level key of package.json that configures it. */
  readonly key?: string;
  /** A file that may hold tests, for projects with neither script nor configuration. */
  isTestName(path: string): boolean;
  /** What such a file must say to be one of this runner's; without: any such file. */
  readonly says?: RegExp;
}

/** How many test files are looked into. */
const PEEKED_FILES = 8;
const RUNNERS =
  /\b(?:jest|vitest|mocha|ava|tap|tape|jasmine|karma|playwright|cypress|uvu|bun test|deno)\b|\b(?:node|tsx)\b.*\s--test\b/;

/** The program as a word of its own: not `jest-codemods`, not `./jest/setup.js`, not `@vitest/ui`. */
function runs(script: string, tool: string): boolean {
  return new RegExp(
    `(?:^|[\\s;&|"'(]|node_modules/(?:\\.bin/)?)_?${tool}(?=$|[\\s;&|"')]|/\\S*\\.[cm]?js\\b)`,
  ).test(script);
}

/** Reads package.json and the names in its folder; test files only where those leave it open. */
export async function detectRunner(
  workspace: WorkspaceFiles,
  traits: Traits,
): Promise<Detection | undefined> {
  const { tool } = traits;
  const found = (confidence: number, reason: string): Detection => ({
    confidence,
    reason,
    projectPath: '',
  });
  const manifest = await readManifest(workspace);
  const script = testScript(manifest);
  if (script !== undefined && runs(script, tool))
    return found(0.95, `package.json: scripts.test runs ${tool}`);
  // Another runner is what the project calls its tests.
  if (script !== undefined && RUNNERS.test(script)) return undefined;
  const named = Object.keys(manifest?.scripts ?? {}).find(
    (name) => /^test[:._-]/.test(name) && runs(testScript(manifest, name) ?? '', tool),
  );
  if (named !== undefined) return found(0.95, `package.json: scripts.${named} runs ${tool}`);
  const config = (await workspace.list('')).find((name) => traits.config?.test(name));
  if (config !== undefined) return found(0.9, `${config} exists`);
  if (traits.key !== undefined && manifest?.keys.has(traits.key))
    return found(0.9, `package.json has ${traits.key}`);
  if (!manifest?.dependencies.has(tool)) return undefined;
  const files = (await workspace.files()).filter(traits.isTestName);
  for (const file of files.slice(0, PEEKED_FILES)) {
    const text = await workspace.readText(file);
    if (text === undefined || /['"]node:test['"]/.test(text)) continue;
    if (traits.says === undefined || traits.says.test(text))
      return found(0.8, `package.json depends on ${tool}, and ${file} is named like a test`);
  }
  return undefined;
}

/** `a.test.js`, `a_spec.ts`, and scripts in folders for tests. */
export function isScriptTestName(path: string): boolean {
  return (
    /\.[cm]?[jt]sx?$/.test(path) &&
    !/\.d\.[cm]?ts$|(?:^|\/)node_modules\//.test(path) &&
    (/[._-](?:test|spec)\.\w+$/.test(path) || /(?:^|\/)(?:tests?|__tests__|specs?)\//.test(path))
  );
}
