import { createHash } from 'node:crypto';
import { type BigIntStats, lstat } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatBytes } from '../platform/format-bytes.ts';
import { isErrno } from './errors.ts';
import type { SkippedPath } from './listing.ts';
import { fromRawPath, hostPath, parentPaths, type RawPath } from './raw-path.ts';

export interface TreeEntry {
  readonly path: RawPath;
  readonly kind: 'file' | 'link';
  readonly executable: boolean;
  readonly size: number;
  /** Seconds. */
  readonly mtime: number;
  /** Changes whenever the file may have changed: mtime, ctime, inode, device, mode, size. */
  readonly stamp: string;
}

export interface Scan {
  readonly entries: readonly TreeEntry[];
  readonly skipped: readonly SkippedPath[];
}

/** A file changed this short a time ago could change again within the same tick of the clock. */
const TICK_MS = 20;
const WIDTH = 64;

/** Looks at every listed path, without reading any content. */
export async function scanFiles(
  root: RawPath,
  files: readonly RawPath[],
  largestFile: number,
  signal?: AbortSignal,
): Promise<Scan> {
  const begun = Date.now();
  let stats = await lstatAll(root, files, signal);
  // Times come from the kernel's clock, which ticks every few milliseconds.
  if (isFresh(stats, begun)) {
    await sleep(TICK_MS + 5, undefined, { signal });
    stats = await lstatAll(root, files, signal);
  }
  const parents = new Set<RawPath>();
  for (const file of files) for (const parent of parentPaths(file)) parents.add(parent);
  const parentList = [...parents];
  const realParents = new Set<RawPath>();
  const parentStats = await lstatAll(root, parentList, signal);
  for (const [at, parent] of parentList.entries()) {
    const found = parentStats[at];
    // A folder that became a link: git calls what was in it deleted, and so do we.
    if (found && !(found instanceof Error) && found.isDirectory()) realParents.add(parent);
  }

  const entries: TreeEntry[] = [];
  const skipped: SkippedPath[] = [];
  for (const [at, path] of files.entries()) {
    const found = stats[at];
    if (found === undefined) continue;
    if (![...parentPaths(path)].every((parent) => realParents.has(parent))) continue;
    const skip = (reason: string) => skipped.push({ path: fromRawPath(path), reason });
    if (found instanceof Error) {
      if (!isErrno(found, 'ENOENT', 'ENOTDIR'))
        skip(`cannot be looked at (${found.message.split(':')[0]})`);
    } else if (found.isSymbolicLink()) {
      entries.push(entryOf(path, 'link', found));
    } else if (found.isFile()) {
      if (found.size > BigInt(largestFile))
        skip(`larger than ${formatBytes(largestFile)} (${formatBytes(Number(found.size))})`);
      else entries.push(entryOf(path, 'file', found));
    } else if (!found.isDirectory()) {
      skip(`${kindOf(found)}, not a file`);
    }
  }
  return { entries, skipped };
}

/** Equal states of equal workspaces have equal ids. */
export function stateId(root: RawPath, entries: readonly TreeEntry[], version: number): string {
  const hash = createHash('sha256').update(`${version}\0${root}\0`);
  let text = '';
  for (const entry of entries) text += `${entry.path}\0${entry.stamp}\0`;
  return hash.update(text, 'latin1').digest('hex').slice(0, 32);
}

export function entryOf(path: RawPath, kind: TreeEntry['kind'], found: BigIntStats): TreeEntry {
  return {
    path,
    kind,
    executable: kind === 'file' && (found.mode & 0o100n) !== 0n,
    size: Number(found.size),
    mtime: Number(found.mtimeNs) / 1e9,
    stamp: [found.mode, found.size, found.mtimeNs, found.ctimeNs, found.ino, found.dev].join('.'),
  };
}

type Looked = BigIntStats | Error | undefined;

/** Callbacks: promises would take three times as long for 10,000 files. */
export function lstatAll(
  root: RawPath,
  paths: readonly RawPath[],
  signal?: AbortSignal,
): Promise<Looked[]> {
  return new Promise((resolve, reject) => {
    const found: Looked[] = new Array(paths.length).fill(undefined);
    let next = 0;
    let running = 0;
    const start = (): void => {
      if (signal?.aborted) {
        if (running === 0) reject(signal.reason);
        return;
      }
      if (next >= paths.length) {
        if (running === 0) resolve(found);
        return;
      }
      const at = next++;
      running++;
      lstat(hostPath(root, paths[at] ?? ''), { bigint: true }, (error, stats) => {
        found[at] = error ?? stats;
        running--;
        start();
      });
    };
    for (let worker = 0; worker < Math.max(1, Math.min(WIDTH, paths.length)); worker++) start();
  });
}

function isFresh(stats: readonly Looked[], begun: number): boolean {
  const limit = BigInt(begun - TICK_MS) * 1_000_000n;
  return stats.some(
    (found) => found !== undefined && !(found instanceof Error) && found.ctimeNs > limit,
  );
}

function kindOf(found: BigIntStats): string {
  if (found.isSocket()) return 'a socket';
  if (found.isFIFO()) return 'a named pipe';
  return 'a device';
}
