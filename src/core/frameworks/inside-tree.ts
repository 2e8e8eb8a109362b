import { readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Text files of a tree, by paths that come from inside a sandbox and are not to be trusted. */
export interface TreeReader {
  /** undefined: missing, not a file, too large, or (by a link or `..`) outside of the tree. */
  readText(path: string): Promise<string | undefined>;
}

const MAX_BYTES = 2 ** 20;

export function openTreeReader(root: string): TreeReader {
  return {
    readText: async (path) => {
      try {
        const [top, file] = await Promise.all([realpath(root), realpath(join(root, path))]);
        const inside = relative(top, file);
        if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`)) return undefined;
        const info = await stat(file);
        return info.isFile() && info.size <= MAX_BYTES ? await readFile(file, 'utf8') : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
