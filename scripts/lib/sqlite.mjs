// better-sqlite3 is native code, and npm runs no install scripts that nobody allowed: after `npm ci` it is
// there without its binary. Only the training server needs it, so only its tests and `serve` wait for this.
import { spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder, onPath, root, run, step } from './steps.mjs';

const PREBUILT_PATIENCE_MS = 20_000;

/**
 * Makes better-sqlite3 work with this Node: one that was built before, a prebuilt file, or a compiler
 * (about half a minute). What was built is kept for other checkouts.
 * @returns what is missing, or undefined where it works
 */
export async function prepareSqlite() {
  if (works()) return undefined;
  const folder = join(root, 'node_modules', 'better-sqlite3');
  if (!existsSync(folder)) return 'the package better-sqlite3 is not installed';
  const built = join(folder, 'build', 'Release', 'better_sqlite3.node');
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const key = `${version}-${process.platform}-${process.arch}-${process.versions.modules}`;
  const kept = join(cacheFolder(), 'sqlite', `${key}.node`);
  if (existsSync(kept)) {
    mkdirSync(dirname(built), { recursive: true });
    copyFileSync(kept, built);
    if (works()) return undefined;
  }
  let problem;
  await step('Building the database of the training server (better-sqlite3)', async () => {
    problem = await build(folder);
    return problem ? 1 : 0;
  });
  if (problem) return problem;
  mkdirSync(dirname(kept), { recursive: true });
  copyFileSync(built, `${kept}.${process.pid}`);
  renameSync(`${kept}.${process.pid}`, kept);
  return undefined;
}

/** In a process of its own: one built for another Node can end the process that loads it. */
function works() {
  const load = "new (require('better-sqlite3'))(':memory:').close()";
  return spawnSync(process.execPath, ['-e', load], { cwd: root }).status === 0;
}

async function build(folder) {
  const prebuilt = join(root, 'node_modules', 'prebuild-install', 'bin.js');
  if (existsSync(prebuilt)) {
    // Its output is of no use where there is none; a compiler comes next.
    const signal = AbortSignal.timeout(PREBUILT_PATIENCE_MS);
    await quietly(prebuilt, { cwd: folder, signal });
    if (works()) return undefined;
  }
  if (!onPath('g++') || !onPath('make')) return 'no prebuilt file, and no g++ and make to build it';
  const gyp = nodeGyp();
  if (!gyp) return 'no prebuilt file, and no node-gyp beside npm to build it';
  const code = await run(process.execPath, [gyp, 'rebuild', '--release'], {
    cwd: folder,
    // Compiles in less than half of the time; what costs the server time is the disk.
    env: { ...process.env, CFLAGS: '-O1', CXXFLAGS: '-O1', ...headers() },
  });
  return code === 0 && works() ? undefined : 'better-sqlite3 could not be built (see above)';
}

function quietly(program, options) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program], { ...options, stdio: 'ignore' });
    child.on('error', resolve);
    child.on('close', resolve);
  });
}

/** Node's own headers where they are installed with it; else node-gyp fetches them. */
function headers() {
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  return existsSync(join(prefix, 'include', 'node', 'node.h'))
    ? { npm_config_nodedir: prefix }
    : {};
}

/** The one that comes with npm. */
function nodeGyp() {
  const folders = (process.env.PATH ?? '').split(':').filter(Boolean);
  const npm = folders.map((folder) => join(folder, 'npm')).find((path) => existsSync(path));
  if (!npm) return undefined;
  const file = join(dirname(realpathSync(npm)), '..', 'node_modules/node-gyp/bin/node-gyp.js');
  return existsSync(file) ? file : undefined;
}
