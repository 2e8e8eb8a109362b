// Opens a VSIX and says what is wrong with it.
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import yauzl from 'yauzl';

/** Bytes of `dist/extension.js` with the chunks that it imports at once: what activation has to load. */
export const ENTRY_LIMIT = 256 * 1024;

/** Bytes of the whole file. The native library is 17 MB of it, WASM 4, an embedded policy a few. */
const PACKAGE_LIMIT = 48 * 1024 * 1024;

/** Native code, or loaded by few: never by the process that all extensions share. */
const NOT_IN_THE_ENTRY = [
  'onnxruntime-node',
  'onnxruntime-web',
  'onnxruntime-common',
  'dockerode',
  'ws',
];

const RUNTIME = 'dist/node_modules';

/** All that may be in the package, without vsce's own two files. */
const ALLOWED = [
  /^(package\.json|readme\.md|changelog\.md|LICENSE\.txt|ThirdPartyNotices\.txt)$/,
  /^package\.nls(\.[\w-]+)?\.json$/,
  /^l10n\/bundle\.l10n(\.[\w-]+)?\.json$/,
  /^media\/.+\.(svg|png|md|css|js|woff2?)$/,
  /^dist\/(extension|[\w-]+-worker)\.js$/,
  /^dist\/extension\/[\w.-]+\.js$/,
  /^dist\/node_modules\/onnxruntime-(node|web|common)\/package\.json$/,
  /^dist\/node_modules\/onnxruntime-(node|common)\/dist\/([\w-]+\/)?[\w.-]+\.js$/,
  /^dist\/node_modules\/onnxruntime-common\/dist\/(cjs|esm)\/package\.json$/,
  /^dist\/node_modules\/onnxruntime-web\/dist\/(ort\.node\.min\.mjs|ort-wasm-simd-threaded\.(mjs|wasm))$/,
  /^dist\/node_modules\/onnxruntime-node\/bin\/napi-v6\/\w+\/\w+\/[\w.-]+\.(node|dll|dylib|so(\.\d+)*)$/,
  /^examples\/shop-cart\/(\.gitignore|[\w/-]+(\.test)?\.(js|json|md))$/,
  /^policies\/nano\/[\w.-]+\.(json|jinja|onnx|safetensors|md)$/,
];

/** @typedef {{ path: string, size: number, packed: number, read: () => Promise<Buffer> }} Entry */

/**
 * @param {string} file
 * @param {{ target: string, native: boolean, policy: boolean, checkout: string }} expected `policy`:
 *   the embedded policy ships; `checkout`: a path that no file may name
 * @returns {Promise<{ problems: string[], entries: Entry[], bytes: number, entryBytes: number }>}
 */
export async function checkVsix(file, expected) {
  const zip = await promisify(yauzl.open)(file, { lazyEntries: true, autoClose: false });
  try {
    const entries = await list(zip);
    const files = new Map(
      entries
        .filter(({ path }) => path.startsWith('extension/'))
        .map((entry) => [entry.path.slice('extension/'.length), entry]),
    );
    const { problems, entryBytes } = await checkFiles(files, expected);
    const bytes = entries.reduce((sum, { packed }) => sum + packed, 0);
    if (bytes > PACKAGE_LIMIT) problems.push(`it has ${bytes} bytes, more than ${PACKAGE_LIMIT}`);
    return { problems, entries, bytes, entryBytes };
  } finally {
    zip.close();
  }
}

/**
 * @param {Map<string, Pick<Entry, 'read'>>} files by their paths in the extension's folder
 * @returns {Promise<{ problems: string[], entryBytes: number }>}
 */
export async function checkFiles(files, expected) {
  const entry = await entryBundle(files);
  return {
    problems: [
      ...(await required(files, expected)),
      ...foreign(files, expected.target),
      ...(await paths(files, expected.checkout)),
      ...entry.problems,
    ],
    entryBytes: entry.bytes,
  };
}

function list(zip) {
  return new Promise((resolve, reject) => {
    const entries = [];
    zip.on('error', reject);
    zip.on('end', () => resolve(entries));
    zip.on('entry', (entry) => {
      entries.push({
        path: entry.fileName,
        size: entry.uncompressedSize,
        packed: entry.compressedSize,
        async read() {
          const stream = await promisify(zip.openReadStream.bind(zip))(entry);
          const parts = [];
          for await (const part of stream) parts.push(part);
          return Buffer.concat(parts);
        },
      });
      zip.readEntry();
    });
    zip.readEntry();
  });
}

