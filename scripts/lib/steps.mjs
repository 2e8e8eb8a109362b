// What `npm start` and `npm test` share: install what is missing, say what happens, be cheap to repeat.
// Runs before anything is installed: only Node's own modules.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';

export const root = new URL('../..', import.meta.url).pathname;

const MINIMUM_NODE = [20, 19];

export function say(text) {
  process.stdout.write(`${text}\n`);
}

export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor >= MINIMUM_NODE[1])) return;
  say(
    `Prime Agent needs Node ${MINIMUM_NODE.join('.')} or newer; this is ${process.versions.node}.`,
  );
  process.exit(3);
}

/** Runs a command, its output shown only if it fails (or live with `show`). Resolves with the exit code. */
export function run(command, args, { cwd = root, env = process.env, show = false, signal } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env,
      signal,
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    });
    const kept = [];
    child.stdout?.on('data', (chunk) => kept.push(chunk));
    child.stderr?.on('data', (chunk) => kept.push(chunk));
    child.on('error', (error) => {
      if (error.name !== 'AbortError') say(`${command}: ${error.message}`);
      resolve(127);
    });
    child.on('close', (code, killedBy) => {
      if (code !== 0 && !show && !signal?.aborted) process.stderr.write(Buffer.concat(kept));
      resolve(code ?? (killedBy === 'SIGINT' ? 130 : 1));
    });
  });
}

/** A step with one line while it runs and its time afterwards. */
export async function step(title, work) {
  const began = Date.now();
  const live = process.stdout.isTTY;
  if (live) process.stdout.write(`… ${title}`);
  const result = await work();
  // Steps that run a command give its exit code.
  const mark = typeof result === 'number' && result !== 0 ? '✗' : '✓';
  const line = `${mark} ${title} (${((Date.now() - began) / 1000).toFixed(1)} s)`;
  process.stdout.write(live ? `\r\x1b[K${line}\n` : `${line}\n`);
  return result;
}

/** `npm ci`, only when the lock file or the Node version changed since the last time. */
export async function installDependencies() {
  const stampFile = join(root, 'node_modules', '.installed-for');
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const stamp = `${process.version} ${lock}`;
  const before = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
  if (before === stamp) return;
  // After `npm install` of one package everything is there, and `npm ci` would delete it all first,
  // under the feet of whatever runs from this checkout.
  if (before.startsWith(`${process.version} `) && installedAsLocked()) {
    writeFileSync(stampFile, stamp);
    return;
  }
  const code = await step('Installing npm packages', () =>
    run(npm(), ['ci', '--no-audit', '--no-fund'], {
      // No package needs its install script (.npmrc): that of onnxruntime-node would download GPU libraries,
      // that of better-sqlite3 what this does not reach everywhere; scripts/lib/sqlite.mjs builds it.
      env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
    }),
  );
  if (code !== 0)
    fail(
      'npm ci failed (see above). Check the connection to your npm registry and run the command again.',
    );
  writeFileSync(stampFile, stamp);
}

function installedAsLocked() {
  try {
    const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
    return sameAsLocked(read('package-lock.json'), read('node_modules/.package-lock.json'));
  } catch {
    return false;
  }
}

/**
 * Whether everything is installed in the version that the lock file names; packages for other
 * platforms need not be.
 * @param locked `packages` of package-lock.json
 * @param installed `packages` of npm's own list, node_modules/.package-lock.json
 */
export function sameAsLocked(locked, installed) {
  return Object.entries(locked).every(
    ([path, { version, optional }]) =>
      path === '' ||
      installed[path]?.version === version ||
      (optional === true && installed[path] === undefined),
  );
}

export async function build() {
  const code = await run(process.execPath, ['scripts/build.mjs']);
  if (code !== 0) fail('The build failed (see above).');
}

/** Debian packages by the program that shows that they are there. */
const SYSTEM_PACKAGES = [
  { program: 'bwrap', package: 'bubblewrap', purpose: 'isolation of attempts' },
  { program: 'git', package: 'git', purpose: 'snapshots and patches' },
  { program: 'rg', package: 'ripgrep', purpose: 'fast search (optional)', optional: true },
  {
    program: 'strace',
    package: 'strace',
    purpose: 'one test of the training server (optional)',
    optional: true,
    tests: true,
  },
  { program: 'python3', package: 'python3', purpose: 'Python examples and tests' },
];

