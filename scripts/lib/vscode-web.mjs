// A real VS Code that runs in a browser (code-server), for end-to-end tests and `npm run code`.
// It lives in the cache that all clones share, and nowhere else: nothing is installed globally.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { withLock } from './lock.mjs';
import { cacheFolder, onPath, run, say, step } from './steps.mjs';

/** What is installed. code-server 4.139.1 holds VS Code 1.139 and runs on Node 24 only. */
export const VERSIONS = { 'code-server': '4.139.1', node: '24.21.0' };

/** Native parts for which there are no prebuilt files. */
const COMPILED = [
  '@vscode/spdlog',
  '@vscode/native-watchdog',
  '@vscode/sqlite3',
  '@vscode/fs-copyfile',
];

const CHROMIUMS = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** Debian packages by what shows that they are there. */
const SYSTEM_PACKAGES = [
  { name: 'chromium', present: () => CHROMIUMS.some(onPath), purpose: 'the browser' },
  { name: 'g++', present: () => onPath('g++'), purpose: 'native parts of VS Code', building: true },
  {
    name: 'make',
    present: () => onPath('make'),
    purpose: 'native parts of VS Code',
    building: true,
  },
  { name: 'python3', present: () => onPath('python3'), purpose: 'node-gyp', building: true },
  {
    name: 'libkrb5-dev',
    present: () =>
      existsSync('/usr/include/gssapi.h') || existsSync('/usr/include/gssapi/gssapi.h'),
    purpose: 'native parts of VS Code',
    building: true,
  },
];

/** VS Code in a browser cannot be had here. `message` says why and what to do. */
export class VscodeWebProblem extends Error {
  name = 'VscodeWebProblem';
}

/**
 * Installs what is missing (about 5 minutes the first time, then nothing) and says where it is.
 * An interrupted installation goes on where it stopped. Two at once: the second waits.
 * @param {{ signal?: AbortSignal, browser?: boolean }} options `browser: false`: no Chromium is needed
 * @returns {Promise<{ folder: string, node: string, entry: string, chromium: string | undefined }>}
 * @throws {VscodeWebProblem}
 */
export async function vscodeWeb({ signal, browser = true } = {}) {
  if (process.platform === 'win32') {
    throw new VscodeWebProblem(
      'VS Code in a browser (code-server) does not run on Windows. Use WSL, or an installed VS Code.',
    );
  }
  const folder = installFolder();
  installSystemPackages({ browser, building: !existsSync(join(folder, 'ready')) });
  await withLock(
    `${folder}.lock`,
    { signal, onWait: (pid) => say(`Waiting for process ${pid}, which installs VS Code.`) },
    () => install(folder, signal),
  );
  return {
    folder,
    node: nodeIn(folder),
    entry: join(folder, 'vscode', 'node_modules', 'code-server', 'out', 'node', 'entry.js'),
    chromium: installedChromium(),
  };
}

function installFolder() {
  const key = createHash('sha256')
    .update(JSON.stringify([VERSIONS, COMPILED, process.platform, process.arch]))
    .digest('hex')
    .slice(0, 12);
  return join(cacheFolder(), 'vscode-web', key);
}

/** Absolute path of a Chromium or Chrome on PATH. */
export function installedChromium() {
  for (const name of CHROMIUMS) {
    const folder = (process.env.PATH ?? '')
      .split(delimiter)
      .find((candidate) => candidate && existsSync(join(candidate, name)));
    if (folder) return join(folder, name);
  }
  return undefined;
}

