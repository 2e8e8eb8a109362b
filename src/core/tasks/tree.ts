import { createHash } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface TreeFile {
  readonly mode: '100644' | '100755' | '120000';
  /** Of a link: where it leads. */
  readonly content: Buffer;
}

/** Files by their path, with forward slashes. */
export type FileTree = ReadonlyMap<string, TreeFile>;

export function textTree(files: Readonly<Record<string, string>>): FileTree {
  return new Map(
    Object.entries(files).map(([path, text]) => [
      path,
      { mode: '100644', content: Buffer.from(text) },
    ]),
  );
}

/** The same for the same files, in whatever order they come. */
export function treeHash(tree: FileTree): string {
  const parts = [...tree].map(([path, { mode, content }]) => [
    path,
    mode,
    createHash('sha256').update(content).digest('hex'),
  ]);
  parts.sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Writes all files into a folder. Paths were checked when the tree was read. */
export async function writeTree(folder: string, tree: FileTree): Promise<void> {
  for (const [path, { mode, content }] of tree) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    if (mode === '120000') await symlink(content.toString(), target);
    else await writeFile(target, content);
    if (mode === '100755') await chmod(target, 0o755);
  }
}

/** No way out of the folder: relative, without `.`, `..`, empty parts or `.git`. */
export function isSafePath(path: string): boolean {
  return (
    !path.includes('\\') &&
    !path.includes('\0') &&
    path.split('/').every((part) => !['', '.', '..', '.git'].includes(part.toLowerCase()))
  );
}

/**
 * The first path with which a tree would write outside of its folder: an unsafe name, or a file below a
 * link or another file. Then nothing of it may be written.
 */
export function writesOutside(tree: FileTree): string | undefined {
  return [...tree.keys()].find((path) => {
    if (!isSafePath(path)) return true;
    const parts = path.split('/');
    return parts.some((_, at) => at > 0 && tree.has(parts.slice(0, at).join('/')));
  });
}

/** The first link of a tree that leads out of its folder, of a tree that does not write outside. */
export function leadsOutside(tree: FileTree): string | undefined {
  return [...tree].find(
    ([path, { mode, content }]) =>
      mode === '120000' && !staysInside(content.toString('utf8'), path.split('/').length - 1),
  )?.[0];
}

/**
 * `..` at the front alone: behind a name it means the parent of wherever that name leads. The folder
 * of the link is no link itself, so the depth is the real one.
 */
function staysInside(target: string, depth: number): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0')) return false;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const down = parts.findIndex((part) => part !== '..');
  const up = down === -1 ? parts.length : down;
  const rest = parts.slice(up);
  return up <= depth && rest.every((part) => part !== '..' && part.toLowerCase() !== '.git');
}

/** All files of a snapshot's base, without its repository. */
export async function readTree(root: string): Promise<FileTree> {
  const tree = new Map<string, TreeFile>();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    const path = full.slice(root.length).replace(/^\/+/, '');
    if (!isSafePath(path)) continue;
    if (entry.isSymbolicLink()) {
      tree.set(path, { mode: '120000', content: Buffer.from(await readlink(full)) });
    } else if (entry.isFile()) {
      const { mode } = await lstat(full);
      tree.set(path, { mode: mode & 0o100 ? '100755' : '100644', content: await readFile(full) });
    }
  }
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}
