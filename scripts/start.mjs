// `npm start`: installs what is missing and lets the agent fix the failing tests of examples/, first
// with the embedded model (nano), then with the search that needs none (edit-search).
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

/** Width of the first column. */
const NAME = 62;

let child;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true;
    child?.kill(signal);
  });
}

/** One column of the table each; a policy that was asked for is the only one. */
const chosen = passed.indexOf('--policy');
const embedded = existsSync(join(root, 'policies/nano/policy.json')) ? ['nano'] : [];
const policies = chosen < 0 ? [...embedded, 'edit-search'] : [passed[chosen + 1] ?? ''];

const began = Date.now();
/** By test: what each policy came to. */
const rows = new Map();
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
  for (const policy of policies) {
    if (interrupted) break;
    const { code, stdout } = await fix(example, environment, policy);
    const report = parse(stdout);
    if (!report?.tests) {
      if (code !== 0 && !interrupted) broken += 1;
      continue;
    }
    for (const test of report.tests) show(example, policy, test);
  }
}

if (rows.size > 0) {
  say('');
  say(`${'Test'.padEnd(NAME)}${policies.map((policy) => heading(policy)).join('')}`);
  for (const { name, results } of rows.values()) {
    say(name.padEnd(NAME) + policies.map((policy) => cell(results.get(policy))).join(''));
  }
  const solvedBy = (policy) =>
    [...rows.values()].filter(({ results }) => results.get(policy)?.solved).length;
  const solved = [...rows.values()].filter(({ results }) =>
    [...results.values()].some((test) => test.solved),
  ).length;
  const first = firstFix === undefined ? '' : `, the first after ${Math.round(firstFix / 1000)} s`;
  const each = policies.map((policy) => `${policy} ${solvedBy(policy)}`).join(', ');
  say(
    `\n${solved} of ${rows.size} failing tests solved (${each})${first}, in ${Math.round((Date.now() - began) / 1000)} s.`,
  );
  if (!passed.includes('--apply'))
    say('No file of the examples was changed. Apply the patches with: npm start -- --apply');
  say(
    'In your own repository: npx --no-install prime-agent fix PATH (from this checkout), see README.md.',
  );
}
process.exitCode = interrupted ? 130 : broken > 0 ? 3 : 0;

function show(example, policy, test) {
  for (const attempt of test.attempts) {
    if (attempt.outcome !== 'solved') continue;
    firstFix = Math.min(firstFix ?? Number.POSITIVE_INFINITY, Date.parse(attempt.endedAt) - began);
  }
  const key = `${example.name} ${test.id}`;
  const name = `${example.name}: ${test.id.split('::').slice(1).join('::')}`.slice(0, NAME - 2);
  const row = rows.get(key) ?? { name, results: new Map() };
  rows.set(key, row);
  row.results.set(policy, test);
  say(`\n${test.solved ? '✓' : '✗'} ${policy}: ${test.id}`);
  if (test.solved && test.summary) say(indent(test.summary));
  if (test.solved && test.solvedBy) say(`  fixed by the patch for ${test.solvedBy}`);
  if (test.solved && test.patch) say(indent(test.patch.trimEnd()));
}

function heading(policy) {
  return `${policy.slice(0, 24).padEnd(16)}attempts turns    time  `;
}

function cell(test) {
  if (!test) return ''.padEnd(38);
  const { attempts } = test;
  const turns = sum(attempts.map((attempt) => attempt.turns));
  const seconds = sum(attempts.map((attempt) => attempt.durationMs)) / 1000;
  const outcome = test.solved
    ? 'solved'
    : (attempts.at(-1)?.outcome ?? 'not tried').replaceAll('_', ' ');
  const figures = `${String(attempts.length).padStart(8)} ${String(turns).padStart(5)} ${seconds.toFixed(1).padStart(5)} s`;
  return `${outcome.padEnd(16)}${attempts.length === 0 ? ''.padEnd(22) : `${figures}  `}`;
}

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

function fix(example, environment, policy) {
  const env = { ...process.env };
  if (environment) env.VIRTUAL_ENV = environment;
  const defaults = chosen < 0 ? ['--policy', policy] : [];
  const limits = [];
  // What cannot be solved by small edits should not hold up what can. One attempt: it tries each edit once, where
  // several would try the likely ones again.
  if (!passed.some((argument) => argument.startsWith('--attempts'))) limits.push('--attempts', '1');
  if (!passed.some((argument) => argument.startsWith('--max-minutes')))
    limits.push('--max-minutes', '1');
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
