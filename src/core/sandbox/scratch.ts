import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatMark, isAlive, ownMark, parseMark } from '../platform/process-mark.ts';
import { stateFolder } from '../platform/state-folder.ts';
import { SandboxFailure, type SandboxSession } from './sandbox.ts';

export interface Scratch {
  /** Absolute, without symbolic links. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** Removes a tree also where folders are read-only or have mode 000 (overlay's work folder). */
export async function removeTree(path: string): Promise<void> {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 });
  try {
    await remove();
  } catch {
    await openFolders(path);
    await remove();
  }
}

async function openFolders(path: string): Promise<void> {
  const info = await lstat(path).catch(() => undefined);
  if (!info?.isDirectory()) return;
  if ((info.mode & 0o700) !== 0o700) await chmod(path, 0o700).catch(() => {});
  for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await openFolders(join(path, entry.name));
  }
}

/** What went wrong while a session was made, as a failure of the sandbox with its remedy. */
function asSandboxFailure(error: unknown, stateDir: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return error;
  const remedy =
    error.code === 'ENOSPC' || error.code === 'EDQUOT'
      ? `Free disk space, or set PRIME_AGENT_HOME to a folder on another disk (now ${stateDir}).`
      : `Set PRIME_AGENT_HOME to a folder that you can write to (now ${stateDir}).`;
  return new SandboxFailure(`A layer could not be prepared: ${error.message}`, remedy);
}

/**
 * Opens a session in a new scratch folder, and leaves nothing behind when that fails or is
 * cancelled. Rejects with `SandboxFailure`, or with the reason of the signal.
 */
export async function openInScratch(
  stateDir: string,
  signal: AbortSignal | undefined,
  open: (scratch: Scratch) => Promise<SandboxSession>,
): Promise<SandboxSession> {
  signal?.throwIfAborted();
  let scratch: Scratch | undefined;
  try {
    scratch = await createScratch(stateDir);
    const session = await open(scratch);
    if (signal?.aborted) {
      await session.close();
      signal.throwIfAborted();
    }
    return session;
  } catch (error) {
    await scratch?.remove();
    throw asSandboxFailure(error, stateDir);
  }
}

/** A new private folder, marked as belonging to this process. */
export async function createScratch(stateDir: string): Promise<Scratch> {
  const parent = join(stateDir, 'scratch');
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = join(await realpath(parent), `${process.pid}-${randomBytes(6).toString('hex')}`);
  // The mark comes first: a folder without one belongs to a process that is about to write it.
  await writeFile(`${folder}.owner`, formatMark(await ownMark()));
  await mkdir(folder, { mode: 0o700 });
  return {
    folder,
    remove: async () => {
      await removeTree(folder);
      await rm(`${folder}.owner`, { force: true });
    },
  };
}

/** Removes what processes that no longer live left behind. Returns how many folders. */
export async function reapStale(stateDir: string = stateFolder()): Promise<number> {
  const parent = join(stateDir, 'scratch');
  let removed = 0;
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.endsWith('.owner')) continue;
    const owner = join(parent, name);
    const mark = parseMark(await readFile(owner, 'utf8').catch(() => ''));
    // Without one it is about to be written.
    if (mark === undefined || (await isAlive(mark))) continue;
    try {
      await removeTree(owner.slice(0, -'.owner'.length));
      await rm(owner, { force: true });
      removed++;
    } catch {
      // Still in use (a process of it that is ending): the next start tries again.
    }
  }
  return removed;
}

/** Whether a process has a session open with this folder, or is about to. */
export async function scratchInUse(stateDir: string): Promise<boolean> {
  const parent = join(stateDir, 'scratch');
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.endsWith('.owner')) continue;
    const mark = parseMark(await readFile(join(parent, name), 'utf8').catch(() => ''));
    if (mark && (await isAlive(mark))) return true;
  }
  return false;
}
