// Makes better-sqlite3 work where npm ran no install scripts, which is what it does unless somebody allows them.
// For the installed server and for checkouts (scripts/lib/sqlite.mjs), which run it from source: hence JavaScript, and
// Node's own modules alone.
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';

const PREBUILT_PATIENCE_MS = 20_000;
const STILL_AT_IT_MS = 15_000;
const BUILT = join('build', 'Release', 'better_sqlite3.node');
/** Of the compiler's output, where it fails. */
const LAST_LINES = 20;

/**
 * One that was built before, a prebuilt file, or a compiler (about half a minute on a machine that is idle). Nothing is
 * written into the package: it may belong to somebody else. Kept by version, platform and ABI.
 *
 * @param {{ folder: string, cache: string, say: (line: string) => void, signal?: AbortSignal }} options `folder`: the
 *   package; `cache`: may be deleted at any time
 * @returns {Promise<{ file: string } | { problem: string }>} the native part, or what is in the way
 */
export async function nativeSqlite({ folder, cache, say, signal }) {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const kept = join(
    cache,
    'sqlite',
    `${version}-${process.platform}-${process.arch}-${process.versions.modules}.node`,
  );
  if (existsSync(kept) && (await works(folder, kept, signal))) return { file: kept };
  mkdirSync(dirname(kept), { recursive: true });
  const work = mkdtempSync(join(dirname(kept), 'build-'));
  try {
    say(
      `Preparing the database of the training server for Node ${process.versions.node}, once on this machine (better-sqlite3 ${version}) …`,
    );
    cpSync(folder, work, { recursive: true, filter: (path) => path !== join(folder, 'build') });
    const problem = await build({ folder, work, say, signal });
    if (problem) return { problem };
    // Whoever builds at the same time makes the same file.
    renameSync(join(work, BUILT), kept);
    return { file: kept };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @returns what is in the way, or undefined */
async function build({ folder, work, say, signal }) {
  const prebuilt = prebuildInstall(folder);
  if (prebuilt) {
    // Its output is of no use where there is none; a compiler comes next.
    const patience = AbortSignal.timeout(PREBUILT_PATIENCE_MS);
    await run([prebuilt], {
      cwd: work,
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
    signal?.throwIfAborted();
    if (existsSync(join(work, BUILT)) && (await works(folder, join(work, BUILT), signal))) {
      say('  a prebuilt file was fetched');
      return undefined;
    }
  }
  const missing = ['g++', 'make', 'python3'].filter((program) => !onPath(program));
  if (missing.length > 0) {
    return `no prebuilt file could be fetched, and to compile one ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`;
  }
  const gyp = nodeGyp();
  if (!gyp)
    return 'no prebuilt file could be fetched, and there is no npm whose node-gyp could compile one';
  const began = Date.now();
  const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`;
  say('  no prebuilt file could be fetched; compiling, which takes about a minute …');
  const pulse = setInterval(() => say(`  still compiling (${seconds()})`), STILL_AT_IT_MS);
  const { code, output } = await run([gyp, 'rebuild', '--release'], {
    cwd: work,
    signal,
    // Compiles in less than half of the time; what costs the server time is the disk.
    env: { ...process.env, CFLAGS: '-O1', CXXFLAGS: '-O1', ...headers() },
  }).finally(() => clearInterval(pulse));
  signal?.throwIfAborted();
  const tail = output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  if (code !== 0) return `it could not be compiled (node-gyp ended with ${code}):\n${tail}\n`;
  if (!(await works(folder, join(work, BUILT), signal))) {
    return 'what was compiled cannot be loaded by this Node';
  }
  say(`  compiled in ${seconds()}`);
  return undefined;
}

/**
 * In a process of its own: one built for another Node can end the process that loads it.
 *
 * @param {string} folder of the package
 * @param {string} [file] the native part; without it, the package's own
 * @param {AbortSignal} [signal]
 */
export async function works(folder, file, signal) {
  const options = file === undefined ? '{}' : JSON.stringify({ nativeBinding: file });
  const load = `new (require(${JSON.stringify(folder)}))(':memory:', ${options}).close()`;
  return (await run(['-e', load], { cwd: folder, signal })).code === 0;
}

function run(args, options) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-20_000);
      });
    }
    child.on('error', (error) => resolve({ code: 1, output: `${output}${error.message}` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

function prebuildInstall(folder) {
  try {
    return createRequire(join(folder, 'package.json')).resolve('prebuild-install/bin.js');
  } catch {
    return undefined;
  }
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
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const npm = join(folder, 'npm');
    if (!existsSync(npm)) continue;
    const file = join(dirname(realpathSync(npm)), '..', 'node_modules/node-gyp/bin/node-gyp.js');
    if (existsSync(file)) return file;
  }
  return undefined;
}

function onPath(program) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => folder && existsSync(join(folder, program)));
}
