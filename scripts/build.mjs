// Bundles the command line into dist/. Fast enough (well under a second) to run before every use.
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

/** Files for the sandbox are imported as text; vitest.config.ts has the same rule. */
const textAssets = {
  '.sh': 'text',
  '.py': 'text',
};

/** esbuild's loaders know only the last part of a name. */
const assetModules = {
  name: 'asset-modules',
  setup(builder) {
    builder.onLoad({ filter: /\.asset\.(mjs|cjs)$/ }, async ({ path }) => {
      const { readFile } = await import('node:fs/promises');
      return { contents: await readFile(path, 'utf8'), loader: 'text' };
    });
  },
};

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: { cli: 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  // Some packages (jsonc-parser) have a `main` that no bundler can follow.
  mainFields: ['module', 'main'],
  sourcemap: 'linked',
  loader: textAssets,
  plugins: [assetModules],
  // Dependencies in CommonJS form call require() for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
chmodSync('bin/prime-agent.js', 0o755);
