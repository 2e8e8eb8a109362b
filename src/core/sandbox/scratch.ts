import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stateFolder } from '../platform/state-folder.ts';

export interface Scratch {
  /** Absolute, without symbolic links. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** Identifies a process also after its number was given to another one, where /proc tells. */
function processMark(pid: number): string | undefined {
  if (!existsSync('/proc/self/stat')) {
    try {
      process.kill(pid, 0);
      return String(pid);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPERM' ? String(pid) : undefined;
    }
  }
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return `${pid} ${fields[19]}`;
  } catch {
    return undefined;
  }
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

/** A new private folder, marked as belonging to this process. */
export async function createScratch(stateDir: string): Promise<Scratch> {
  const parent = join(stateDir, 'scratch');
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = join(await realpath(parent), `${process.pid}-${randomBytes(6).toString('hex')}`);
  // The mark comes first: a folder without one belongs to a process that is about to write it.
  await writeFile(`${folder}.owner`, processMark(process.pid) ?? String(process.pid));
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
    const mark = await readFile(owner, 'utf8').catch(() => '');
    const pid = Number.parseInt(name, 10);
    if (!Number.isInteger(pid) || mark === '' || processMark(pid) === mark) continue;
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
