import { readdir, readFile, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { readingUserRepository, runGit } from '../snapshot/git.ts';
import type { WorkspaceFiles } from './framework.ts';

const MAX_TEXT_BYTES = 4 * 2 ** 20;
const MAX_FILES = 200_000;
const MAX_DEPTH = 24;
const GIT_TIMEOUT_MS = 30_000;
/** Folders that hold no tests of the project, for workspaces without git. */
const NOT_WALKED = new Set([
  'node_modules',
  '__pycache__',
  'venv',
  'target',
  'site-packages',
  'dist',
  'build',
]);

/** Host-side reading of the workspace at `root` (absolute). */
export function openWorkspaceFiles(root: string): WorkspaceFiles {
  let known: Promise<readonly string[]> | undefined;
  return {
    root,
    readText: async (path) => {
      try {
        const file = join(root, path);
        const info = await stat(file);
        if (!info.isFile() || info.size > MAX_TEXT_BYTES) return undefined;
        return await readFile(file, 'utf8');
      } catch {
        return undefined;
      }
    },
    exists: async (path) => {
      try {
        await stat(join(root, path));
        return true;
      } catch {
        return false;
      }
    },
    list: async (path) => {
      try {
        return (await readdir(join(root, path))).sort();
      } catch {
        return [];
      }
    },
    files: () => {
      known ??= listFiles(root);
      return known;
    },
  };
}

/** A folder of a workspace, with what is around it. */
export interface SubWorkspace extends WorkspaceFiles {
  readonly outer: WorkspaceFiles;
}

/** Innermost first: a folder of a workspace, then the workspace. */
export function withOuter(workspace: WorkspaceFiles | SubWorkspace): readonly WorkspaceFiles[] {
  return 'outer' in workspace ? [workspace, ...withOuter(workspace.outer)] : [workspace];
}

/** The same workspace seen from one of its folders; `''` is the workspace itself. */
export function subWorkspace(
  workspace: WorkspaceFiles,
  folder: string,
): WorkspaceFiles | SubWorkspace {
  if (folder === '') return workspace;
  const inside = (path: string): string => posix.join(folder, path);
  return {
    root: join(workspace.root, folder),
    outer: workspace,
    readText: (path) => workspace.readText(inside(path)),
    exists: (path) => workspace.exists(inside(path)),
    list: (path) => workspace.list(inside(path)),
    files: async () => {
      const prefix = `${folder}/`;
      const files = await workspace.files();
      return files
        .filter((file) => file.startsWith(prefix))
        .map((file) => file.slice(prefix.length));
    },
  };
}

async function listFiles(root: string): Promise<readonly string[]> {
  return (await gitFiles(root)) ?? walk(root);
}

/** Tracked and untracked, not ignored. Runs nothing that the repository configures. */
async function gitFiles(root: string): Promise<readonly string[] | undefined> {
  const all = ['--cached', '--others', '--exclude-standard', '--', '.'];
  const listed = await gitList(root, all);
  if (!listed) return undefined;
  const files = new Set<string>();
  for (const file of listed) {
    // Nested repositories end with a slash.
    if (!file.endsWith('/')) files.add(file);
    if (files.size >= MAX_FILES) break;
  }
  return [...files].sort();
}

/**
 * Does `path`, or anything below it, belong to the repository? Such a program came with a clone, so
 * it is not the user's own and is never started outside of a sandbox.
 */
export async function isTracked(root: string, path: string): Promise<boolean> {
  const listed = await gitList(root, ['--cached', '--', `:(literal)${path}`]);
  return listed !== undefined && listed.length > 0;
}

async function gitList(root: string, args: readonly string[]): Promise<string[] | undefined> {
  const request = readingUserRepository(root, ['ls-files', '-z', ...args]);
  try {
    const result = await runGit({ ...request, signal: AbortSignal.timeout(GIT_TIMEOUT_MS) });
    if (result.code !== 0) return undefined;
    return result.stdout
      .toString('utf8')
      .split('\0')
      .filter((file) => file !== '');
  } catch {
    // No git, or too slow: the folder itself is walked.
    return undefined;
  }
}

async function walk(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  const visit = async (folder: string, depth: number): Promise<void> => {
    if (depth > MAX_DEPTH || found.length >= MAX_FILES) return;
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (found.length >= MAX_FILES) return;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        const skipped =
          NOT_WALKED.has(entry.name) || (entry.name.startsWith('.') && entry.name !== '.github');
        if (!skipped) await visit(path, depth + 1);
      } else if (entry.isFile()) found.push(path);
    }
  };
  await visit('', 0);
  return found.sort();
}
