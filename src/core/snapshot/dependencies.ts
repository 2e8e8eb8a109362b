import { realpath, stat } from 'node:fs/promises';
import type { DependencyFolder } from '../sandbox/sandbox.ts';
import { eachLimited } from './limited.ts';
import {
  baseName,
  fromRawPath,
  hostPath,
  isUtf8Path,
  parentPaths,
  type RawPath,
} from './raw-path.ts';

/** Ignored folders of these names hold installed or compiled dependencies. */
const NAMES: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  'jspm_packages',
  '.pnpm-store',
  '.venv',
  '.tox',
  '.nox',
  '__pypackages__',
  '.eggs',
  'vendor',
  '.bundle',
  'target',
  '.gradle',
  'Pods',
  'deps',
  '_build',
]);
/** `.yarn` itself is often tracked in part. */
const YARN = /(^|\/)\.yarn\/(cache|unplugged)$/;
/** More mounts than this are no help to anybody. */
const MOST = 500;

/** By name alone: is this ignored folder one of dependencies? */
export function isDependencyName(path: RawPath): boolean {
  const name = baseName(path);
  return NAMES.has(name) || name.endsWith('.egg-info') || YARN.test(path);
}

/**
 * Which ignored folders hold dependencies. Looks at names and at one or two marker files for each
 * listed folder; never walks them.
 *
 * @param root absolute path of the workspace
 * @param ignored as git lists them: a folder that is ignored as a whole ends with `/`
 * @param files what the snapshot holds; a folder with such files in it cannot be mounted over
 */
export async function findDependencies(
  root: RawPath,
  ignored: readonly RawPath[],
  files: readonly RawPath[],
  signal?: AbortSignal,
): Promise<DependencyFolder[]> {
  const occupied = new Set<RawPath>();
  for (const file of files) for (const parent of parentPaths(file)) occupied.add(parent);

  const named = new Set<RawPath>();
  const toLookAt = new Set<RawPath>();
  for (const entry of ignored) {
    const path = entry.endsWith('/') ? entry.slice(0, -1) : entry;
    const above = [...parentPaths(path), path];
    const found = above.find(
      (candidate) => isDependencyName(candidate) && !occupied.has(candidate),
    );
    if (found !== undefined) {
      named.add(found);
    } else if (above.some(isDependencyName) && entry.endsWith('/')) {
      // node_modules with a tracked file in it: its other folders are taken one by one.
      named.add(path);
    } else {
      for (const candidate of above) if (!occupied.has(candidate)) toLookAt.add(candidate);
    }
  }
  for (const path of [...toLookAt].slice(0, MOST * 4)) {
    if (await isEnvironment(root, path)) named.add(path);
  }

  const outermost = [...named]
    .filter((path) => ![...parentPaths(path)].some((parent) => named.has(parent)))
    .filter(isUtf8Path)
    .sort()
    .slice(0, MOST);
  const found: DependencyFolder[] = [];
  await eachLimited(
    outermost,
    16,
    async (path) => {
      // Follows a link: node_modules may lead to a shared folder.
      const real = await realFolder(root, path);
      if (real !== undefined) found.push({ path: fromRawPath(path), hostPath: real });
    },
    signal,
  );
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A virtual environment or a conda environment, whatever it is called. */
async function isEnvironment(root: RawPath, path: RawPath): Promise<boolean> {
  for (const marker of ['pyvenv.cfg', 'conda-meta']) {
    if (await exists(hostPath(root, `${path}/${marker}`))) return true;
  }
  return false;
}

async function exists(path: string | Buffer): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function realFolder(root: RawPath, path: RawPath): Promise<string | undefined> {
  try {
    const real = await realpath(hostPath(root, path));
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
