// Starts `node --test` as the project does: reads package.json for flags and files, chooses how
// TypeScript is loaded, and repeats a file without a name pattern where the pattern did not reach
// the chosen tests. Argument: JSON {tests: string[], list: boolean}, ids relative to the working
// directory. Reports go to descriptor 3 (closed to test processes), the log to stdout.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { globToRegExp, walk } from '../javascript/files.asset.mjs';
import { leadingVariables, projectPlan, runBuild } from '../javascript/scripts.asset.mjs';
import seal from '../javascript/seal.asset.cjs';

const REPORT_FD = 3;
const MAX_PATTERNS = 200;
const here = process.cwd();
const toolbox = path.dirname(fileURLToPath(import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const request = JSON.parse(process.argv[2] ?? '{"tests":[],"list":false}');

// First of all: build steps may run code of the project.
const reportLine = seal.createWriter(REPORT_FD, seal.takeKey());

function stop(message) {
  process.stderr.write(`prime-agent: ${message}\n`);
  process.exit(1);
}

// --- what package.json says ------------------------------------------------------------------

const WITH_VALUE = new Set([
  '--import',
  '--require',
  '-r',
  '--conditions',
  '-C',
  '--loader',
  '--experimental-loader',
  '--env-file',
  '--env-file-if-exists',
  '--disable-warning',
  '--test-concurrency',
  '--test-timeout',
  '--test-global-setup',
  '--stack-trace-limit',
  '--max-old-space-size',
  '--tsconfig',
]);
const DROPPED_VALUE = new Set([
  '--test-reporter',
  '--test-reporter-destination',
  '--test-name-pattern',
  '--test-skip-pattern',
  '--test-shard',
  '--test-isolation',
  '--experimental-test-isolation',
  '--test-coverage-include',
  '--test-coverage-exclude',
]);
const CARRIED =
  /^(?:--import|--require|-r|--conditions|-C|--loader|--experimental-|--no-experimental-|--env-file|--no-warnings|--disable-warning|--enable-source-maps|--expose|--allow-natives|--harmony|--preserve-symlinks|--test-concurrency|--test-timeout|--test-global-setup|--test-force-exit|--stack|--max-|--jitless|--trace-|--unhandled-rejections|--frozen-intrinsics|--no-strip-types)/;
const NEVER = /^--experimental-test-(?:coverage|isolation)/;

function readNodeTest(words) {
  const { env, index } = leadingVariables(words);
  // c8, nyc and the like in front of node measure coverage only.
  const start = words.findIndex(
    (word, at) => at >= index && /^(?:node|nodejs|tsx|.*\/node)$/.test(word),
  );
  if (start < 0 || !words.slice(start).includes('--test')) return undefined;
  const flags = words[start] === 'tsx' ? ['--import', 'tsx'] : [];
  const patterns = [];
  for (let at = start + 1; at < words.length; at += 1) {
    const word = words[at];
    if (word === '--') continue;
    if (!word.startsWith('-')) patterns.push(word);
    else {
      const takesNext = !word.includes('=') && (WITH_VALUE.has(word) || DROPPED_VALUE.has(word));
      if (CARRIED.test(word) && !NEVER.test(word) && !DROPPED_VALUE.has(word))
        flags.push(word, ...(takesNext ? [words[at + 1]] : []));
      if (takesNext) at += 1;
    }
  }
  return { env, flags, patterns };
}

// --- which files -----------------------------------------------------------------------------

const SCRIPT = /\.(?:[cm]?js|[cm]?ts)$/;
const TYPESCRIPT = /\.(?:[cm]?ts|tsx)$/;

const defaults = (name, typescript) =>
  SCRIPT.test(name) &&
  (typescript || !TYPESCRIPT.test(name)) &&
  !/\.d\.[cm]?ts$/.test(name) &&
  (/(?:^|\/)test\//.test(name) ||
    /(?:^|\/)(?:test|test-[^/]*|[^/]*[._-]test)\.[cm]?[jt]s$/.test(name));

function expand(patterns, typescript) {
  const found = new Set();
  for (const raw of patterns) {
    const pattern = path.posix.normalize(raw).replace(/\/$/, '');
    const stat = fs.statSync(path.join(here, pattern), { throwIfNoEntry: false });
    if (stat?.isFile()) found.add(pattern);
    else if (stat?.isDirectory())
      walk(
        pattern === '.' ? '' : pattern,
        (name) =>
          SCRIPT.test(name) && (pattern !== '.' || defaults(name, typescript)) && found.add(name),
      );
    else {
      const matcher = globToRegExp(pattern);
      walk('', (name) => matcher.test(name) && found.add(name));
    }
  }
  return [...found];
}

function typeScriptFlags(files, flags) {
  if (!files.some((file) => TYPESCRIPT.test(file))) return [];
  if (
    flags.some(
      (flag, index) =>
        /^--(?:import|require|loader|experimental-loader|experimental-strip-types|experimental-transform-types)/.test(
          flag,
        ) ||
        (flag === '-r' && flags[index + 1]),
    )
  )
    return [];
  if (hasTsx()) return ['--import', 'tsx'];
  if (process.features.typescript) return [];
  if (major > 22 || (major === 22 && minor >= 6)) return ['--experimental-strip-types'];
  return undefined;
}

function hasTsx() {
  try {
    createRequire(path.join(here, 'package.json')).resolve('tsx');
    return true;
  } catch {
    return false;
  }
}

// --- running ---------------------------------------------------------------------------------

const escapeRegExp = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

// Node 22 and later match the full name (ancestors joined by blanks), Node 20 the test's own name.
// A name may itself hold ` > `, so both readings are allowed; results are filtered afterwards.
function patternFor(name) {
  const segments = name.replace(/ #\d+$/, '(?: #\\d+)?').split(' > ');
  const optionalNumber = / #\d+$/.test(name) ? name : undefined;
  const escaped = (optionalNumber ? name.replace(/ #\d+$/, '') : name)
    .split(' > ')
    .map(escapeRegExp);
  const tail = optionalNumber ? `(?:${escapeRegExp(/ #\d+$/.exec(name)[0])})?` : '';
  const full = escaped.join('(?: | > )');
  if (major >= 22) return `^${full}${tail}$`;
  const own = segments.map((_, index) => escaped.slice(index).join(' > '));
  return `^(?:${own.join('|')})${tail}$`;
}

const fileArgument = (file) => (major >= 21 ? file.replace(/[\\*?[\]{}()!+@]/g, '\\$&') : file);

let complete = true;

function runTests(plan, files, names, onLine) {
  const args = [
    ...plan.flags,
    ...(request.list ? ['--import', path.join(toolbox, 'list.mjs')] : []),
    '--test',
    ...names.map((name) => `--test-name-pattern=${patternFor(name)}`),
    `--test-reporter=${path.join(toolbox, 'reporter.mjs')}`,
    '--test-reporter-destination=stderr',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    ...files.map(fileArgument),
  ];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: here,
      env: { ...process.env, ...plan.env },
      stdio: ['pipe', 'inherit', 'inherit', 'pipe'],
    });
    const key = seal.newKey();
    const read = seal.createReader(key);
    child.stdin.on('error', () => {});
    child.stdin.end(key);
    let rest = '';
    let ended = false;
    child.stdio[3].on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) {
        const line = read(Buffer.from(text, 'latin1').toString('utf8'));
        if (line === undefined) {
          // Not of the reporter: passed on without a seal, and seen to be foreign by who reads it.
          fs.writeSync(REPORT_FD, `foreign ${text}\n`);
          continue;
        }
        if (line.type === 'runnerEnd') ended = true;
        else reportLine(line);
        onLine(line);
      }
    });
    child.on('error', (error) => stop(`node could not be started: ${error.message}`));
    child.on('close', (code, signal) => {
      if (!ended) complete = false;
      resolve(
        signal ? 128 + (signal === 'SIGSEGV' ? 11 : signal === 'SIGABRT' ? 6 : 9) : (code ?? 1),
      );
    });
  });
}

