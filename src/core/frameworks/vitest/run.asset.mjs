// Runs vitest through its programming interface with a reporter of our own (see ../report.ts for the
// lines). Argument: JSON {tests: string[], list: boolean, args: string[]}, args of the test script.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import choice from '../javascript/choice.asset.cjs';
import shared from '../javascript/report.asset.cjs';

const {
  createNames,
  cut,
  framesOf,
  headOf,
  isGenerated,
  messageOf,
  plain,
  relative,
  values,
  write,
} = shared;
const { tests, list, args } = JSON.parse(process.argv[2]);
shared.lock();

function stop(error) {
  const text = plain(error?.message ?? error)
    .trim()
    .split('\n')
    .slice(0, 3)
    .join(' ');
  process.stderr.write(`prime-agent: vitest could not start: ${text}\n`);
  process.exit(1);
}

// --- failures --------------------------------------------------------------------------------

/** Vitest has made text of the values; where the two look the same, its message says more. */
function compared(error) {
  const { expected, actual } = error;
  if (typeof expected !== 'string' || typeof actual !== 'string' || expected === actual) return {};
  if (error.showDiff === false || typeof error.diff !== 'string' || error.diff === '') return {};
  if (/^expected .* not to /.test(plain(error.message))) return {};
  return values(plain(expected), plain(actual));
}

function failureOf(error, prefix = '') {
  const pair = compared(error);
  // What was thrown may be no error: then there is no name.
  const text = error.name ? messageOf(error) : plain(error.message);
  const generated = pair.expected !== undefined && isGenerated(text);
  return {
    message: cut(prefix + (generated ? 'Expected values to be equal' : text)),
    ...pair,
    frames: framesOf(error.stack),
    details: cut([plain(error.stack), plain(error.diff)].filter(Boolean).join('\n\n'), 16_000),
  };
}

const nothingSaid = { name: 'Error', message: 'failed without an error', stack: '' };

// --- reporter --------------------------------------------------------------------------------

const ids = new Map();
const openModules = new Map();
const running = new Map();
const fileWithResult = new Set();
let emitted = 0;

const fileOf = (module) => relative(module.moduleId);

function namesOf(entity) {
  const names = [entity.name];
  for (let up = entity.parent; up && up.type !== 'module'; up = up.parent) names.unshift(up.name);
  return names;
}

/** Numbered in the order of the file, not of ending: tests may run at the same time. */
function number(module) {
  const file = fileOf(module);
  const name = createNames();
  for (const test of module.children.allTests()) {
    if (!ids.has(test.id)) ids.set(test.id, name(`${file}::${namesOf(test).join(' > ')}`));
  }
}

function describe(test) {
  const file = fileOf(test.module);
  if (!ids.has(test.id)) number(test.module);
  return {
    id: ids.get(test.id),
    key: test.id,
    file,
    name: namesOf(test).join(' > '),
    ...(test.location?.line ? { line: test.location.line } : {}),
  };
}

function result(test) {
  const { state, errors = [] } = test.result();
  const base = { type: 'result', ...describe(test), durationMs: test.diagnostic()?.duration ?? 0 };
  emitted += 1;
  if (list) return write({ ...base, status: 'listed' });
  if (state === 'failed')
    return write({ ...base, status: 'failed', failure: failureOf(errors[0] ?? nothingSaid) });
  const todo = test.options?.mode === 'todo';
  const status = state === 'passed' ? 'passed' : todo ? 'todo' : 'skipped';
  return write({ ...base, status });
}

function fileError(file, error, prefix = '') {
  if (fileWithResult.has(file)) return;
  fileWithResult.add(file);
  emitted += 1;
  const failure = failureOf(error, prefix);
  const base = { type: 'result', id: file, file, name: path.basename(file), durationMs: 0 };
  write({ ...base, status: 'error', failure });
}

/** What vite's parsers say, as one line and a place: `[PARSE_ERROR] …╭─[ a.ts:3:11 ]`, `a.ts:3:10: ERROR: …`. */
function loadError(error) {
  const text = plain(error.message);
  const frames = framesOf(error.stack);
  const drawn = /\[(?:PARSE_ERROR|[A-Z_]+)\] ([^\n]+)\n[\s\S]*?\[ ?([^\n:]+):(\d+):\d+ ?\]/.exec(
    text,
  );
  const lined = /(?:^|\n)(\S[^\n:]*):(\d+):\d+: ERROR: ([^\n]+)/.exec(text);
  const file = drawn?.[2] ?? lined?.[1] ?? error.id ?? error.loc?.file;
  const line = Number(drawn?.[3] ?? lined?.[2] ?? error.loc?.line ?? 0);
  if (typeof file === 'string' && line > 0) frames.unshift({ file: relative(file), line });
  const found = drawn?.[1] ?? lined?.[3];
  const whole = error.name ? messageOf(error) : text;
  return { message: cut(found ? `SyntaxError: ${found}` : headOf(whole), 2_000), frames };
}

function moduleEnded(module) {
  const file = fileOf(module);
  openModules.delete(file);
  for (const suite of module.children.allSuites()) {
    const [error] = suite.errors();
    if (!error) continue;
    const name = namesOf(suite).join(' > ');
    const base = { type: 'result', id: `${file}::${name}`, file, name, durationMs: 0 };
    write({ ...base, status: 'error', failure: failureOf(error, 'in a hook: ') });
  }
  const errors = module.errors();
  if (errors.length > 0) {
    const [error] = errors;
    // Hooks of the file fail after its tests were collected.
    if (module.children.size > 0) fileError(file, error, 'in a hook of the file: ');
    else {
      emitted += 1;
      write({
        type: 'collectionError',
        file,
        ...loadError(error),
      });
    }
  } else if (module.children.size === 0 && module.state() !== 'skipped') {
    write({ type: 'collectionError', file, message: 'no test was found in it', frames: [] });
  }
  write({ type: 'fileEnd', file });
}

