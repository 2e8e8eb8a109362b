import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatMark, isAlive, ownMark, parseMark } from '../platform/process-mark.ts';
import { isErrno } from '../snapshot/errors.ts';

/**
 * What this machine knows of environments: who uses one now, when one was last used, and who
 * builds. The images themselves are known to the engine alone.
 */

const LOOK_MS = 250;

function folderOf(stateDir: string, hash: string): string {
  return join(stateDir, 'environments', hash.slice(0, 32));
}

/** Runs `work` while no other process of this machine does the same for this hash. */
export async function withLock<T>(
  stateDir: string,
  hash: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  onWait?: () => void,
): Promise<T> {
  const release = await takeLock(stateDir, hash, signal, onWait);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function takeLock(
  stateDir: string,
  hash: string,
  signal: AbortSignal | undefined,
  onWait: (() => void) | undefined,
): Promise<() => Promise<void>> {
  const folder = folderOf(stateDir, hash);
  const lock = join(folder, 'lock');
  const mark = formatMark(await ownMark());
  for (let waited = false; ; waited = true) {
    signal?.throwIfAborted();
    // A removed environment takes its folder along.
    await mkdir(join(folder, 'uses'), { recursive: true, mode: 0o700 });
    try {
      await writeFile(lock, mark, { flag: 'wx', mode: 0o600 });
      return () => rm(lock, { force: true });
    } catch (error) {
      if (!isErrno(error, 'EEXIST', 'ENOENT')) throw error;
    }
    const holder = await readFile(lock, 'utf8').catch(() => undefined);
    if (holder === undefined) continue;
    const owner = parseMark(holder);
    // Empty: it was made this moment.
    if (owner !== undefined && !(await isAlive(owner))) {
      await breakLock(lock, holder);
      continue;
    }
    if (!waited) onWait?.();
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/** Of two processes that see the same dead holder, one renames its lock; the other one's rename fails. */
async function breakLock(lock: string, holder: string): Promise<void> {
  const aside = `${lock}.${formatMark(await ownMark())}`;
  try {
    await rename(lock, aside);
    const taken = await readFile(aside, 'utf8');
    // Somebody else was faster and holds it by now.
    if (taken !== holder) await rename(aside, lock);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  await rm(aside, { force: true });
}

const counts = new Map<string, number>();

/** Says that this process uses it, until the returned function is called. To be called with the lock. */
export async function markUse(stateDir: string, hash: string): Promise<() => Promise<void>> {
  const folder = folderOf(stateDir, hash);
  const mark = join(folder, 'uses', formatMark(await ownMark()));
  await writeFile(mark, '');
  await writeFile(join(folder, 'used'), '');
  counts.set(mark, (counts.get(mark) ?? 0) + 1);
  let released = false;
  return async () => {
    if (released) return;
    released = true;
    const left = (counts.get(mark) ?? 1) - 1;
    counts.set(mark, left);
    if (left > 0) return;
    counts.delete(mark);
    await rm(mark, { force: true });
  };
}

/** Whether a living process of this machine uses it. */
export async function isUsed(stateDir: string, hash: string): Promise<boolean> {
  const folder = join(folderOf(stateDir, hash), 'uses');
  for (const name of await readdir(folder).catch(() => [])) {
    const mark = parseMark(name);
    if (mark !== undefined && (await isAlive(mark))) return true;
    await rm(join(folder, name), { force: true });
  }
  return false;
}

/** Milliseconds since the epoch; undefined: never used on this machine. */
export async function lastUse(stateDir: string, hash: string): Promise<number | undefined> {
  const info = await stat(join(folderOf(stateDir, hash), 'used')).catch(() => undefined);
  return info?.mtimeMs;
}

/** To be called with the lock, which goes with it. */
export async function forgetUses(stateDir: string, hash: string): Promise<void> {
  await rm(folderOf(stateDir, hash), { recursive: true, force: true });
}
