// How TypeScript becomes something that Node runs, for the product and for benchmarks.
import { readFile } from 'node:fs/promises';

/** esbuild's loaders know only the last part of a name; vitest.config.ts has the same rule. */
const assetModules = {
  name: 'asset-modules',
  setup(builder) {
    builder.onLoad({ filter: /\.asset\.(mjs|cjs)$/ }, async ({ path }) => ({
      contents: await readFile(path, 'utf8'),
      loader: 'text',
    }));
  },
};

/**
 * What dockerode brings and Prime Agent does not use: connections over ssh, and sessions of BuildKit.
 * Both are read when dockerode is, look for files beside themselves, and weigh two megabytes.
 */
const unusedOfDockerode = {
  name: 'unused-of-dockerode',
  setup(builder) {
    builder.onResolve(
      { filter: /^(ssh2|protobufjs|@grpc\/(grpc-js|proto-loader))$/ },
      ({ path }) => ({
        path,
        namespace: 'unused',
      }),
    );
    builder.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({
      contents: 'module.exports = {};',
      loader: 'js',
    }));
  },
};

/** The server's entry is a bundle of its own, next to the command line, which loads it when it is asked for. */
const serverApart = {
  name: 'server-apart',
  setup(builder) {
    builder.onResolve({ filter: /\/server\/src\/entry\.ts$/ }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: './server.js', external: true },
    );
  },
};

/** @type {import('esbuild').BuildOptions} */
export const bundleOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  // Some packages (jsonc-parser) have a `main` that no bundler can follow.
  mainFields: ['module', 'main'],
  // Files for the sandbox are imported as text.
  loader: { '.sh': 'text', '.py': 'text' },
  plugins: [assetModules, unusedOfDockerode, serverApart],
  // Native code and WASM, found next to the package's own files.
  external: ['onnxruntime-node', 'onnxruntime-web', 'better-sqlite3'],
  // Dependencies in CommonJS form call require() for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
};

/**
 * The training server. `ws` has optional parts in native code, which it does without.
 *
 * @type {import('esbuild').BuildOptions}
 */
export const serverOptions = {
  ...bundleOptions,
  // Its worker runs in a process of its own, next to it.
  entryPoints: { server: 'server/src/entry.ts', 'server-worker': 'server/src/worker/main.ts' },
  external: [...bundleOptions.external, 'bufferutil', 'utf-8-validate'],
};

/** Programs that run in a process of their own, next to the command line and to the extension. */
export const workerEntryPoints = {
  'onnx-worker': 'src/core/policies/onnx/worker/main.ts',
};

/** @type {import('esbuild').BuildOptions} */
export const cliOptions = {
  ...bundleOptions,
  entryPoints: { cli: 'src/cli/main.ts', ...workerEntryPoints },
};

/**
 * The extension: `extension.js` holds what activation needs, the agent's core and its parsers come in
 * chunks that are loaded when they are first used.
 *
 * @type {import('esbuild').BuildOptions}
 */
export const extensionOptions = {
  ...bundleOptions,
  entryPoints: { extension: 'src/extension.ts' },
  // The editor itself provides it.
  external: [...bundleOptions.external, 'vscode'],
  splitting: true,
  chunkNames: 'extension/[name]-[hash]',
};
