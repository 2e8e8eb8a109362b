// `npm run bench`: measures against peers, in one run. Needs python3 with pip for the peers.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './lib/bundle.mjs';
import { build as buildProduct, checkNode, pythonEnvironment, root, run } from './lib/steps.mjs';

checkNode();
const peers = await pythonEnvironment(join(root, 'test/bench/requirements.txt'));
const learner = await pythonEnvironment(join(root, 'server/learner/requirements.txt'));
// The embedded policy's worker.
await buildProduct();
const folder = mkdtempSync(join(root, 'node_modules', '.bench-'));
try {
  const outfile = join(folder, 'run.mjs');
  await build({ ...bundleOptions, entryPoints: ['test/bench/run.ts'], outfile });
  const env = {
    ...process.env,
    PRIME_AGENT_BENCH_PYTHON: peers ? join(peers, 'bin/python') : '',
    PRIME_AGENT_BENCH_LEARNER: learner ? join(learner, 'bin/python') : '',
  };
  process.exitCode = await run(process.execPath, [outfile], { env, show: true });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
