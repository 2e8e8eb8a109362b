// Bundles the command line into dist/. Fast enough (well under a second) to run before every use.
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { bundleOptions } from './lib/bundle.mjs';

rmSync('dist', { recursive: true, force: true });
await build({
  ...bundleOptions,
  entryPoints: {
    cli: 'src/cli/main.ts',
    'onnx-worker': 'src/core/policies/onnx/worker/main.ts',
  },
  outdir: 'dist',
  sourcemap: 'linked',
});
chmodSync('bin/prime-agent.js', 0o755);
