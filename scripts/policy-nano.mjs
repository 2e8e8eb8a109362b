// `npm run policy:nano`: makes the embedded policy from nothing, resumable (policies/make).
//   npm run policy:nano -- --smoke      everything once, small, in minutes
//   npm run policy:nano -- --measure policies/nano   makes nothing: measures a policy, writes its record
//   npm run policy:nano -- --work DIR   where stages are kept; by default in the cache folder
// `npm run policy:spike`: what GRPO learns from there in some steps (policies/make/spike-main.ts).
//   npm run policy:spike -- report      pictures and a table of the runs that ended
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { bundleOptions } from './lib/bundle.mjs';
import { build, cacheFolder, checkNode, fail, pythonEnvironment, root, run } from './lib/steps.mjs';

checkNode();
const spike = process.argv[2] === 'spike';
const report = spike && process.argv[3] === 'report';
const given = process.argv.slice(report ? 4 : spike ? 3 : 2);
const smoke = given.includes('--smoke');
const learner = join(root, 'server/learner');
const python = await pythonEnvironment(join(learner, 'requirements.txt'));
if (!python) fail('The learner needs python3 with venv and pip, a package index and 6 GB of disk.');

// A smoke run starts from nothing, each time.
const work = smoke
  ? mkdtempSync(join(tmpdir(), 'prime-agent-nano-'))
  : join(cacheFolder(), 'policy-nano');
mkdirSync(work, { recursive: true });
const bundle = mkdtempSync(join(root, 'node_modules', '.policy-nano-'));
try {
  const outfile = join(bundle, 'nano.mjs');
  await build();
  await esbuild.build({
    ...bundleOptions,
    entryPoints: [
      report
        ? 'policies/make/spike-report.ts'
        : spike
          ? 'policies/make/spike-main.ts'
          : 'policies/make/nano.ts',
    ],
    outfile,
  });
  const env = {
    ...process.env,
    PRIME_AGENT_LEARNER: learner,
    PRIME_AGENT_LEARNER_PYTHON: join(python, 'bin/python'),
    PRIME_AGENT_WORK: work,
  };
  process.exitCode = await run(process.execPath, [outfile, ...given], { env, show: true });
} finally {
  rmSync(bundle, { recursive: true, force: true });
  if (smoke) rmSync(work, { recursive: true, force: true });
}
