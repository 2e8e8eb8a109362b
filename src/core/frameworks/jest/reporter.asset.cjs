// Reporter for jest (see ../report.ts for the lines). It lives in jest's main process; tests run in
// workers, which do not have the descriptor of the report.
const path = require('node:path');
const {
  createNames,
  cut,
  framesOf,
  headOf,
  plain,
  relative,
  values,
  write,
} = require('../javascript/report.asset.cjs');

const EQUALITY = /^to(?:Be|Equal|StrictEqual)$/;

/** Of node's assertions jest leaves its own words: the values, each indented. */
function readAssertion(text) {
  const found =
    /^assert[^\n]*\n\nExpected value to [^\n]*equal to:\n([\s\S]*?)\nReceived:\n([\s\S]*?)(?:\n\n|$)/.exec(
      text,
    );
  if (!found) return undefined;
  const [expected, actual] = [found[1], found[2]].map((value) => value.replace(/^ {2}/gm, ''));
  return expected === actual ? undefined : { expected: cut(expected), actual: cut(actual) };
}

/** Jest's matchers say what they compared. */
function failure(detail, text) {
  const error = detail && typeof detail === 'object' ? (detail.error ?? detail) : undefined;
  const matcher = error?.matcherResult ?? detail?.matcherResult;
  const stack = plain(text);
  const base = { frames: framesOf(stack), details: cut(stack, 16_000) };
  if (matcher) {
    const compared = EQUALITY.test(matcher.name) && matcher.pass === false && 'expected' in matcher;
    const pair = compared ? values(matcher.expected, matcher.actual) : {};
    const message = compared
      ? 'Expected values to be equal'
      : headOf(stack).replace(/^Error: /, '');
    return { ...base, message: cut(message), ...pair };
  }
  const asserted = readAssertion(headOf(stack));
  if (asserted) return { ...base, message: 'Expected values to be equal', ...asserted };
  return { ...base, message: cut(headOf(stack) || 'failed without an error') };
}

const STATUS = { passed: 'passed', failed: 'failed', todo: 'todo' };

class PrimeReporter {
  constructor() {
    this.list = process.env.PRIME_JEST_LIST === '1';
    this.files = new Map();
  }

  names(file) {
    const known = this.files.get(file) ?? {
      name: createNames(),
      /** How often a name was told by an event. */
      told: new Map(),
      running: undefined,
    };
    this.files.set(file, known);
    return known;
  }

  describe(file, { ancestorTitles, title, location, fullName }, number = false) {
    const names = [...ancestorTitles, title].join(' > ') || fullName;
    const plainId = `${file}::${names}`;
    const id = number ? this.names(file).name(plainId) : plainId;
    const line = location?.line;
    return { id, key: plainId, file, name: names, ...(line && { line }) };
  }

  onTestFileStart(test) {
    const file = relative(test.path);
    write({ type: 'running', id: file, key: file, file, name: path.basename(file) });
  }

  onTestCaseStart(test, started) {
    const file = relative(test.path);
    const line = { type: 'running', ...this.describe(file, started) };
    this.names(file).running = line;
    write(line);
  }

  onTestCaseResult(test, result) {
    const file = relative(test.path);
    const known = this.names(file);
    const { key } = this.describe(file, result);
    // Jest may tell the start of the next test before the end of this one.
    if (known.running?.key === key) known.running = undefined;
    known.told.set(key, (known.told.get(key) ?? 0) + 1);
    this.result(file, result);
  }

  result(file, result) {
    const base = {
      type: 'result',
      ...this.describe(file, result, true),
      durationMs: Math.max(0, result.duration ?? 0),
    };
    const isFailure = result.status === 'failed';
    const status = this.list ? 'listed' : (STATUS[result.status] ?? 'skipped');
    const [text = ''] = result.failureMessages ?? [];
    const [detail] = result.failureDetails ?? [];
    write({ ...base, status, ...(isFailure && !this.list && { failure: failure(detail, text) }) });
  }

  onTestFileResult(test, found) {
    const file = relative(found.testFilePath ?? test.path);
    const known = this.names(file);
    const error = found.testExecError;
    if (error) this.fileError(file, known, error, found);
    else {
      // Skipped tests have no event, and some runners (jasmine) none at all.
      for (const result of found.testResults ?? []) {
        const { key } = this.describe(file, result);
        const told = known.told.get(key) ?? 0;
        if (told > 0) known.told.set(key, told - 1);
        else this.result(file, result);
      }
    }
    write({ type: 'fileEnd', file });
  }

  fileError(file, known, error, found) {
    const text = plain(error.stack ?? error.message ?? error);
    const message = plain(error.message ?? error)
      .replace(/ \(pid=\d+\)/, '')
      .trim();
    const died =
      /worker process .* (?:terminated|crashed)|child process exceptions|ran out of memory/i;
    if (died.test(text)) {
      const { running } = known;
      const what = running ? 'test' : 'file';
      const says = `the test process ended while this ${what} ran: ${message.split('\n')[0]}`;
      const base = { id: file, key: file, file, name: path.basename(file), ...running };
      const broken = { message: cut(says), frames: [], details: cut(text) };
      write({ ...base, type: 'result', status: 'error', durationMs: 0, failure: broken });
      return;
    }
    const frames = framesOf(text);
    const parsed = /(\/[^\s:()]+|\b[\w./-]+\.[cm]?[jt]sx?): .*?\((\d+):\d+\)/.exec(text);
    const head = /^((?:file:\/\/)?\/.*?):(\d+)$/m.exec(text);
    const at = parsed ?? head;
    if (at && !frames.some((frame) => frame.file === file))
      frames.unshift({ file: relative(at[1]), line: Number(at[2]) });
    write({ type: 'collectionError', file, message: cut(loadMessage(text, found), 2_000), frames });
  }

  onRunComplete() {
    write({ type: 'end' });
  }
}

/** Jest surrounds what a parser says with advice. */
function loadMessage(text, found) {
  const lines = plain(text)
    .split('\n')
    .map((line) => line.trim());
  const telling = lines.find(
    (line) =>
      /^(?:[A-Z]\w*)?Error: |^Cannot find module /.test(line) && !/Jest failed to parse/.test(line),
  );
  const advice = /Jest encountered an unexpected token/.test(text);
  const details = lines[lines.indexOf('Details:') + 1];
  if (advice) return telling ?? details ?? 'the file cannot be parsed';
  return (
    telling ?? (headOf(text).split('\n').slice(0, 3).join('\n') || plain(found.failureMessage))
  );
}

module.exports = PrimeReporter;