async function install(folder, signal) {
  if (existsSync(join(folder, 'ready'))) return;
  const app = join(folder, 'vscode');
  const server = join(app, 'node_modules', 'code-server', 'lib', 'vscode');
  const stages = [
    {
      name: 'node',
      title: `Getting Node ${VERSIONS.node} for VS Code`,
      // Its install script picks the package of this platform.
      work: () => npmInstall(join(folder, 'node'), [`node@${VERSIONS.node}`], signal),
    },
    {
      name: 'code-server',
      title: `Getting VS Code (code-server ${VERSIONS['code-server']})`,
      work: () =>
        npmInstall(app, ['--ignore-scripts', `code-server@${VERSIONS['code-server']}`], signal),
    },
    {
      name: 'dependencies',
      title: "Getting VS Code's dependencies",
      // Their versions come from its npm-shrinkwrap.json.
      work: () => npmInstall(server, ['--omit=dev', '--ignore-scripts'], signal),
    },
    {
      name: 'extensions',
      title: "Getting the dependencies of VS Code's own extensions",
      work: () =>
        npmInstall(join(server, 'extensions'), ['--omit=dev', '--ignore-scripts'], signal),
    },
    {
      name: 'native',
      title: 'Compiling native parts of VS Code (a few minutes)',
      work: () => compile(folder, server, signal),
    },
  ];
  for (const { name, title, work } of stages) {
    const stamp = join(folder, `done-${name}`);
    if (existsSync(stamp)) continue;
    mkdirSync(folder, { recursive: true });
    const code = await step(title, work);
    signal?.throwIfAborted();
    if (code !== 0) {
      throw new VscodeWebProblem(
        `${title} failed (see above). Check the connection to your npm registry and run the command again: it goes on from here.`,
      );
    }
    writeFileSync(stamp, '');
  }
  const link = join(server, 'node_modules.asar');
  rmSync(link, { force: true });
  symlinkSync('node_modules', link);
  writeFileSync(join(folder, 'ready'), JSON.stringify(VERSIONS));
}

function npmInstall(cwd, args, signal) {
  mkdirSync(cwd, { recursive: true });
  // Without a manifest of its own, npm would install into a folder further up that has one.
  const manifest = join(cwd, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private":true}\n');
  return run('npm', ['install', '--no-audit', '--no-fund', '--save-exact', ...args], {
    cwd,
    signal,
    env: { ...process.env, npm_config_engine_strict: 'false' },
  });
}

function compile(folder, server, signal) {
  const headers = headersIn(folder);
  return run('npm', ['rebuild', '--no-audit', '--no-fund', ...COMPILED], {
    cwd: server,
    signal,
    env: {
      ...process.env,
      PATH: `${dirname(nodeIn(folder))}${delimiter}${process.env.PATH}`,
      // They come with Node's npm package; node-gyp would fetch them from another place.
      ...(headers ? { npm_config_nodedir: headers } : {}),
    },
  });
}

function nodeIn(folder) {
  return join(folder, 'node', 'node_modules', 'node', 'bin', 'node');
}

/** The platform's package, which npm puts next to `node` or inside of it, has Node's headers. */
function headersIn(folder) {
  const modules = join(folder, 'node', 'node_modules');
  return [modules, join(modules, 'node', 'node_modules')]
    .filter(existsSync)
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
    .find((candidate) => existsSync(join(candidate, 'include', 'node', 'node.h')));
}

function installSystemPackages({ browser, building }) {
  const missing = SYSTEM_PACKAGES.filter(
    (item) => (item.building ? building : browser) && !item.present(),
  );
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name);
  const list = missing.map(({ name, purpose }) => `${name} (${purpose})`).join(', ');
  if (process.getuid?.() !== 0 || !onPath('apt-get')) {
    const command = onPath('apt-get')
      ? `sudo apt-get install --no-install-recommends ${names.join(' ')}`
      : `install them with your package manager (Debian's names: ${names.join(' ')})`;
    throw new VscodeWebProblem(
      `VS Code in a browser needs ${list}. Get it with: ${command}; then run this again.`,
    );
  }
  say(`Installing ${list} with apt-get.`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const update = spawnSync('apt-get', ['update', '-q'], { env });
  const result = spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...names], {
    env,
  });
  if (result.status !== 0) {
    throw new VscodeWebProblem(
      `${update.stderr ?? ''}${result.stderr ?? ''}apt-get could not install ${names.join(' ')}. Install them and run this again.`,
    );
  }
}
