import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';

const LARGEST_FILE = 400_000;

/** A file of JavaScript in an installed package. */
export interface PackageFile {
  /** From the folder of packages, with `/`. */
  readonly path: string;
  readonly text: string;
}

/**
 * The JavaScript in a folder of installed packages, without what is minified or huge. Packages that
 * evaluations make tasks of are left out, wherever they are installed: a policy must not have learnt from them.
 * In an order that is random and always the same.
 */
export async function* packageCode(
  folder: string,
  leaveOut: ReadonlySet<string>,
): AsyncGenerator<PackageFile> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /(?<!\.min)\.[mc]?js$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((path) => !packagesOf(path).some((name) => leaveOut.has(name)))
    .map((path) => ({ path, order: createHash('sha256').update(path).digest('hex') }))
    .sort((a, b) => (a.order < b.order ? -1 : 1));
  for (const { path } of paths) {
    const text = await readFile(join(folder, path), 'utf8');
    if (text.length <= LARGEST_FILE) yield { path, text };
  }
}

/** Names of the packages that evaluations make tasks of, by the files with those tasks. */
export async function evaluatedPackages(folder: string): Promise<ReadonlySet<string>> {
  const suffix = '.jsonl.gz';
  const files = (await readdir(folder)).filter((name) => name.endsWith(suffix));
  return new Set(files.map((name) => basename(name, suffix)));
}

/** The packages that a file is in, outermost first: one may be installed inside another. */
function packagesOf(path: string): readonly string[] {
  return path.split(/(?:^|\/)node_modules\//).flatMap((part) => {
    const [first = '', second = ''] = part.split('/');
    return first.startsWith('@') ? [`${first}/${second}`] : [first];
  });
}