async function required(files, { target, native, policy }) {
  const [platform, arch] = target.split('-');
  const wanted = [
    'package.json',
    'package.nls.json',
    'readme.md',
    'changelog.md',
    'LICENSE.txt',
    'ThirdPartyNotices.txt',
    'dist/extension.js',
    'dist/onnx-worker.js',
    `${RUNTIME}/onnxruntime-node/dist/index.js`,
    `${RUNTIME}/onnxruntime-common/dist/cjs/index.js`,
    `${RUNTIME}/onnxruntime-common/dist/esm/index.js`,
    `${RUNTIME}/onnxruntime-web/dist/ort.node.min.mjs`,
    `${RUNTIME}/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm`,
  ];
  if (native) {
    wanted.push(
      `${RUNTIME}/onnxruntime-node/bin/napi-v6/${platform}/${arch}/onnxruntime_binding.node`,
    );
  }
  if (policy) {
    for (const name of ['policy.json', 'config.json', 'model.onnx', 'model.safetensors']) {
      wanted.push(`policies/nano/${name}`);
    }
  }
  const manifest = files.get('package.json');
  if (manifest) wanted.push(...namedFiles(JSON.parse(String(await manifest.read()))));
  return wanted
    .filter(
      (path) => !files.has(path) && ![...files.keys()].some((file) => file.startsWith(`${path}/`)),
    )
    .map((path) => `${path} is missing`);
}

/** What a manifest refers to: its program, icons, pictures and texts of the walkthrough, languages. */
function namedFiles(manifest) {
  const found = new Set();
  const visit = (value) => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
    else if (typeof value === 'string' && /^(\.\/)?(media|dist|l10n)(\/|$)/.test(value)) {
      found.add(posix.normalize(value));
    }
  };
  visit(manifest);
  return found;
}

function foreign(files, target) {
  const [platform, arch] = target.split('-');
  const others = [...files.keys()].filter(
    (path) =>
      !ALLOWED.some((pattern) => pattern.test(path)) ||
      (path.includes('/napi-v6/') && !path.includes(`/napi-v6/${platform}/${arch}/`)),
  );
  return others.map((path) => `${path} does not belong into it`);
}

async function paths(files, checkout) {
  const problems = [];
  for (const [path, entry] of files) {
    if (!/\.(js|mjs|json|md|txt)$/.test(path)) continue;
    if ((await entry.read()).includes(checkout)) problems.push(`${path} names ${checkout}`);
  }
  return problems;
}

/** Follows the entry through its chunks: what it loads at once, and which packages it asks Node for. */
async function entryBundle(files) {
  const problems = [];
  let bytes = 0;
  const sources = new Map();
  for (const [path, entry] of files) {
    if (/^dist\/(extension\.js|extension\/)/.test(path))
      sources.set(path, String(await entry.read()));
  }
  const { metafile } = await build({
    entryPoints: ['dist/extension.js'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    outdir: 'out',
    logLevel: 'silent',
    plugins: [
      {
        name: 'vsix',
        setup(builder) {
          builder.onResolve({ filter: /.*/ }, ({ path, importer, kind }) => {
            // esbuild puts ./ before it.
            if (kind === 'entry-point') return { path: posix.normalize(path), namespace: 'vsix' };
            const file = posix.join(posix.dirname(importer), path);
            return path.startsWith('.') && sources.has(file)
              ? { path: file, namespace: 'vsix' }
              : { path, external: true };
          });
          builder.onLoad({ filter: /.*/, namespace: 'vsix' }, ({ path }) => ({
            contents: sources.get(path) ?? '',
          }));
        },
      },
    ],
  });
  const inputs = metafile.inputs;
  const atOnce = new Set();
  const visit = (key) => {
    if (atOnce.has(key) || !inputs[key]) return;
    atOnce.add(key);
    bytes += inputs[key].bytes;
    for (const { path, kind } of inputs[key].imports) {
      if (kind !== 'dynamic-import') visit(path);
    }
  };
  visit('vsix:dist/extension.js');
  if (bytes > ENTRY_LIMIT) {
    problems.push(
      `dist/extension.js and what it imports at once have ${bytes} bytes, more than ${ENTRY_LIMIT}`,
    );
  }
  for (const key of Object.keys(inputs)) {
    const own = sources.get(key.slice('vsix:'.length)) ?? '';
    const required = [...own.matchAll(/\b(?:__)?require\d*\(\s*["'`]([^"'`]+)["'`]\s*\)/g)];
    const names = [
      ...inputs[key].imports.map(({ path }) => path),
      ...required.map(([, name]) => name),
    ];
    for (const name of names) {
      const found = NOT_IN_THE_ENTRY.find(
        (other) => name === other || name.startsWith(`${other}/`),
      );
      if (found) problems.push(`${key.slice('vsix:'.length)} imports ${found}`);
    }
  }
  return { problems: [...new Set(problems)], bytes };
}