/**
 * Installs missing system packages where that is allowed: root on a Debian-like system, and
 * `--yes`, CI=true, a yes at the prompt, or no terminal in a container. Otherwise names them.
 * @param tests also what only tests need
 * @returns names of what is still missing
 */
export async function installSystemPackages({ yes, tests = false }) {
  const missing = SYSTEM_PACKAGES.filter(
    (item) => !onPath(item.program) && (tests || item.tests !== true),
  );
  if (needsVenvPackage())
    missing.push({ package: 'python3-venv', purpose: 'an environment for pytest' });
  if (missing.length === 0) return [];
  const names = missing.map((item) => item.package);
  const list = missing.map((item) => `${item.package} (${item.purpose})`).join(', ');
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !onPath('apt-get')) {
    const command = onPath('apt-get')
      ? `sudo apt-get install ${names.join(' ')}`
      : `install with your package manager: ${names.join(' ')}`;
    say(`! Missing on this system: ${list}.\n  Get it with: ${command}\n  Going on without.`);
    return names;
  }
  if (!(await mayInstall(list, { yes }))) {
    say(`! Going on without ${list}. Get it with: apt-get install ${names.join(' ')}`);
    return names;
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '-y', '--no-install-recommends', ...names];
  await step(`Installing ${names.join(', ')}`, async () => {
    const update = spawnSync('apt-get', ['update', '-q'], { env });
    const result = spawnSync('apt-get', install, { env });
    if (result.status !== 0) process.stderr.write(`${update.stderr ?? ''}${result.stderr ?? ''}`);
  });
  return SYSTEM_PACKAGES.filter(({ program }) => !onPath(program)).map((item) => item.package);
}

async function mayInstall(list, { yes }) {
  if (yes || process.env.CI === 'true') return true;
  if (process.stdin.isTTY && process.stdout.isTTY) {
    const prompt = createInterface({ input: process.stdin, output: process.stdout });
    const answer = await prompt.question(`Install ${list} with apt-get? [Y/n] `);
    prompt.close();
    return !/^n/i.test(answer.trim());
  }
  if (inContainer()) {
    say(`Installing ${list}: root in a container without a terminal counts as a yes.`);
    return true;
  }
  say('No terminal to ask at: run again with --yes to install system packages.');
  return false;
}

function inContainer() {
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv') || process.env.container)
    return true;
  const detected = spawnSync('systemd-detect-virt', ['--quiet']);
  if (detected.status === 0) return true;
  // A machine whose first process is no init system is a container or a small virtual machine of its own.
  try {
    return !/^(systemd|init)$/.test(readFileSync('/proc/1/comm', 'utf8').trim());
  } catch {
    return false;
  }
}

export function onPath(program) {
  return (process.env.PATH ?? '')
    .split(':')
    .some((folder) => folder && existsSync(join(folder, program)));
}

function needsVenvPackage() {
  if (!onPath('python3')) return true;
  return spawnSync('python3', ['-c', 'import ensurepip, venv']).status !== 0;
}

export function cacheFolder() {
  const base =
    process.env.PRIME_AGENT_HOME ??
    join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'prime-agent');
  mkdirSync(base, { recursive: true });
  return base;
}

/**
 * A Python environment with the packages of a requirements file, shared by every clone.
 * @param requirements by default those of the examples and tests (pytest)
 * @param signal gives up an installation; the next one starts again
 * @returns its folder, or undefined where Python is missing or pip cannot install
 */
export async function pythonEnvironment(
  requirements = join(root, 'test', 'requirements.txt'),
  { signal, title = 'Preparing a Python environment' } = {},
) {
  if (!onPath('python3')) return undefined;
  const key = createHash('sha256')
    .update(readFileSync(requirements))
    .update(spawnSync('python3', ['-c', 'import sys; print(sys.version, sys.prefix)']).stdout ?? '')
    .digest('hex')
    .slice(0, 12);
  const folder = join(cacheFolder(), 'python', key);
  if (existsSync(join(folder, 'ready'))) return folder;
  const code = await step(title, async () => {
    const made = await run('python3', ['-m', 'venv', '--clear', folder], { signal });
    if (made !== 0) return made;
    const install = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check'];
    return run(join(folder, 'bin', 'python'), [...install, '-r', requirements], { signal });
  });
  if (code !== 0) return undefined;
  writeFileSync(join(folder, 'ready'), '');
  return folder;
}

function npm() {
  return process.platform === 'win32' ? 'npm.cmd' : 'npm';
}

export function fail(message, code = 3) {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