async function main() {
  const plan = projectPlan(here, readNodeTest) ?? { env: {}, flags: [], patterns: [], before: [] };
  const whole = new Set();
  const named = new Map();
  for (const id of request.tests) {
    const at = id.indexOf('::');
    if (at < 0) whole.add(id);
    else {
      const file = id.slice(0, at);
      named.set(file, [...(named.get(file) ?? []), id.slice(at + 2)]);
    }
  }
  const failed = runBuild(here, plan.before);
  if (failed !== undefined) stop(`the build step of the test script failed: ${failed}`);
  const typescript = hasTsx() || Boolean(process.features.typescript) || plan.flags.length > 0;
  if (request.tests.length === 0) {
    const files = plan.patterns.length > 0 ? expand(plan.patterns, typescript) : [];
    if (plan.patterns.length === 0) {
      walk('', (name) => defaults(name, typescript) && files.push(name));
      // Only TypeScript is there: its own message says what is missing.
      if (files.length === 0) walk('', (name) => defaults(name, true) && files.push(name));
    }
    for (const file of files) whole.add(file);
  } else {
    // A folder stands for its test files.
    for (const entry of [...whole]) {
      if (!fs.statSync(path.join(here, entry), { throwIfNoEntry: false })?.isDirectory()) continue;
      whole.delete(entry);
      walk(
        entry,
        (name) =>
          (defaults(name, true) || /[._-](?:test|spec)\./.test(name)) &&
          SCRIPT.test(name) &&
          whole.add(name),
      );
    }
  }
  for (const file of [...whole, ...named.keys()]) {
    if (fs.existsSync(path.join(here, file))) continue;
    whole.delete(file);
    named.delete(file);
    reportLine({ type: 'collectionError', file, message: 'there is no such file', frames: [] });
  }
  for (const file of whole) named.delete(file);
  const chosen = [...named.values()].flat();
  if (chosen.length > MAX_PATTERNS || request.list) {
    for (const file of named.keys()) whole.add(file);
    named.clear();
  }
  const all = [...whole, ...named.keys()];
  if (all.length === 0) {
    process.stderr.write('prime-agent: no test files were found\n');
    reportLine({ type: 'end' });
    process.exit(1);
  }
  const loader = typeScriptFlags(all, plan.flags);
  if (loader === undefined) {
    stop(
      `TypeScript tests cannot run: the project has no tsx, and Node ${process.versions.node} does not read TypeScript (22.6 and later do). Install tsx (npm install --save-dev tsx) or use a newer Node.`,
    );
  }
  plan.flags.push(...loader);

  let exitCode = 0;
  const repeat = new Set();
  if (named.size > 0) {
    const seen = new Set();
    const filtered = [];
    const broken = new Set();
    exitCode = await runTests(plan, [...named.keys()], [...named.values()].flat(), (line) => {
      if (line.type === 'collectionError' || (line.type === 'result' && line.id === line.file))
        broken.add(line.file);
      else if (line.type === 'result' && line.status === 'filtered') filtered.push(line.id);
      else if (line.type === 'result') seen.add(line.id);
    });
    for (const [file, names] of named) {
      const reached = names.every((name) => {
        const id = `${file}::${name}`;
        const known = seen.has(id) || [...seen].some((other) => other.startsWith(`${id} > `));
        return known && !filtered.some((other) => other.startsWith(`${id} > `));
      });
      if (!reached && !broken.has(file)) repeat.add(file);
    }
    for (const file of repeat) reportLine({ type: 'discard', file });
  }
  const rest = [...whole, ...repeat];
  if (rest.length > 0) exitCode = Math.max(exitCode, await runTests(plan, rest, [], () => {}));
  if (complete) reportLine({ type: 'end' });
  process.exit(exitCode);
}

await main();
