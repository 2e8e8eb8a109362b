// `npm start`: installs what is missing and lets the agent fix the failing tests of examples/.
// Arguments are passed on to `prime-agent fix`: npm start -- --policy http://127.0.0.1:11434/v1 --model NAME
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  build,
  checkNode,
  installDependencies,
  installSystemPackages,
  pythonEnvironment,
  root,
  run,
  say,
  step,
} from './lib/steps.mjs';

const given = process.argv.slice(2);
const yes = given.includes('--yes');
const passed = given.filter((argument) => argument !== '--yes');

checkNode();
await installSystemPackages({ yes });
await installDependencies();
await build();

const { repositories } = JSON.parse(readFileSync(join(root, 'examples/examples.json'), 'utf8'));
/** Python last: the first fix need not wait for its environment. */
const ordered = [...repositories].sort(
  (a, b) => Number(a.framework === 'pytest') - Number(b.framework === 'pytest'),
);
const python = pythonEnvironment();

let child;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true;
    child?.kill(signal);
  });
}

const began = Date.now();
const rows = [];
let firstFix;
let broken = 0;
for (const example of ordered) {
  if (interrupted) break;
  say(`\n── examples/${example.name} (${example.language})`);
  if (!(await setUp(example))) {
    say('! Left out: its dependencies could not be installed.');
    continue;
  }
  const environment = example.framework === 'pytest' ? await python : undefined;
  if (example.framework === 'pytest' && !environment) {
    say('! Left out: it needs python3 with venv and pip.');
    continue;
  }
  const { code, stdout } = await fix(example, environment);
  const report = parse(stdout);
  if (!report?.tests) {
    if (code !== 0 && !interrupted) broken += 1;
    continue;
  }
  for (const test of report.tests) {
    for (const attempt of test.attempts) {
      if (attempt.outcome !== 'solved') continue;
      firstFix = Math.min(
        firstFix ?? Number.POSITIVE_INFINITY,
        Date.parse(attempt.endedAt) - began,
      );
    }
    rows.push({ example: example.name, ...test });
    say(`\n${test.solved ? '✓' : '✗'} ${test.id}`);
    if (test.solved && test.summary) say(indent(test.summary));
    if (test.solved && test.solvedBy) say(`  fixed by the patch for ${test.solvedBy}`);
    if (test.solved && test.patch) say(indent(test.patch.trimEnd()));
  }
}

if (rows.length > 0) {
  say(
    '\nTest                                                                        Attempts  Turns  Outcome       Time',
  );
  for (const row of rows) {
    const turns = sum(row.attempts.map((attempt) => attempt.turns));
    const time = sum(row.attempts.map((attempt) => attempt.durationMs));
    const outcome = row.solved
      ? 'solved'
      : (row.attempts.at(-1)?.outcome ?? 'none').replaceAll('_', ' ');
    const name = `${row.example}: ${row.id.split('::').slice(1).join('::')}`.slice(0, 74);
    say(
      `${name.padEnd(74)}  ${String(row.attempts.length).padStart(8)}  ${String(turns).padStart(5)}  ${outcome.padEnd(12)}  ${(time / 1000).toFixed(1).padStart(5)} s`,
    );
  }
  const solved = rows.filter((row) => row.solved).length;
  const first = firstFix === undefined ? '' : `, the first after ${Math.round(firstFix / 1000)} s`;
  say(
    `\n${solved} of ${rows.length} failing tests solved${first}, in ${Math.round((Date.now() - began) / 1000)} s.`,
  );
  if (!passed.includes('--apply'))
    say('No file of the examples was changed. Apply the patches with: npm start -- --apply');
  say(
    'In your own repository: npx --no-install prime-agent fix PATH (from this checkout), see README.md.',
  );
}
process.exitCode = interrupted ? 130 : broken > 0 ? 3 : 0;

/** Some examples have dependencies of their own; ignored by git, so no file of the example changes. */
async function setUp({ name, setup }) {
  if (!setup) return true;
  const folder = join(root, 'examples', name);
  const stamp = join(folder, 'node_modules', '.package-lock.json');
  if (
    existsSync(stamp) &&
    statSync(stamp).mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs
  )
    return true;
  const [command, ...args] = setup;
  return (
    (await step(`Installing the dependencies of ${name}`, () =>
      run(command, args, { cwd: folder }),
    )) === 0
  );
}

function fix(example, environment) {
  const env = { ...process.env };
  if (environment) env.VIRTUAL_ENV = environment;
  const defaults = passed.includes('--policy') ? [] : ['--policy', 'edit-search'];
  const limits = [];
  // What cannot be solved by small edits should not hold up what can.
  if (!passed.some((argument) => argument.startsWith('--attempts'))) limits.push('--attempts', '1');
  if (!passed.some((argument) => argument.startsWith('--max-minutes')))
    limits.push('--max-minutes', '1.5');
  return new Promise((resolve) => {
    const args = [
      join(root, 'bin/prime-agent.js'),
      'fix',
      join(root, 'examples', example.name),
      '--json',
      ...defaults,
      ...limits,
      ...passed,
    ];
    child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(chunks).toString() }));
  });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function indent(text) {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
