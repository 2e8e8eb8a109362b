// Makes the VSIX. It is put together in a temporary folder from a list of what ships (an allow-list:
// what nobody named is not in it), and vsce packs that folder.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleOptions, extensionOptions, workerEntryPoints } from './bundle.mjs';
import { bundleInto } from './bundle-into.mjs';
import { notices } from './notices.mjs';
import { root } from './steps.mjs';

/** Files of ONNX Runtime's packages that run. Next to the bundles, where Node looks for them. */
const RUNTIME = {
  'onnxruntime-node': [
    'package.json',
    'dist/index.js',
    'dist/backend.js',
    'dist/binding.js',
    'dist/version.js',
  ],
  'onnxruntime-web': [
    'package.json',
    'dist/ort.node.min.mjs',
    'dist/ort-wasm-simd-threaded.mjs',
    'dist/ort-wasm-simd-threaded.wasm',
  ],
  'onnxruntime-common': ['package.json', 'dist/cjs', 'dist/esm'],
};
const RUNTIME_FOLDER = 'dist/node_modules';

/** Ships where it is there. `policies/nano` may be absent: then the extension says so. */
const FOLDERS = ['media', 'l10n', 'policies/nano', 'examples/shop-cart'];
const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'LICENSE'];

/** Belongs to the checkout and to npm, not to the editor. */
const NOT_IN_THE_MANIFEST = [
  'scripts',
  'devDependencies',
  'dependencies',
  'files',
  'bin',
  'private',
];

export function currentTarget() {
  return `${process.platform}-${process.arch}`;
}

export function vsixName(target, version = manifest().version) {
  return `prime-agent-${target}-${version}.vsix`;
}

function manifest() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

/**
 * @param {string} target of vsce, such as linux-x64
 * @param {string} file the VSIX that is written
 * @returns {Promise<{ native: boolean }>} `native`: with ONNX Runtime's native library; without, WASM does its work
 */
export async function makeVsix(target, file) {
  const stage = mkdtempSync(join(tmpdir(), 'prime-agent-vsix-'));
  try {
    const inputs = await bundleInto(join(stage, 'dist'), [
      { ...bundleOptions, entryPoints: workerEntryPoints },
      extensionOptions,
    ]);
    const native = copyRuntime(target, stage);
    const { name, version, ...rest } = manifest();
    for (const key of NOT_IN_THE_MANIFEST) delete rest[key];
    rest.engines = { vscode: rest.engines.vscode };
    const text = JSON.stringify({ name, version, ...rest }, null, 2);
    writeFileSync(join(stage, 'package.json'), `${text}\n`);
    for (const document of [...DOCUMENTS, ...languageFiles()]) {
      cpSync(join(root, document), join(stage, document));
    }
    for (const folder of FOLDERS) {
      const from = join(root, folder);
      if (!existsSync(from)) continue;
      // What somebody installed in the example stays here.
      const filter = (path) => !path.endsWith('node_modules');
      cpSync(from, join(stage, folder), { recursive: true, filter });
    }
    writeFileSync(
      join(stage, 'ThirdPartyNotices.txt'),
      notices(root, inputs, Object.keys(RUNTIME)),
    );
    cpSync(join(root, '.vscodeignore'), join(stage, '.vscodeignore'));
    await pack(stage, target, file);
    return { native };
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function copyRuntime(target, stage) {
  const [platform, arch] = target.split('-');
  const binaries = `bin/napi-v6/${platform}/${arch}`;
  const native = existsSync(join(root, 'node_modules', 'onnxruntime-node', binaries));
  for (const [name, files] of Object.entries(RUNTIME)) {
    const extra = name === 'onnxruntime-node' && native ? [binaries] : [];
    for (const path of [...files, ...extra]) {
      const to = join(stage, RUNTIME_FOLDER, name, path);
      mkdirSync(dirname(to), { recursive: true });
      cpSync(join(root, 'node_modules', name, path), to, {
        recursive: true,
        filter: (from) => !/\.(map|d\.ts|d\.mts)$/.test(from),
      });
    }
  }
  return native;
}

function languageFiles() {
  return readdirSync(root).filter((name) => /^package\.nls(\.[\w-]+)?\.json$/.test(name));
}

async function pack(stage, target, file) {
  const { createVSIX } = await import('@vscode/vsce');
  rmSync(file, { force: true });
  await createVSIX({
    cwd: stage,
    packagePath: file,
    target,
    dependencies: false,
    // Links of the README lead to files of the repository, which has no public address yet.
    rewriteRelativeLinks: false,
    allowMissingRepository: true,
  });
}
