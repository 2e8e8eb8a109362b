import { lstat, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDependencyName } from './dependencies.ts';
import { SnapshotError } from './errors.ts';
import { type GitRequest, gitFailed, readingUserRepository, runGit } from './git.ts';
import { ALWAYS_IGNORED, IGNORED_WITHOUT_GIT } from './ignore-rules.ts';
import {
  compareRaw,
  fromRawPath,
  hostPath,
  isPlainPath,
  isUtf8Path,
  parentPath,
  parentPaths,
  type RawPath,
  splitNul,
  toRawPath,
} from './raw-path.ts';

/** Something of the working tree that the snapshot does not hold. */
export interface SkippedPath {
  /** Relative to the workspace. */
  readonly path: string;
  readonly reason: string;
}

export interface Listing {
  /** Candidates: tracked ones may be missing on disk. Sorted by bytes, each once. */
  readonly files: readonly RawPath[];
  /** Those of them that are there only because somebody asked for them: they are ignored. */
  readonly included: readonly RawPath[];
  /** Ignored files and folders (these with `/` at the end). */
  readonly ignored: readonly RawPath[];
  readonly skipped: readonly SkippedPath[];
  /** Top of the repository that the workspace is a folder of, where it is not the top itself. */
  readonly enclosingRepository: string | undefined;
}

export interface ListingOptions {
  /** Extra files, as globs of .gitignore's kind relative to the workspace (`.env.test`, `gen/**`). */
  readonly include: readonly string[];
  /** For the throw-away git folder of workspaces without git. */
  readonly scratch: string;
  /** Never part of a snapshot, even where it lies inside the workspace. */
  readonly stateDir: string;
  readonly signal: AbortSignal | undefined;
}

interface Part {
  readonly tracked: readonly RawPath[];
  readonly untracked: readonly RawPath[];
  readonly ignored: readonly RawPath[];
  /** Folders that are repositories of their own. */
  readonly nested: readonly RawPath[];
}

/** Lists the working tree with git, without writing to the repository or running anything of it. */
export async function listWorkingTree(root: string, options: ListingOptions): Promise<Listing> {
  const files = new Set<RawPath>();
  const ignored: RawPath[] = [];
  const skipped: SkippedPath[] = [];
  const rawRoot = toRawPath(root);

  const visit = async (prefix: RawPath): Promise<void> => {
    const folder = prefix === '' ? root : join(root, fromRawPath(prefix));
    const under = prefix === '' ? '' : `${prefix}/`;
    const part = await listFolder(folder, prefix === '', options);
    const untracked = splitOffDependencies(part.untracked);
    for (const path of part.tracked) files.add(under + path);
    for (const path of untracked.files) files.add(under + path);
    for (const path of [...part.ignored, ...untracked.ignored]) ignored.push(under + path);
    for (const path of part.nested) {
      const nested = under + path;
      if (!isUtf8Path(nested)) {
        skipped.push({
          path: fromRawPath(nested),
          reason: 'a nested repository whose name is not UTF-8',
        });
      } else if (await isFolder(rawRoot, nested)) {
        await visit(nested);
      }
    }
  };
  await visit('');

  const included: RawPath[] = [];
  for (const path of await listIncluded(root, options)) {
    if (!files.has(path)) included.push(path);
    files.add(path);
  }

  const inside = toRawPath(options.stateDir);
  const ownState = inside.startsWith(`${rawRoot}/`) ? inside.slice(rawRoot.length + 1) : undefined;
  const kept: RawPath[] = [];
  for (const path of files) {
    if (ownState !== undefined && (path === ownState || path.startsWith(`${ownState}/`))) continue;
    if (isPlainPath(path)) kept.push(path);
    else if (!/(^|\/)\.git(\/|$)/.test(path)) {
      skipped.push({ path: fromRawPath(path), reason: 'git does not take a file of this name' });
    }
  }
  return {
    files: kept.sort(compareRaw),
    included: included.sort(compareRaw),
    ignored,
    skipped,
    enclosingRepository: await enclosingRepository(root, options.signal),
  };
}

/** One repository, or one folder without git, without what is nested in it. */
async function listFolder(folder: string, isRoot: boolean, options: ListingOptions): Promise<Part> {
  const own = await hasGit(folder);
  if (own || isRoot) {
    const part = await listRepository(folder, isRoot && !own, options);
    // A folder inside of somebody's repository that ignores it as a whole is a folder of its own.
    if (part && (own || part.tracked.length + part.untracked.length + part.nested.length > 0))
      return part;
  }
  return listPlainFolder(folder, options);
}

async function listRepository(
  folder: string,
  mayLookUp: boolean,
  options: ListingOptions,
): Promise<Part | undefined> {
  // Otherwise a broken .git would make git answer for the repository around it, and a core.worktree
  // that leads elsewhere for the files there.
  const env: Record<string, string> = mayLookUp
    ? {}
    : { GIT_CEILING_DIRECTORIES: join(folder, '..'), GIT_WORK_TREE: folder };
  const ask = (...args: string[]): GitRequest => ({
    ...readingUserRepository(folder, args, env),
    signal: options.signal,
  });
  const excludes = ALWAYS_IGNORED.map((rule) => `--exclude=${rule}`);
  const requests = [
    ask('ls-files', '-z', '--cached', '--stage'),
    ask('ls-files', '-z', '--others', '--exclude-standard', ...excludes),
    ask(
      'ls-files',
      '-z',
      '--others',
      '--ignored',
      '--directory',
      '--exclude-standard',
      ...excludes,
    ),
  ] as const;
  const [cached, others, ignored] = await Promise.all([
    runGit(requests[0]),
    runGit(requests[1]),
    runGit(requests[2]),
  ]);
  for (const [at, result] of [cached, others, ignored].entries()) {
    if (result.code === 0) continue;
    if (/not a git repository|must be run in a work tree/.test(result.stderr)) return undefined;
    throw explainRefusal(folder, result.stderr) ?? gitFailed(requests[at] ?? requests[0], result);
  }
  const tracked: RawPath[] = [];
  const nested: RawPath[] = [];
  for (const line of splitNul(cached.stdout)) {
    const tab = line.indexOf('\t');
    (line.startsWith('160000 ') ? nested : tracked).push(line.slice(tab + 1));
  }
  const untracked: RawPath[] = [];
  for (const path of splitNul(others.stdout)) {
    if (path.endsWith('/')) nested.push(path.slice(0, -1));
    else untracked.push(path);
  }
  return { tracked, untracked, nested, ignored: splitNul(ignored.stdout) };
}

