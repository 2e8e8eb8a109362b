// Preloaded into the process of one test file: listens to tape's own events and reports them (see
// ../report.ts for the lines) to the runner, which reads descriptor 3.
const path = require('node:path');
const { createRequire } = require('node:module');
const {
  createNames,
  cut,
  failureOf,
  framesOf,
  headOf,
  lock,
  plain,
  relative,
  values,
  write,
} = require('../javascript/report.asset.cjs');

lock();

const entry = process.argv[1] ? path.resolve(process.argv[1]) : '';
const list = process.env.PRIME_TAPE_LIST === '1';
delete process.env.PRIME_TAPE_LIST;
const file = relative(entry);
const name = createNames();
const open = new Map();
let began = false;

const EQUALITY = /^(?:equal|strictEqual|deepEqual|deepLooseEqual|looseEqual|match)$/i;
/** Tape's own messages say no more than the values. */
const GENERATED =
  /^should be (?:strictly equal|deeply equivalent|loosely (?:equal|deeply equivalent)|equal|equivalent)$/;

function failureOfAssert(found) {
  const frames = framesOf(found.error?.stack);
  if (frames.length === 0 && found.file) {
    const [, at, line] = /^(.*?):(\d+)(?::\d+)?$/.exec(found.file) ?? [];
    if (at) frames.push({ file: relative(at), line: Number(line) });
  }
  if (found.actual instanceof Error && !EQUALITY.test(found.operator)) {
    const thrown = failureOf(found.actual);
    return thrown.frames.length > 0 ? thrown : { ...thrown, frames };
  }
  const said = plain(found.name);
  const details = cut(plain(found.error?.stack ?? said), 16_000);
  const compared = EQUALITY.test(found.operator) && 'expected' in found && 'actual' in found;
  const pair = compared ? values(found.expected, found.actual) : {};
  const message = compared && GENERATED.test(said) ? 'Expected values to be equal' : said;
  return { message: cut(message || 'failed without a message'), ...pair, frames, details };
}

/** The line of the test's call, in its own file. */
function lineOfCall() {
  return framesOf(new Error('line').stack).find((frame) => frame.file === file)?.line;
}

function watch(test, names) {
  const full = [...names, plain(test.name)];
  const id = name(`${file}::${full.join(' > ')}`);
  const line = lineOfCall();
  const told = { id, key: id, file, name: full.join(' > '), ...(line && { line }) };
  began = true;
  if (list) {
    test._skip = true;
    write({ type: 'result', ...told, status: 'listed', durationMs: 0 });
    return;
  }
  const state = { told, failure: undefined, started: 0 };
  test.once('prerun', () => {
    open.set(test, state);
    state.started = Date.now();
    write({ type: 'running', ...told });
  });
  test.on('test', (subtest) => watch(subtest, full));
  test.on('result', (found) => {
    if (typeof found === 'string' || found.ok || found.todo || found.skip) return;
    state.failure ??= failureOfAssert(found);
  });
  test.once('end', () => ended(test, state));
}

function ended(test, state) {
  open.delete(test);
  const { told, failure } = state;
  const status = failure ? 'failed' : test._skip ? 'skipped' : test._todo ? 'todo' : 'passed';
  const durationMs = state.started ? Date.now() - state.started : 0;
  write({ type: 'result', ...told, status, durationMs, ...(failure && { failure }) });
}

function loadFailed(error) {
  const stack = plain(error?.stack ?? error);
  const frames = framesOf(stack);
  const head = /^((?:file:\/\/)?\/.*?):(\d+)$/m.exec(stack);
  if (head && !frames.some((frame) => frame.file === file))
    frames.unshift({ file: relative(head[1]), line: Number(head[2]) });
  const message = headOf(stack.replace(/^(?:file:\/\/)?\/.*?:\d+\n[\s\S]*?\n\n/, ''));
  write({ type: 'collectionError', file, message: cut(message, 2_000), frames });
}

try {
  // Asking tape for its harness would start it, before a module with tests has been loaded.
  const Results = require(createRequire(entry).resolve('tape/lib/results'));
  const { push } = Results.prototype;
  Results.prototype.push = function pushAndReport(test) {
    watch(test, []);
    return push.call(this, test);
  };
} catch {
  // No tape here: said by the file itself when it is loaded.
}
process.on('uncaughtExceptionMonitor', (error) => {
  // Both name it: the test that ran, or the file whose code threw while it was loaded.
  const [[test, state] = []] = [...open].slice(-1);
  if (state) {
    state.failure ??= failureOf(error);
    ended(test, state);
  } else if (!began) loadFailed(error);
  else {
    const failure = failureOf(error);
    failure.message = `outside of its tests: ${failure.message}`;
    write({
      type: 'result',
      id: file,
      file,
      name: path.basename(file),
      status: 'error',
      durationMs: 0,
      failure,
    });
  }
  write({ type: 'fileEnd', file });
});
// Before tape's own listener, which comes later and ends the process: what it would say of tests
// without an end.
process.on('exit', () => {
  for (const [test, state] of open) {
    const short = test._plan !== undefined && test.assertCount !== test._plan;
    const message = short
      ? `plan != count: ${test._plan} assertions were planned, ${test.assertCount} were made`
      : 'the process ended before this test did (no t.end()?)';
    const { line } = state.told;
    state.failure ??= { message, frames: line ? [{ file, line }] : [], details: message };
    ended(test, state);
  }
  write({ type: 'fileEnd', file });
});