let version = '';
const reporter = {
  onTestModuleQueued(module) {
    openModules.set(fileOf(module), module);
  },
  onTestModuleStart(module) {
    const file = fileOf(module);
    write({ type: 'running', id: file, key: file, file, name: path.basename(file) });
  },
  onTestModuleCollected: number,
  onTestCaseReady(test) {
    running.set(test.id, test);
    write({ type: 'running', ...describe(test) });
  },
  onTestCaseResult(test) {
    running.delete(test.id);
    result(test);
  },
  onTestModuleEnd: moduleEnded,
  onTestRunEnd(_, unhandled = []) {
    // A worker that died takes its tests along: those that ran are named, then the file.
    const [first] = unhandled;
    const cause = first
      ? headOf(first.cause?.message ?? first.message)
      : 'the worker of this file ended early';
    const broken = { name: 'Error', message: cause, stack: '' };
    for (const test of running.values()) {
      const failure = failureOf(broken, 'the test process ended while this test ran: ');
      write({ type: 'result', ...describe(test), durationMs: 0, status: 'error', failure });
    }
    for (const file of openModules.keys())
      fileError(file, broken, 'the process of this file ended before its tests did: ');
    for (const error of unhandled) {
      const file = error.VITEST_TEST_PATH && relative(error.VITEST_TEST_PATH);
      if (file) fileError(file, error, 'outside of its tests: ');
      else if (emitted === 0) stop(error);
    }
  },
  // Before version 3 there is only this.
  onFinished(files = []) {
    for (const file of files) if (!ids.has(file.id)) oldFile(file);
  },
};

function oldFile(file) {
  ids.set(file.id, file.name);
  const name = createNames();
  const path_ = relative(file.filepath);
  let count = 0;
  const visit = (task, names) => {
    if (task.type === 'suite') {
      for (const child of task.tasks) visit(child, [...names, task.name]);
      const [error] = task.result?.errors ?? [];
      if (!error) return;
      const full = [...names, task.name].join(' > ');
      const base = {
        type: 'result',
        id: `${path_}::${full}`,
        file: path_,
        name: full,
        durationMs: 0,
      };
      write({ ...base, status: 'error', failure: failureOf(error, 'in a hook: ') });
      return;
    }
    count += 1;
    emitted += 1;
    const full = [...names, task.name].join(' > ');
    const state = task.result?.state;
    const failed = state === 'fail';
    const status = failed
      ? 'failed'
      : state === 'pass'
        ? 'passed'
        : task.mode === 'todo'
          ? 'todo'
          : 'skipped';
    write({
      type: 'result',
      id: name(`${path_}::${full}`),
      file: path_,
      name: full,
      ...(task.location?.line ? { line: task.location.line } : {}),
      durationMs: task.result?.duration ?? 0,
      status: list ? 'listed' : status,
      ...(failed && !list ? { failure: failureOf(task.result.errors?.[0] ?? nothingSaid) } : {}),
    });
  };
  for (const task of file.tasks) visit(task, []);
  const [error] = file.result?.errors ?? [];
  if (!error) return;
  emitted += 1;
  if (count > 0) fileError(path_, error, 'in a hook of the file: ');
  else
    write({
      type: 'collectionError',
      file: path_,
      ...loadError(error),
    });
}

// --- run -------------------------------------------------------------------------------------

const { files, pattern, everything } = choice.readChoice(tests, list);

function optionsOfScript(parseCLI) {
  if (!parseCLI || args.length === 0) return { filter: [], options: {} };
  const words = args.filter((word) => !/^(?:run|watch|dev|related|bench)$/.test(word));
  try {
    return parseCLI(['vitest', 'run', ...words]);
  } catch {
    return { filter: [], options: {} };
  }
}

async function main() {
  let vitest;
  try {
    vitest = await import(pathToFileURL(choice.resolveFrom('vitest/node')).href);
    version = choice.packageFile('vitest');
  } catch (error) {
    stop(error);
  }
  write({ type: 'start', runner: 'vitest', version: vitest.version ?? version });
  if (!everything && files.length === 0) {
    write({ type: 'end' });
    process.exit(1);
  }
  const script = optionsOfScript(vitest.parseCLI);
  const filter = everything ? script.filter : files;
  const { coverage: _, reporters: __, reporter: ___, ...kept } = script.options;
  const options = {
    ...kept,
    run: true,
    watch: false,
    ui: false,
    open: false,
    bail: 0,
    shard: undefined,
    changed: undefined,
    update: false,
    cache: false,
    includeTaskLocation: true,
    passWithNoTests: true,
    coverage: { enabled: false },
    typecheck: { enabled: false },
    reporters: [reporter, 'default'],
    outputFile: undefined,
    ...(list ? { testNamePattern: choice.NOTHING } : pattern ? { testNamePattern: pattern } : {}),
  };
  const context = await vitest.startVitest('test', filter, options);
  const failed = context === undefined || process.exitCode ? 1 : 0;
  // Left behind by a configuration that could not be loaded: nothing was reported.
  if (context === undefined) process.exit(1);
  write({ type: 'end' });
  // Servers that a project leaves open must not hold the run.
  const patience = setTimeout(() => process.exit(failed), 10_000);
  await context.close().catch(() => {});
  clearTimeout(patience);
  process.exit(failed);
}

main().catch(stop);
