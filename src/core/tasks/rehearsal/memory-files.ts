import { posix } from 'node:path';
import {
  type FileInfo,
  type ListedEntry,
  SandboxFileError,
  type SandboxFiles,
  WORKSPACE,
} from '../../sandbox/sandbox.ts';

/** Files of a workspace in memory, by path relative to it. Plain files only. */
export type MemoryTree = Map<string, Buffer>;

/** `SandboxFiles` over a tree in memory; nothing but the workspace exists. */
export function createMemoryFiles(tree: MemoryTree): SandboxFiles {
  const inspect = (path: string): FileInfo => {
    const name = inside(path);
    const content = name === undefined ? undefined : tree.get(name);
    const info = { realPath: path, isSymlink: false };
    if (content) return { ...info, kind: 'file', size: content.length, mode: 0o644 };
    const folder = name !== undefined && (name === '' || isFolder(tree, name));
    return { ...info, kind: folder ? 'directory' : 'missing', size: 0, mode: folder ? 0o755 : 0 };
  };
  return {
    inspect: async (path) => inspect(path),
    read: async (path, maxBytes) => {
      const content = tree.get(inside(path) ?? '');
      if (!content) throw new SandboxFileError('missing', `${path} does not exist.`);
      if (content.length > maxBytes)
        throw new SandboxFileError('too-large', `${path} is too large.`);
      return content;
    },
    write: async (path, content) => {
      const name = inside(path);
      if (!name) throw new SandboxFileError('permission', `No permission to write ${path}.`);
      tree.set(name, Buffer.from(content));
    },
    remove: async (path) => {
      const name = inside(path);
      for (const other of [...tree.keys()]) {
        if (other === name || other.startsWith(`${name}/`)) tree.delete(other);
      }
    },
    list: async (path, depth, limit) => list(tree, inside(path) ?? '', depth).slice(0, limit),
  };
}

/** `''` is the workspace; undefined: outside of it. */
function inside(path: string): string | undefined {
  if (path === WORKSPACE) return '';
  return path.startsWith(`${WORKSPACE}/`) ? path.slice(WORKSPACE.length + 1) : undefined;
}

function isFolder(tree: MemoryTree, name: string): boolean {
  return [...tree.keys()].some((path) => path.startsWith(`${name}/`));
}

function list(tree: MemoryTree, folder: string, depth: number): readonly ListedEntry[] {
  const prefix = folder === '' ? '' : `${folder}/`;
  const found = new Map<string, ListedEntry['kind']>();
  for (const path of tree.keys()) {
    if (!path.startsWith(prefix)) continue;
    const parts = path.slice(prefix.length).split('/');
    for (let level = 1; level <= Math.min(depth, parts.length); level += 1) {
      if (parts.slice(0, level).some((part) => part.startsWith('.'))) break;
      const kind = level === parts.length ? 'file' : 'directory';
      found.set(posix.join(WORKSPACE, prefix, ...parts.slice(0, level)), kind);
    }
  }
  return [...found]
    .map(([path, kind]) => ({ path, kind }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
