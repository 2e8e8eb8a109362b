import { posix } from 'node:path';

/** Workspace packages: name → folder. */
export type Packages = ReadonlyMap<string, string>;

const TEST_FILE =
  /(?:^|\/)(?:tests?|__tests__|spec|__mocks__|fixtures)\/|[._-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)test[._-][^/]*$|(?:^|\/)conftest\.py$|_test\.(?:py|go)$/;

/** Tests and what supports them: read, never edited. */
export function isTestPath(path: string): boolean {
  return TEST_FILE.test(path);
}

/** Files of the workspace that a file imports, in order. Unknown ones (libraries) are left out. */
export function importsOf(
  path: string,
  text: string,
  files: ReadonlySet<string>,
  packages: Packages = new Map(),
): readonly string[] {
  const found = path.endsWith('.py')
    ? pythonImports(path, text, files)
    : path.endsWith('.rs')
      ? rustModules(path, text, files)
      : path.endsWith('.go')
        ? goPackages(path, text, files)
        : specifiersOf(text).flatMap((name) => resolveSpecifier(path, name, files, packages) ?? []);
  return [...new Set(found)].filter((file) => file !== path);
}

/** Module names of `import`, `export … from`, `require`, `import()`. */
export function specifiersOf(text: string): readonly string[] {
  const pattern =
    /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*)(['"])([^'"\n]+)\1/g;
  return [...text.matchAll(pattern)].flatMap((match) => match[2] ?? []);
}

const EXTENSIONS = ['', '.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'];

function resolveSpecifier(
  from: string,
  name: string,
  files: ReadonlySet<string>,
  packages: Packages,
): string | undefined {
  if (name.startsWith('node:')) return undefined;
  if (name.startsWith('.')) return tryPath(posix.join(posix.dirname(from), name), files);
  for (const [packageName, folder] of packages) {
    if (name === packageName) return packageEntry(folder, files);
    if (name.startsWith(`${packageName}/`)) {
      const rest = name.slice(packageName.length + 1);
      return (
        tryPath(posix.join(folder, rest), files) ?? tryPath(posix.join(folder, 'src', rest), files)
      );
    }
  }
  // Aliases (`@/util/x`, `#lib/x`, `src/x`): by the end of the path, if there is one such file.
  const rest = name.replace(/^[@#~][^/]*\//, '');
  if (!rest.includes('/') && rest === name) return undefined;
  const matches = [...files].filter((file) =>
    EXTENSIONS.some(
      (extension) => file === rest + extension || file.endsWith(`/${rest}${extension}`),
    ),
  );
  return matches.length === 1 ? matches[0] : undefined;
}

function packageEntry(folder: string, files: ReadonlySet<string>): string | undefined {
  for (const entry of ['src/index', 'index', 'lib/index', 'src/main', 'main']) {
    const found = tryPath(posix.join(folder, entry), files);
    if (found !== undefined) return found;
  }
  return undefined;
}

function tryPath(path: string, files: ReadonlySet<string>): string | undefined {
  const bases = [path, path.replace(/\.([cm]?)jsx?$/, '.$1ts'), path.replace(/\.[cm]?jsx?$/, '')];
  for (const base of [...bases, posix.join(path, 'index')]) {
    for (const extension of EXTENSIONS) {
      if (files.has(base + extension)) return base + extension;
    }
  }
  return undefined;
}

function pythonImports(path: string, text: string, files: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  const add = (module: string, level: number) => {
    for (const file of pythonModule(path, module, level, files)) found.push(file);
  };
  for (const match of text.matchAll(
    /^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]+)/gm,
  )) {
    const level = match[1]?.length ?? 0;
    const module = match[2] ?? '';
    add(module, level);
    for (const name of (match[3] ?? '').matchAll(/(?:^|[,(])\s*(\w+)/g)) {
      add(module === '' ? (name[1] ?? '') : `${module}.${name[1]}`, level);
    }
  }
  for (const match of text.matchAll(/^[ \t]*import[ \t]+([\w., \t]+)/gm)) {
    for (const part of (match[1] ?? '').split(',')) add(part.trim().split(/\s/)[0] ?? '', 0);
  }
  return found;
}

/**
 * Modules are files of the same crate, told by their names: `mod x;`, `use crate::x`, `x::f()`. A
 * test file of its own also has the root of its crate.
 */
function rustModules(path: string, text: string, files: ReadonlySet<string>): readonly string[] {
  const crate = /^(.*?)(?:^|\/)?(?:src|tests|benches|examples)\//.exec(`${path}`)?.[1] ?? '';
  const root = crate === '' ? '' : `${crate}/`;
  const names = new Set(
    [...text.matchAll(/\bmod\s+(\w+)\s*;|\b(\w+)\s*::|::\s*(\w+)/g)].flatMap(
      ([, module, before, after]) => module ?? before ?? after ?? [],
    ),
  );
  for (const match of text.matchAll(/\buse\s+[^;]*;/g)) {
    for (const [name] of match[0].matchAll(/\w+/g)) names.add(name);
  }
  const own = [...files].filter((file) => file.startsWith(`${root}src/`) && file.endsWith('.rs'));
  const modules = own.filter((file) => names.has(moduleName(file)));
  if (path.startsWith(`${root}src/`)) return modules;
  return [...own.filter((file) => /\/src\/lib\.rs$|^src\/lib\.rs$/.test(file)), ...modules];
}

/**
 * A package is a folder: the files beside this one, and those of the folders that it imports. The name
 * of a module says nothing about folders, so an import is told by its end; the longest one counts.
 */
function goPackages(path: string, text: string, files: ReadonlySet<string>): readonly string[] {
  const sources = [...files].filter((file) => file.endsWith('.go') && !file.endsWith('_test.go'));
  const folders = [...new Set(sources.map((file) => posix.dirname(file)))]
    .filter((folder) => folder !== '.')
    .sort((a, b) => b.length - a.length);
  const imported = [
    ...text.matchAll(/^\s*(?:import\s+)?(?:[\w.]+\s+)?"([^"\n]+)"\s*(?:\/\/.*)?$/gm),
  ]
    .map(([, name = '']) => folders.find((folder) => `/${name}`.endsWith(`/${folder}`)))
    .filter((folder) => folder !== undefined);
  return [posix.dirname(path), ...imported].flatMap((folder) =>
    sources.filter((file) => posix.dirname(file) === folder),
  );
}

function moduleName(file: string): string {
  const name = posix.basename(file, '.rs');
  return name === 'mod' ? posix.basename(posix.dirname(file)) : name;
}

function pythonModule(
  from: string,
  module: string,
  level: number,
  files: ReadonlySet<string>,
): readonly string[] {
  const inner = module.replaceAll('.', '/');
  const endings = inner === '' ? ['__init__.py'] : [`${inner}.py`, `${inner}/__init__.py`];
  if (level > 0) {
    let folder = posix.dirname(from);
    for (let up = 1; up < level; up++) folder = posix.dirname(folder);
    return endings.map((ending) => posix.join(folder, ending)).filter((file) => files.has(file));
  }
  if (inner === '') return [];
  return [...files].filter((file) =>
    endings.some((ending) => file === ending || file.endsWith(`/${ending}`)),
  );
}
