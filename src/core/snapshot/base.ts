import { randomBytes } from 'node:crypto';
import { chmod, mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { formatBytes } from '../platform/format-bytes.ts';
import type { SnapshotBase } from '../sandbox/sandbox.ts';
import { type ParentTree, startTreeBuild } from './build.ts';
import { commitTree } from './commit.ts';
import { findDependencies } from './dependencies.ts';
import { explainFileError, SnapshotError, type SnapshotErrorCode } from './errors.ts';
import { type Listing, listWorkingTree, type SkippedPath } from './listing.ts';
import { readManifest, writeManifest } from './manifest.ts';
import { compareRaw, fromRawPath, toRawPath } from './raw-path.ts';
import { scanFiles, stateId, type TreeEntry } from './scan.ts';
import { ensurePrivateFolder } from './state.ts';
import {
  type BaseMeta,
  listBases,
  markUse,
  newBuildFolder,
  publish,
  readBase,
  releaseUse,
  removeLeftovers,
  type StoredBase,
  snapshotsFolder,
} from './store.ts';

export interface MakeBaseOptions {
  readonly signal?: AbortSignal;
  /**
   * Called with a line for people, at most five times a second and only when it takes longer than
   * that. Must not throw.
   */
  readonly onProgress?: (text: string) => void;
  /** Bases are kept in its folder `snapshots`. */
  readonly stateDir: string;
  /** Ignored files to take along all the same, as globs of .gitignore's kind. */
  readonly include?: readonly string[];
  readonly limits?: SizeLimits;
}

export interface SizeLimits {
  /** Larger files are left out and reported. */
  readonly fileBytes: number;
  /** A larger working tree is an error. */
  readonly totalBytes: number;
}

export const DEFAULT_SIZE_LIMITS: SizeLimits = { fileBytes: 256e6, totalBytes: 8e9 };

export interface MadeBase extends SnapshotBase {
  /** An equal state of the working tree had been seen before. */
  readonly reused: boolean;
  readonly files: number;
  readonly bytes: number;
  /** What is not in it, with reasons. */
  readonly skipped: readonly SkippedPath[];
  /** The workspace is a folder of this repository; only the folder is in the snapshot. */
  readonly enclosingRepository: string | undefined;
  /** It may be collected from now on (otherwise when this process ends). */
  release(): Promise<void>;
}

export type MakeBaseOutcome =
  | {
      readonly kind: 'base';
      readonly base: MadeBase;
      /** What a person should know about what is not in the snapshot. One sentence each. */
      readonly notes: readonly string[];
    }
  | {
      readonly kind: 'problem';
      readonly code: SnapshotErrorCode;
      readonly reason: string;
      readonly remedy: string;
    };

/** Part of every id: a change of how bases are made makes new ones. */
const FORMAT = 1;
/** The working tree may change while it is copied; this often it is compared again. */
const ROUNDS = 4;

interface State {
  readonly listing: Listing;
  readonly entries: readonly TreeEntry[];
  readonly skipped: readonly SkippedPath[];
  readonly id: string;
}

/**
 * The working tree as one commit without history, made once per state. Nothing of the user's files
 * or repository is written, and nothing that the repository configures is run.
 *
 * Rejects with the signal's reason when cancelled. Unless there is a base, nothing is left behind.
 */
export async function makeBase(
  workspaceRoot: string,
  options: MakeBaseOptions,
): Promise<MakeBaseOutcome> {
  try {
    const base = await build(workspaceRoot, options);
    return { kind: 'base', base, notes: notesOn(base) };
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    return { kind: 'problem', code: error.code, reason: error.message, remedy: error.remedy };
  }
}

function notesOn(base: MadeBase): string[] {
  const notes: string[] = [];
  if (base.skipped.length > 0) {
    const shown = base.skipped.slice(0, 5).map(({ path, reason }) => `${path} (${reason})`);
    const more = base.skipped.length - shown.length;
    notes.push(`Not in the snapshot: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`);
  }
  if (base.enclosingRepository !== undefined) {
    notes.push(
      `Only the folder ${base.workspacePath} is in the snapshot, not the rest of the repository ${base.enclosingRepository}.`,
    );
  }
  return notes;
}

async function build(workspaceRoot: string, options: MakeBaseOptions): Promise<MadeBase> {
  const { signal } = options;
  const workspace = await realFolder(workspaceRoot);
  const stateDir = resolve(options.stateDir);
  await ensurePrivateFolder(stateDir);
  await ensurePrivateFolder(snapshotsFolder(stateDir));
  const progress = throttled(options.onProgress);
  const limits = options.limits ?? DEFAULT_SIZE_LIMITS;
  await removeLeftovers(stateDir);
  const folder = await newBuildFolder(stateDir).catch((error: unknown) => {
    throw explainFileError(error, stateDir);
  });

  const look = async (): Promise<State> => {
    progress(() => 'Looking at the files of the workspace');
    const listing = await listWorkingTree(workspace, {
      include: options.include ?? [],
      scratch: folder,
      stateDir: await realpath(stateDir),
      signal,
    });
    const scan = await scanFiles(toRawPath(workspace), listing.files, limits.fileBytes, signal);
    return {
      listing,
      entries: scan.entries,
      skipped: [...listing.skipped, ...scan.skipped],
      id: stateId(toRawPath(workspace), scan.entries, FORMAT),
    };
  };

  const finish = async (
    state: State,
    id: string,
    reused: boolean,
    meta: BaseMeta,
    skipped: readonly SkippedPath[],
  ): Promise<MadeBase> => {
    const held = state.entries.map((entry) => entry.path);
    const root = toRawPath(workspace);
    let released = false;
    return {
      id,
      tree: join(snapshotsFolder(stateDir), id, 'tree'),
      workspacePath: workspace,
      dependencies: await findDependencies(root, state.listing.ignored, held, signal),
      reused,
      files: meta.files,
      bytes: meta.bytes,
      skipped,
      enclosingRepository: state.listing.enclosingRepository,
      async release() {
        if (released) return;
        released = true;
        await releaseUse(stateDir, id);
      },
    };
  };

  /** A base that is there already, marked as used. */
  const reuse = async (state: State): Promise<MadeBase | undefined> => {
    const found = await readBase(stateDir, state.id);
    if (!found || !(await markUse(stateDir, state.id))) return undefined;
    const manifest = await readManifest(found.folder);
    if (manifest) return finish(state, state.id, true, found.meta, manifest.skipped);
    await releaseUse(stateDir, state.id);
    return undefined;
  };

  let parent: StoredBase | undefined;
  try {
    let state = await look();
    const existing = await reuse(state);
    if (existing) return existing;
    checkTotal(state.entries, limits.totalBytes, workspace);

    parent = await chooseParent(stateDir, workspace);
    const parentTree = parent && (await readParent(parent));
    const tree = join(folder, 'tree');
    await mkdir(tree, { mode: 0o755 });
    await chmod(tree, 0o755);
    const treeBuild = startTreeBuild({
      workspace: toRawPath(workspace),
      tree: toRawPath(tree),
      parent: parentTree,
      signal,
      onProgress: (done, total) => progress(() => `Copying files: ${done} of ${total}`),
    });
    let stable = false;
    for (let round = 1; ; round++) {
      await treeBuild.sync(state.entries);
      const after = await look();
      stable = after.id === state.id;
      if (stable || round === ROUNDS) break;
      state = after;
    }
    progress(() => 'Making the commit of the snapshot');
    const placed = treeBuild.placed().sort((a, b) => compareRaw(a.path, b.path));
    await commitTree({
      tree,
      parent: parentTree && {
        tree: fromRawPath(parentTree.tree),
        changed: changedPaths(parentTree, placed),
      },
      signal,
    });
    // A state that never held still has an id of its own, so that nobody takes it for another.
    const id = stable ? state.id : randomBytes(16).toString('hex');
    const skipped = [...state.skipped, ...treeBuild.skipped()];
    if (!stable) skipped.push({ path: '.', reason: 'files kept changing while they were copied' });
    const meta: BaseMeta = {
      version: FORMAT,
      id,
      workspace,
      createdAt: Date.now(),
      bytes: placed.reduce((sum, entry) => sum + entry.size, 0),
      files: placed.length,
    };
    await writeManifest(folder, { entries: placed, skipped, included: state.listing.included });
    await mkdir(join(folder, 'uses'), { mode: 0o700 });
    await writeFile(join(folder, 'meta.json'), JSON.stringify(meta));
    signal?.throwIfAborted();
    await publish(stateDir, folder, id);
    if (!(await markUse(stateDir, id))) throw new Error(`snapshot ${id} vanished`);
    return await finish(state, id, false, meta, skipped);
  } catch (error) {
    throw explainFileError(error, stateDir);
  } finally {
    if (parent) await releaseUse(stateDir, parent.meta.id);
    await rm(folder, { recursive: true, force: true });
  }
}

async function realFolder(path: string): Promise<string> {
  const absolute = resolve(path);
  const real = await realpath(absolute).catch(() => undefined);
  if (real !== undefined && (await stat(real)).isDirectory()) return real;
  throw new SnapshotError(
    'not-a-folder',
    real === undefined ? `There is no folder ${absolute}.` : `${absolute} is not a folder.`,
    'Give the folder of a project.',
  );
}

/** The newest base of the same workspace, marked as used. */
async function chooseParent(stateDir: string, workspace: string): Promise<StoredBase | undefined> {
  for (const base of await listBases(stateDir)) {
    if (base.meta.workspace !== workspace || base.meta.version !== FORMAT) continue;
    if (await markUse(stateDir, base.meta.id)) return base;
  }
  return undefined;
}

async function readParent(parent: StoredBase): Promise<ParentTree | undefined> {
  const manifest = await readManifest(parent.folder);
  if (!manifest) return undefined;
  return {
    tree: toRawPath(join(parent.folder, 'tree')),
    stamps: new Map(manifest.entries.map((entry) => [entry.path, entry.stamp])),
  };
}

function changedPaths(parent: ParentTree, placed: readonly TreeEntry[]): string[] {
  const gone = new Set(parent.stamps.keys());
  const changed: string[] = [];
  for (const entry of placed) {
    if (gone.delete(entry.path) && parent.stamps.get(entry.path) !== entry.stamp)
      changed.push(entry.path);
  }
  return [...changed, ...gone];
}

function checkTotal(entries: readonly TreeEntry[], limit: number, workspace: string): void {
  const total = entries.reduce((sum, entry) => sum + entry.size, 0);
  if (total <= limit) return;
  const folders = new Map<string, number>();
  for (const entry of entries) {
    const top = fromRawPath(entry.path).split('/')[0] ?? '';
    folders.set(top, (folders.get(top) ?? 0) + entry.size);
  }
  const largest = [...folders]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([name, bytes]) => `${name} (${formatBytes(bytes)})`);
  throw new SnapshotError(
    'too-large',
    `The working tree of ${workspace} has ${formatBytes(total)}, more than the ${formatBytes(limit)} of a snapshot; the most is in ${largest.join(', ')}.`,
    'Add what the tests do not need to .gitignore, or open a folder further down.',
  );
}

function throttled(report: ((text: string) => void) | undefined): (text: () => string) => void {
  let last = Date.now();
  return (text) => {
    const now = Date.now();
    if (!report || now - last < 200) return;
    last = now;
    report(text());
  };
}