/** The same through a throw-away git folder, so that .gitignore means what it always means. */
async function listPlainFolder(folder: string, options: ListingOptions): Promise<Part> {
  const gitDir = await mkdtemp(join(options.scratch, 'git-'));
  try {
    await mkdir(join(gitDir, 'objects'));
    await mkdir(join(gitDir, 'refs'));
    await mkdir(join(gitDir, 'info'));
    await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
    await writeFile(
      join(gitDir, 'config'),
      '[core]\n\trepositoryformatversion = 0\n\tbare = false\n',
    );
    await writeFile(join(gitDir, 'info/exclude'), `${IGNORED_WITHOUT_GIT.join('\n')}\n`);
    const ask = (...args: string[]): GitRequest => ({
      ...readingUserRepository(folder, [`--git-dir=${gitDir}`, '--work-tree=.', ...args]),
      signal: options.signal,
    });
    const standard = ['ls-files', '-z', '--others', '--exclude-standard'];
    const requests = [ask(...standard), ask(...standard, '--ignored', '--directory')] as const;
    const [others, ignored] = await Promise.all([runGit(requests[0]), runGit(requests[1])]);
    if (others.code !== 0) throw gitFailed(requests[0], others);
    if (ignored.code !== 0) throw gitFailed(requests[1], ignored);
    const untracked: RawPath[] = [];
    const nested: RawPath[] = [];
    for (const path of splitNul(others.stdout)) {
      if (path.endsWith('/')) nested.push(path.slice(0, -1));
      else untracked.push(path);
    }
    return { tracked: [], untracked, nested, ignored: splitNul(ignored.stdout) };
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

/**
 * Environments and build caches that nobody told git to ignore. They mark themselves: a virtual
 * environment by pyvenv.cfg, a cache (Cargo's target, for one) by CACHEDIR.TAG.
 */
function splitOffDependencies(untracked: readonly RawPath[]): {
  readonly files: readonly RawPath[];
  readonly ignored: readonly RawPath[];
} {
  const folders = new Set<RawPath>();
  for (const path of untracked) {
    if (/\/(pyvenv\.cfg|CACHEDIR\.TAG)$/.test(path)) folders.add(parentPath(path));
    else if (/\/conda-meta\/history$/.test(path)) folders.add(parentPath(parentPath(path)));
  }
  folders.delete('');
  if (folders.size === 0) return { files: untracked, ignored: [] };
  const inside = (path: RawPath) => [...parentPaths(path)].some((parent) => folders.has(parent));
  return {
    files: untracked.filter((path) => !inside(path)),
    ignored: [...folders].map((path) => `${path}/`),
  };
}

async function listIncluded(root: string, options: ListingOptions): Promise<RawPath[]> {
  if (options.include.length === 0) return [];
  const gitDir = await mkdtemp(join(options.scratch, 'git-'));
  try {
    await mkdir(join(gitDir, 'objects'));
    await mkdir(join(gitDir, 'refs'));
    await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
    // As ignore rules: what they "ignore" is what is asked for. Folders are walked where a rule may match.
    const rules = options.include.flatMap((glob) => ['-x', glob]);
    const request = readingUserRepository(root, [
      `--git-dir=${gitDir}`,
      '--work-tree=.',
      ...['ls-files', '-z', '--others', '--ignored', ...rules],
    ]);
    const listed = splitNul(
      await runGit({ ...request, signal: options.signal }).then((result) => {
        if (result.code !== 0) throw gitFailed(request, result);
        return result.stdout;
      }),
    );
    return listed.filter(
      (path) => !path.endsWith('/') && ![...parentPaths(path)].some(isDependencyName),
    );
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

function explainRefusal(folder: string, stderr: string): SnapshotError | undefined {
  if (!/dubious ownership/.test(stderr)) return undefined;
  return new SnapshotError(
    'git-refused',
    `git will not read ${folder}, because it belongs to another user.`,
    `If you trust it: git config --global --add safe.directory ${JSON.stringify(folder)}`,
  );
}

async function enclosingRepository(
  root: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (await hasGit(root)) return undefined;
  const result = await runGit({
    ...readingUserRepository(root, ['rev-parse', '--show-toplevel']),
    signal,
  });
  const top = result.stdout.toString('utf8').replace(/\n$/, '');
  return result.code === 0 && top !== '' && top !== root ? top : undefined;
}

async function hasGit(folder: string): Promise<boolean> {
  return lstat(join(folder, '.git')).then(
    () => true,
    () => false,
  );
}

async function isFolder(root: RawPath, path: RawPath): Promise<boolean> {
  try {
    if (!(await lstat(hostPath(root, path))).isDirectory()) return false;
    // An uninitialised submodule is an empty folder; git would answer nothing for it.
    return (await readdir(hostPath(root, path))).length > 0;
  } catch {
    return false;
  }
}
