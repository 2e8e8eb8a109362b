// The tests open the database from source, and some of them in processes of their own: its native part has to be in the
// package itself, where `npm ci` leaves none. The installed server finds it by itself (server/src/store/sqlite.ts).
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { nativeSqlite, works } from '../../server/src/store/native/better-sqlite3.mjs';
import { cacheFolder, root, say } from './steps.mjs';

/**
 * Makes better-sqlite3 work with this Node. What was built is kept for other checkouts.
 * @returns what is missing, or undefined where it works
 */
export async function prepareSqlite() {
  const folder = join(root, 'node_modules', 'better-sqlite3');
  if (!existsSync(folder)) return 'the package better-sqlite3 is not installed';
  if (await works(folder)) return undefined;
  const made = await nativeSqlite({ folder, cache: cacheFolder(), say });
  if ('problem' in made) return made.problem;
  const own = join(folder, 'build', 'Release', 'better_sqlite3.node');
  mkdirSync(dirname(own), { recursive: true });
  copyFileSync(made.file, own);
  return (await works(folder)) ? undefined : 'what was built cannot be loaded by this Node';
}
