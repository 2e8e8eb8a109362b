// One process at a time for work on a shared folder (the cache that all clones use).
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const LOOK_AGAIN_MS = 500;

/**
 * Runs `work` while no other process does so for the same file. The lock of a process that is gone
 * (killed, machine restarted) is taken over.
 * @param {string} file the lock; its folder is made
 * @param {{ signal?: AbortSignal, onWait?: (pid: number) => void }} options `onWait`: once, who is waited for
 * @template T
 * @param {() => Promise<T>} work
 */
export async function withLock(file, { signal, onWait }, work) {
  mkdirSync(dirname(file), { recursive: true });
  let told = false;
  while (!take(file)) {
    signal?.throwIfAborted();
    const owner = ownerOf(file);
    if (owner !== undefined && !alive(owner)) {
      rmSync(file, { force: true });
      continue;
    }
    if (!told && owner !== undefined) onWait?.(owner);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** @returns undefined while the owner has not written its number yet, or has just let go */
function ownerOf(file) {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || undefined;
  } catch {
    return undefined;
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process is there, too.
    return error.code === 'EPERM';
  }
}
