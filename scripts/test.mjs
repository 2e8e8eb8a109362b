// `npm test`: installs what the tests need, checks the code, runs the tiers, ends with one summary line.
// Arguments are passed on to vitest: npm test -- test/unit/agent

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareSqlite } from './lib/sqlite.mjs';
import {
  build,
  checkNode,
  installDependencies,
  installSystemPackages,
  onPath,
  pythonEnvironment,
  root,
  run,
  say,
  step,
} from './lib/steps.mjs';

/** After the other tests have ended. */
const LEARNER_PATIENCE_MS = 3 * 60_000;

const filters = process.argv.slice(2).filter((argument) => argument !== '--yes');
const yes = process.argv.includes('--yes');
const strict = process.env.CI === 'true';

checkNode();
await installSystemPackages({ yes, tests: true });
await installDependencies();
const python = await pythonEnvironment();

// Compiles for about half a minute the first time, beside the check.
const sqlite = prepareSqlite();
let checked = 0;
if (filters.length === 0) {
  checked = await step('Checking types, lint and unused code', () =>
    run('npm', ['run', '--silent', 'check']),
  );
}

/** Tiers that need something of the system: said in one line when it is missing, an error in CI. */
const tiers = [
  {
    name: 'local sandbox',
    missing: isolationProblem(),
    exclude: ['test/integration/**/*local*', 'test/integration/**/*escape*'],
  },
  {
    name: 'pytest',
    missing: python ? undefined : 'python3 with venv and pip',
    exclude: ['test/integration/**/*pytest*'],
  },
  {
    name: 'training server',
    missing: await sqlite,
    exclude: ['test/integration/server/**'],
  },
];
const skipped = tiers.filter((tier) => tier.missing);
for (const tier of skipped) say(`! The tier “${tier.name}” does not run: ${tier.missing}.`);

let failed = strict && skipped.length > 0 ? skipped.length : 0;
if (checked !== 0) failed += 1;
await build();

/** PyTorch is several GB: it is fetched beside the tests, and given up when that takes too long. */
const giveUp = new AbortController();
const learner =
  filters.length === 0
    ? pythonEnvironment(join(root, 'server/learner/requirements.txt'), {
        signal: giveUp.signal,
        title: 'Preparing the Python environment of the learner (PyTorch)',
      })
    : undefined;

const report = join(tmpdir(), `prime-agent-tests-${process.pid}.json`);
const env = { ...process.env };
if (python) {
  env.VIRTUAL_ENV = python;
  env.PATH = `${join(python, 'bin')}:${env.PATH}`;
}
const code = await run(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--project=unit',
    '--project=integration',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...skipped.flatMap((tier) => tier.exclude.map((pattern) => `--exclude=${pattern}`)),
    ...filters,
  ],
  { env, show: true },
);

const counts = { passed: 0, failed, skipped: 0 };
try {
  const result = JSON.parse(readFileSync(report, 'utf8'));
  counts.passed = result.numPassedTests;
  counts.failed += result.numFailedTests;
  counts.skipped = result.numPendingTests + result.numTodoTests;
} catch {
  counts.failed += 1;
}
rmSync(report, { force: true });
if (learner) {
  const timer = setTimeout(() => giveUp.abort(), LEARNER_PATIENCE_MS);
  const ready = await learner;
  clearTimeout(timer);
  if (ready) {
    const made = await step('Making a small policy from nothing (policy:nano -- --smoke)', () =>
      run('npm', ['run', '--silent', 'policy:nano', '--', '--smoke']),
    );
    if (made === 0) counts.passed += 1;
    else counts.failed += 1;
  } else say('! No policy was made from nothing: PyTorch could not be installed here in time.');
}
if (code !== 0 && counts.failed === 0) counts.failed = 1;
say(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;

function isolationProblem() {
  if (process.platform !== 'linux') return 'the local sandbox is tested on Linux only';
  if (!onPath('bwrap')) return 'bubblewrap is not installed';
  const probe = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']);
  return probe.status === 0 ? undefined : 'this system does not let bubblewrap make namespaces';
}
