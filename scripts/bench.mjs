// `npm run bench`: measures against peers, in one run. Needs python3 with pip for the peers.
// `npm run bench -- server`: the training server alone, next to a bare server.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions, serverOptions } from './lib/bundle.mjs';
import { prepareSqlite } from './lib/sqlite.mjs';
import { build as buildProduct, checkNode, pythonEnvironment, root, run } from './lib/steps.mjs';

checkNode();
if (process.argv[2] === 'server') await benchServer();
else await benchAll();

async function benchServer() {
  const missing = await prepareSqlite();
  if (missing) throw new Error(`the benchmark of the training server cannot run: ${missing}`);
  await inFolder(async (folder) => {
    const names = ['server', 'ingest-server', 'ingest-peer'];
    await build({
      ...serverOptions,
      entryPoints: Object.fromEntries(names.map((name) => [name, `test/bench/${name}.ts`])),
      outdir: folder,
      outExtension: { '.js': '.mjs' },
    });
    return run(process.execPath, [join(folder, 'server.mjs')], { show: true });
  });
}

async function benchAll() {
  const peers = await pythonEnvironment(join(root, 'test/bench/requirements.txt'));
  const learner = await pythonEnvironment(join(root, 'server/learner/requirements.txt'));
  // The embedded policy's worker.
  await buildProduct();
  await inFolder(async (folder) => {
    const outfile = join(folder, 'run.mjs');
    await build({ ...bundleOptions, entryPoints: ['test/bench/run.ts'], outfile });
    const env = {
      ...process.env,
      PRIME_AGENT_BENCH_PYTHON: peers ? join(peers, 'bin/python') : '',
      PRIME_AGENT_BENCH_LEARNER: learner ? join(learner, 'bin/python') : '',
    };
    return run(process.execPath, [outfile], { env, show: true });
  });
}

/** Inside the checkout, where packages with native code are found. */
async function inFolder(work) {
  const folder = mkdtempSync(join(root, 'node_modules', '.bench-'));
  try {
    process.exitCode = await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
