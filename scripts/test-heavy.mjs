// `npm run test:heavy`: stacks that are too slow or too large for every run (test/heavy).
import { join } from 'node:path';
import { prepareSqlite } from './lib/sqlite.mjs';
import {
  build,
  checkNode,
  installDependencies,
  pythonEnvironment,
  root,
  run,
  say,
} from './lib/steps.mjs';

checkNode();
await installDependencies();
const python = await pythonEnvironment();
const missing = await prepareSqlite();
if (missing) say(`! The stacks of the training server do not run: ${missing}.`);
await build();
const env = { ...process.env };
if (python) {
  env.VIRTUAL_ENV = python;
  env.PATH = `${join(python, 'bin')}:${env.PATH}`;
}
process.exitCode = await run(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--project=heavy',
    ...(missing ? ['--exclude=test/heavy/server/**'] : []),
    ...process.argv.slice(2),
  ],
  { env, show: true },
);
