// Makes the npm package: command line, training server, learner and embedded policy, for any folder and any
// platform. As with the VSIX, it is put together in a temporary folder and packed there, with bundles made for it.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { cliOptions, serverOptions } from './bundle.mjs';
import { bundleInto } from './bundle-into.mjs';
import { notices } from './notices.mjs';
import { root } from './steps.mjs';

/** Bytes of the whole file: ten million of them are the embedded policy. */
const PACKAGE_LIMIT = 16 * 1024 * 1024;

/** Where npm's `files` chooses from. */
const SOURCES = [
  'bin',
  'docs',
  'policies/nano',
  'server/learner',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
];

/**
 * The database, as it is compiled: as a dependency it would have an install script, which either npm does not run, or which
 * fails, and the whole installation with it, where neither a prebuilt file nor Node's headers can be fetched.
 */
const SQLITE = ['package.json', 'LICENSE', 'binding.gyp', 'lib', 'deps', 'src'];

/** Of the checkout's manifest. */
const MANIFEST = ['name', 'version', 'description', 'license', 'private', 'type', 'bin', 'files'];

/** All that may be in it. */
const ALLOWED = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|ThirdPartyNotices\.txt)$/,
  /^bin\/prime-agent\.js$/,
  /^dist\/(cli|server|server-worker|onnx-worker)\.js$/,
  /^dist\/better-sqlite3\/(package\.json|LICENSE|binding\.gyp)$/,
  /^dist\/better-sqlite3\/(lib|src|deps)\/[\w/.-]+\.(js|cpp|hpp|c|h|gypi?)$/,
  /^docs\/[\w-]+\.md$/,
  /^policies\/nano\/[\w.-]+\.(json|jinja|onnx|safetensors)$/,
  /^server\/learner\/(pyproject\.toml|requirements\.txt)$/,
  /^server\/learner\/prime_learner\/[\w/]+\.(py|jinja|typed)$/,
];

const REQUIRED = [
  'package.json',
  'LICENSE',
  'ThirdPartyNotices.txt',
  'bin/prime-agent.js',
  'dist/cli.js',
  'dist/server.js',
  'dist/server-worker.js',
  'dist/onnx-worker.js',
  'dist/better-sqlite3/binding.gyp',
  'dist/better-sqlite3/lib/index.js',
  'dist/better-sqlite3/deps/sqlite3/sqlite3.c',
  'docs/server.md',
  'policies/nano/policy.json',
  'policies/nano/model.onnx',
  'policies/nano/model.safetensors',
  'server/learner/requirements.txt',
  'server/learner/pyproject.toml',
  'server/learner/prime_learner/__main__.py',
];

export function tarballName() {
  const { name, version } = manifest();
  return `${name}-${version}.tgz`;
}

/**
 * @param {string} file the tarball that is written
 * @returns {Promise<{ problems: string[], entries: { path: string, size: number }[], bytes: number, unpacked: number }>}
 */
export async function makeTarball(file) {
  const stage = mkdtempSync(join(tmpdir(), 'prime-agent-npm-'));
  const out = mkdtempSync(join(tmpdir(), 'prime-agent-npm-'));
  try {
    const inputs = await bundleInto(join(stage, 'dist'), [cliOptions, serverOptions]);
    for (const path of SOURCES) {
      // What tests and Python left behind stays here.
      const filter = (from) => !/(__pycache__|\.pyc|\.egg-info|\/tests|\/build)$/.test(from);
      cpSync(join(root, path), join(stage, path), { recursive: true, filter });
    }
    for (const path of SQLITE) {
      const from = join(root, 'node_modules', 'better-sqlite3', path);
      const filter = (file) => !/\.(sh|md)$|\/patches$/.test(file);
      cpSync(from, join(stage, 'dist', 'better-sqlite3', path), { recursive: true, filter });
    }
    const texts = notices(root, inputs, ['better-sqlite3']);
    writeFileSync(join(stage, 'ThirdPartyNotices.txt'), texts);
    const own = JSON.stringify(publishedManifest(), null, 2);
    writeFileSync(join(stage, 'package.json'), `${own}\n`);
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', out];
    const npm = spawnSync('npm', args, { cwd: stage, encoding: 'utf8' });
    if (npm.status !== 0) throw new Error(`npm pack failed: ${npm.stderr || npm.error?.message}`);
    const [packed] = JSON.parse(npm.stdout);
    const problems = problemsOf(packed.files, packed.size, stage);
    mkdirSync(dirname(file), { recursive: true });
    const beside = join(dirname(file), `.${process.pid}-${basename(file)}`);
    cpSync(join(out, packed.filename), beside);
    renameSync(beside, file);
    return { problems, entries: packed.files, bytes: packed.size, unpacked: packed.unpackedSize };
  } finally {
    for (const folder of [stage, out]) rmSync(folder, { recursive: true, force: true });
  }
}

/** All else is in the bundles: nothing more is left to install. */
function publishedManifest() {
  const all = manifest();
  const kept = Object.fromEntries(MANIFEST.map((key) => [key, all[key]]));
  const prebuild = readFileSync(join(root, 'node_modules/prebuild-install/package.json'), 'utf8');
  return {
    ...kept,
    engines: { node: all.engines.node },
    dependencies: {
      'onnxruntime-web': all.dependencies['onnxruntime-web'],
      // Fetches the native part of the database.
      'prebuild-install': JSON.parse(prebuild).version,
    },
    // Its install script fetches GPU libraries that are of no use here; where that fails npm leaves the package out,
    // and WASM does its work.
    optionalDependencies: { 'onnxruntime-node': all.dependencies['onnxruntime-node'] },
  };
}

function problemsOf(entries, bytes, stage) {
  const there = new Set(entries.map(({ path }) => path));
  const naming = entries.filter(
    ({ path }) =>
      /\.(js|json|md|txt|py|toml)$/.test(path) &&
      existsSync(join(stage, path)) &&
      [root, stage].some((folder) => readFileSync(join(stage, path)).includes(folder)),
  );
  return [
    ...REQUIRED.filter((path) => !there.has(path)).map((path) => `${path} is missing`),
    ...[...there]
      .filter((path) => !ALLOWED.some((pattern) => pattern.test(path)))
      .map((path) => `${path} does not belong into it`),
    ...naming.map(({ path }) => `${path} names a folder of this machine`),
    ...(bytes > PACKAGE_LIMIT ? [`it has ${bytes} bytes, more than ${PACKAGE_LIMIT}`] : []),
  ];
}

function manifest() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}
