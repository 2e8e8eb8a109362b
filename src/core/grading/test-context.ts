import { readFile, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { GradeSetup } from './types.ts';

/** What the unchanged test files and manifests say about other files. */
export interface TestContext {
  /** Files that hold tests by the baseline, relative to the workspace. */
  readonly testFiles: ReadonlySet<string>;
  /** Folders on the way to them, without the workspace itself. */
  readonly foldersWithTests: ReadonlySet<string>;
  /** Python modules that test files import when they are loaded, first parts of their names. */
  readonly imported: ReadonlySet<string>;
  /** Files that the manifest's scripts have Node load before anything else. */
  readonly preloaded: ReadonlySet<string>;
  /** Does a test file mention this name? */
  mentions(name: string): boolean;
  /** Is there such a file or folder in the unchanged snapshot? */
  exists(path: string): Promise<boolean>;
}

const MAX_BYTES = 512 * 1024;
const MAX_FILES = 500;

export async function readTestContext(
  setup: GradeSetup,
  testFiles: ReadonlySet<string>,
): Promise<TestContext> {
  const { tree } = setup.spec.base;
  const read = (path: string): Promise<string> =>
    readFile(join(tree, path), 'utf8').then(
      (text) => text.slice(0, MAX_BYTES),
      () => '',
    );
  const texts: string[] = [];
  for (const file of [...testFiles].slice(0, MAX_FILES)) texts.push(await read(file));
  const preloaded = new Set<string>();
  for (const folder of new Set(['', setup.projectPath])) {
    const manifest = await read(posix.join(folder, 'package.json'));
    for (const file of preloadedFiles(manifest)) preloaded.add(posix.join(folder, file));
  }
  return {
    testFiles,
    foldersWithTests: foldersAbove(testFiles),
    imported: new Set(texts.flatMap(importedModules)),
    preloaded,
    mentions: (name) => texts.some((text) => text.includes(name)),
    exists: (path) =>
      stat(join(tree, path)).then(
        () => true,
        () => false,
      ),
  };
}

export function foldersAbove(files: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const file of files) {
    for (let up = posix.dirname(file); up !== '.'; up = posix.dirname(up)) folders.add(up);
  }
  return folders;
}

/** Imports at the left margin: what is indented may be optional, or come later. */
export function importedModules(source: string): readonly string[] {
  const names: string[] = [];
  for (const [, from, list] of source.matchAll(
    /^(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import\b|import[ \t]+([A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?)*))/gm,
  )) {
    for (const name of from !== undefined ? [from] : (list ?? '').split(',')) {
      const first = /[A-Za-z_]\w*/.exec(name)?.[0];
      if (first !== undefined) names.push(first);
    }
  }
  return names;
}

/** `node --import ./register.mjs --test`: relative files after such options, as the scripts name them. */
export function preloadedFiles(manifest: string): readonly string[] {
  const scripts = /"scripts"\s*:\s*\{([^}]*)\}/.exec(manifest)?.[1] ?? '';
  return [
    ...scripts.matchAll(
      /(?:--import|--require|-r|--loader|--experimental-loader|--env-file(?:-if-exists)?|--test-global-setup)(?:=|\s+)(?:\\"|')?([^\s"'\\]+)/g,
    ),
  ]
    .map(([, file = '']) => posix.normalize(file))
    .filter((file) => !file.startsWith('..') && !file.startsWith('/'));
}
