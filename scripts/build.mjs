// Bundles the command line and the extension into dist/. Fast enough (about a second) to run before
// every use.
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { cliOptions, extensionOptions, serverOptions } from './lib/bundle.mjs';

const into = { outdir: 'dist', sourcemap: 'linked', metafile: true };
const results = await Promise.all([
  build({ ...cliOptions, ...into }),
  build({ ...serverOptions, ...into }),
  build({ ...extensionOptions, ...into }),
]);

// What an earlier build left goes afterwards: files that somebody runs right now are only replaced.
const made = new Set(results.flatMap(({ metafile }) => Object.keys(metafile.outputs)));
for (const entry of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name);
  if (entry.isFile() && !made.has(file)) rmSync(file);
}
chmodSync('bin/prime-agent.js', 0o755);
