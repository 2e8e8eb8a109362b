import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  formatMark,
  isAlive,
  ownMark,
  type ProcessMark,
  parseMark,
} from '../platform/process-mark.ts';
import { isErrno } from './errors.ts';

/** Small facts of a finished base, next to its files. */
const metaSchema = z.object({
  version: z.number(),
  id: z.string(),
  workspace: z.string(),
  createdAt: z.number(),
  bytes: z.number(),
  files: z.number(),
});
export type BaseMeta = z.output<typeof metaSchema>;

export interface StoredBase {
  readonly folder: string;
  readonly meta: BaseMeta;
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
}

/** Names of unfinished and of condemned bases; both start with a dot. */
const BUILD = '.build-';
const TRASH = '.trash-';

export function snapshotsFolder(stateDir: string): string {
  return join(stateDir, 'snapshots');
}

let builds = 0;

/** A new folder in which a base is made, next to the finished ones so that a rename finishes it. */
export async function newBuildFolder(stateDir: string): Promise<string> {
  const name = `${BUILD}${formatMark(await ownMark())}-${builds++}`;
  const folder = join(snapshotsFolder(stateDir), name);
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

export async function readBase(stateDir: string, id: string): Promise<StoredBase | undefined> {
  const folder = join(snapshotsFolder(stateDir), id);
  try {
    const meta = metaSchema.parse(JSON.parse(await readFile(join(folder, 'meta.json'), 'utf8')));
    return { folder, meta, lastUsed: (await stat(join(folder, 'meta.json'))).mtimeMs };
  } catch {
    return undefined;
  }
}

export async function listBases(stateDir: string): Promise<StoredBase[]> {
  const names = await namesIn(snapshotsFolder(stateDir));
  const found = await Promise.all(
    names.filter((name) => !name.startsWith('.')).map((name) => readBase(stateDir, name)),
  );
  return found.filter((base) => base !== undefined).sort((a, b) => b.lastUsed - a.lastUsed);
}

/**
 * Gives the finished folder its name. When another process was faster, its base is as good.
 * A broken one in that place is replaced.
 */
export async function publish(stateDir: string, build: string, id: string): Promise<void> {
  const target = join(snapshotsFolder(stateDir), id);
  for (let tries = 0; ; tries++) {
    try {
      return await rename(build, target);
    } catch (error) {
      if (!isErrno(error, 'ENOTEMPTY', 'EEXIST') || tries >= 3) throw error;
      if (await readBase(stateDir, id)) return await rm(build, { recursive: true, force: true });
      await discard(stateDir, id);
    }
  }
}

const uses = new Map<string, number>();

/** Says that this process uses the base; true if it is still there. Protects it from collection. */
export async function markUse(stateDir: string, id: string): Promise<boolean> {
  const folder = join(snapshotsFolder(stateDir), id);
  const mark = join(folder, 'uses', formatMark(await ownMark()));
  try {
    await mkdir(join(folder, 'uses'), { mode: 0o700 }).catch((error: unknown) => {
      if (!isErrno(error, 'EEXIST')) throw error;
    });
    await writeFile(mark, '');
    uses.set(folder, (uses.get(folder) ?? 0) + 1);
    const now = new Date();
    await utimes(join(folder, 'meta.json'), now, now);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

/** The last release of a process takes its mark away. */
export async function releaseUse(stateDir: string, id: string): Promise<void> {
  const folder = join(snapshotsFolder(stateDir), id);
  const left = (uses.get(folder) ?? 1) - 1;
  uses.set(folder, left);
  if (left > 0) return;
  uses.delete(folder);
  await rm(join(folder, 'uses', formatMark(await ownMark())), { force: true });
}

/** Removes what crashed processes left half-made or half-removed. */
export async function removeLeftovers(stateDir: string): Promise<void> {
  const folder = snapshotsFolder(stateDir);
  const me = formatMark(await ownMark());
  for (const name of await namesIn(folder)) {
    const prefix = [BUILD, TRASH].find((candidate) => name.startsWith(candidate));
    if (prefix === undefined) continue;
    const mark = parseMark(name.slice(prefix.length));
    if (mark && (formatMark(mark) === me || (await isAlive(mark)))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** False if somebody uses it. */
export async function discard(stateDir: string, id: string): Promise<boolean> {
  const folder = join(snapshotsFolder(stateDir), id);
  if (await isUsed(folder)) return false;
  const trash = join(snapshotsFolder(stateDir), `${TRASH}${formatMark(await ownMark())}-${id}`);
  try {
    await rename(folder, trash);
    // A process may have begun to use it between the look and the rename.
    if (await isUsed(trash)) {
      await rename(trash, folder);
      return false;
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  await rm(trash, { recursive: true, force: true });
  return true;
}

async function isUsed(folder: string): Promise<boolean> {
  for (const name of await namesIn(join(folder, 'uses'))) {
    const mark: ProcessMark | undefined = parseMark(name);
    if (mark && (await isAlive(mark))) return true;
    await rm(join(folder, 'uses', name), { force: true });
  }
  return false;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
