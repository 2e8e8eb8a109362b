// Reporter for mocha (see ../report.ts for the lines), and what must be in place before test files
// are loaded: lines of tests, and files that cannot be loaded told one by one.
const path = require('node:path');
const {
  createNames,
  cut,
  failureOf,
  framesOf,
  messageOf,
  plain,
  relative,
  write,
} = require('../javascript/report.asset.cjs');

const settings = { list: false, broken: 0 };
let made = false;
const lines = new WeakMap();
const name = createNames();
const ids = new WeakMap();
let lastFile = '';

function fileOf(runnable) {
  for (let at = runnable; at; at = at.parent) if (at.file) return relative(at.file);
  return lastFile;
}

function namesOf(runnable) {
  const names = [];
  for (let at = runnable; at && !at.root; at = at.parent) names.unshift(at.title);
  return names.join(' > ');
}

function describe(test) {
  const file = fileOf(test);
  lastFile = file;
  // A retry is a clone of the test.
  const first = test._retriedTest ?? test;
  const id = ids.get(first) ?? name(`${file}::${namesOf(test)}`);
  ids.set(first, id);
  ids.set(test, id);
  const line = lines.get(first);
  return { id, key: id, file, name: namesOf(test), ...(line && { line }) };
}

const result = (test, rest) =>
  write({ type: 'result', ...describe(test), durationMs: test.duration ?? 0, ...rest });

function hookFailed(hook, error) {
  const failure = failureOf(error);
  failure.message = `in a hook: ${failure.message}`;
  const test = / each" hook/.test(hook.title) ? hook.ctx?.currentTest : undefined;
  if (test) return result(test, { status: 'error', failure });
  const file = fileOf(hook);
  const suite = hook.parent && !hook.parent.root ? namesOf(hook.parent) : '';
  const id = suite ? `${file}::${suite}` : file;
  const base = { type: 'result', id, file, name: suite || path.basename(file), durationMs: 0 };
  return write({ ...base, status: 'error', failure });
}

class PrimeReporter {
  constructor(runner) {
    // Whoever makes a second one wants to hear or say what the first one does.
    if (made) throw new Error('there is a reporter already');
    made = true;
    runner.on('test', (test) => write({ type: 'running', ...describe(test) }));
    runner.on('pass', (test) => {
      // Mocha's dry run lets every test pass.
      result(test, { status: settings.list ? 'listed' : 'passed' });
    });
    runner.on('pending', (test) => {
      // `it.skip` drops the body, so it cannot be told from a test that is only planned.
      result(test, { status: settings.list ? 'listed' : 'skipped' });
    });
    runner.on('fail', (runnable, error) => {
      if (runnable.type === 'hook') return hookFailed(runnable, error);
      if (runnable.parent) return result(runnable, { status: 'failed', failure: failureOf(error) });
      // An error that no test was running for.
      const failure = failureOf(error);
      failure.message = `outside of its tests: ${failure.message}`;
      const base = { id: lastFile, file: lastFile, name: path.basename(lastFile), durationMs: 0 };
      return write({ type: 'result', ...base, status: 'error', failure });
    });
    runner.on('end', () => write({ type: 'end' }));
  }

  done(failures, end) {
    end(failures + settings.broken);
  }
}

/** A syntax error has its place above its message, and no frame of the file. */
function loadFailed(file, error) {
  settings.broken += 1;
  const stack = plain(error?.stack);
  const frames = framesOf(stack);
  const head =
    /^((?:file:\/\/)?\/.*?):(\d+)$/m.exec(stack) ?? /(\/[^\s:()]+):(\d+):\d+/.exec(stack);
  if (head && !frames.some((frame) => frame.file === relative(file)))
    frames.unshift({ file: relative(head[1]), line: Number(head[2]) });
  const isError = typeof error === 'object' && error !== null;
  const message = isError ? messageOf(error).split(/\nRequire stack/)[0] : String(error);
  write({ type: 'collectionError', file: relative(file), message: cut(message, 2_000), frames });
}

function prepare(Mocha) {
  const { addTest } = Mocha.Suite.prototype;
  Mocha.Suite.prototype.addTest = function addTestWithLine(test) {
    const file = test.file ?? this.file;
    const own = file && framesOf(new Error('line').stack).find((at) => at.file === relative(file));
    if (own) lines.set(test, own.line);
    return addTest.call(this, test);
  };
  const { loadFilesAsync } = Mocha.prototype;
  if (!loadFilesAsync) return;
  Mocha.prototype.loadFilesAsync = async function loadEach(options) {
    const { files } = this;
    for (const file of files) {
      this.files = [file];
      try {
        await loadFilesAsync.call(this, options);
      } catch (error) {
        loadFailed(file, error);
        const isHealthy = (part) => part.file !== file;
        this.suite.suites = this.suite.suites.filter(isHealthy);
        this.suite.tests = this.suite.tests.filter(isHealthy);
      }
    }
    this.files = files;
  };
}

module.exports = PrimeReporter;
module.exports.prepare = prepare;
module.exports.settings = settings;
