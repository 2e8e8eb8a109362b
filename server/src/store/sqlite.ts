import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Database from 'better-sqlite3';
import { nativeSqlite } from './native/better-sqlite3.mjs';

const load = createRequire(import.meta.url);
/** In the npm package it lies beside the bundle, so that no install script of npm's has a say in it (docs/server.md). */
const beside = fileURLToPath(new URL('./better-sqlite3', import.meta.url));
const folder = existsSync(beside) ? beside : dirname(load.resolve('better-sqlite3/package.json'));
const Sqlite = load(folder) as typeof Database;

/** Of this process: the native part, where it is not in the package itself. */
let nativeBinding: string | undefined;

export function openSqlite(file: string, options: Database.Options = {}): Database.Database {
  return new Sqlite(file, nativeBinding === undefined ? options : { ...options, nativeBinding });
}

export interface PrepareOptions {
  /** Folder for what was built; may be deleted at any time. */
  readonly cache: string;
  /** Told what takes a while. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * To be called before a database is opened: npm installs better-sqlite3 without its native part. Costs nothing where that
 * is there. Rejects with a message that says what to do.
 */
export async function prepareSqlite({ cache, say, signal }: PrepareOptions): Promise<void> {
  const own = problemOf(() => openSqlite(':memory:').close());
  if (own === undefined) return;
  const made = await nativeSqlite({ folder, cache, say, signal });
  if ('problem' in made) {
    throw new Error(
      `the database of the training server (better-sqlite3) does not work with Node ${process.versions.node} on ${process.platform}-${process.arch}: ${made.problem}. Install a C++ compiler, make and python3 (Debian: apt-get install g++ make python3), or Node 20 to 24 on a machine that reaches GitHub's releases, and run the command again. What Node said first: ${own}`,
    );
  }
  nativeBinding = made.file;
}

function problemOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return String(error instanceof Error ? error.message : error).split('\n')[0];
  }
}
