// How failures of node:test are told: message, values, frames. Paths are relative to the project's
// folder. Rehearsals tell failures with it, too.
const {
  MAX_FRAMES,
  MAX_TEXT,
  createRelative,
  cut,
  shown,
  values,
} = require('../javascript/tell.asset.cjs');

function framesIn(relative, stack) {
  const frames = [];
  for (const line of String(stack ?? '').split('\n')) {
    const match =
      /^\s+at (?:async )?(?:(.*?) \()?((?:file:\/\/)?\/[^()]*?|[A-Za-z]:\\[^()]*?):(\d+):(\d+)\)?$/.exec(
        line,
      );
    if (!match) continue;
    const name = match[1]?.replace(/^new /, '').replace(/ \[as .*\]$/, '');
    const anonymous =
      !name ||
      name.includes('<anonymous>') ||
      /^(?:TestContext|Test|Suite|SuiteContext)\b/.test(name);
    frames.push({
      file: relative(match[2]),
      line: Number(match[3]),
      column: Number(match[4]),
      ...(anonymous ? {} : { function: name.replace(/^(?:Object|Module|Function)\./, '') }),
    });
    if (frames.length >= MAX_FRAMES) break;
  }
  return frames;
}

function comparison(error) {
  const comparable =
    error.code === 'ERR_ASSERTION' ||
    ('expected' in error && 'actual' in error && /Assert/i.test(String(error.name)));
  if (!comparable || !('expected' in error) || !('actual' in error)) return {};
  const operator = String(error.operator ?? '');
  if (/^(?:not|doesNot|ifError|fail|throws|rejects)/.test(operator)) return {};
  return values(error.expected, error.actual);
}

function messageOf(error) {
  const text = String(error.message ?? '').replace(/\n+\+ actual - expected[\s\S]*$/, '');
  if (error.code === 'ERR_ASSERTION') {
    // Node 20 has `1 == 2` here, later versions say it in words.
    const loose =
      error.operator === '==' && / == /.test(text) && !text.startsWith('The expression');
    if (error.generatedMessage && loose) return 'Expected values to be loosely equal';
    if (error.generatedMessage)
      return text
        .replace(/:?(?:\n\n?|$)[\s\S]*$/, (rest) => (/^:?\n\n? *assert/.test(rest) ? rest : ''))
        .trim();
    return text.trim();
  }
  const name = error.name ?? 'Error';
  return text === '' ? name : `${name}: ${text}`;
}

// Errors with functions in their values reach the runner only as the text of their inspection.
function readInspected(text) {
  const head = /^([\w$]*(?:Error|Exception))(?: \[(\w+)\])?(?:: ([\s\S]*?))?(?=\n\s+at |$)/.exec(
    text,
  );
  if (!head) return undefined;
  const [, name, code, message = ''] = head;
  const values = /\n {2}actual: ([\s\S]*?),\n {2}expected: ([\s\S]*?),\n {2}operator: '(\w+)'/.exec(
    text,
  );
  const error = {
    name,
    code,
    message,
    stack: text,
    generatedMessage: /\n {2}generatedMessage: true/.test(text),
  };
  if (!values || /^(?:not|doesNot|ifError|fail|throws|rejects)/.test(values[3]))
    return { error, values: {} };
  const [actual, expected] = [values[1], values[2]].map((value) => value.replace(/\n {2}/g, '\n'));
  if (!/^\[(?:Object|Array)/.test(actual) && !/^\[(?:Object|Array)/.test(expected)) {
    return { error, values: { expected: cut(expected), actual: cut(actual) } };
  }
  return { error, values: fromDiff(message) ?? {} };
}

// The two values out of the assertion's own diff: `+` lines are actual, `-` lines expected.
function fromDiff(message) {
  const diff = /\+ actual - expected[^\n]*\n(?:[^\n]+\n)?\n([\s\S]*)$/.exec(message)?.[1];
  if (diff === undefined) return undefined;
  const lines = diff.replace(/\n+$/, '').split('\n');
  const side = (other) =>
    cut(
      lines
        .filter((line) => line[0] !== other)
        .map((line) => line.slice(2))
        .join('\n'),
    );
  return { expected: side('+'), actual: side('-') };
}

function failureFrom(framesOf, error) {
  const cause = error?.cause ?? error;
  const outer = String(error?.message ?? '');
  if (cause === null || (typeof cause !== 'object' && typeof cause !== 'function')) {
    const thrown =
      cause === undefined ? outer : typeof cause === 'string' ? cause : `thrown: ${shown(cause)}`;
    return {
      message: cut(thrown || 'failed without an error'),
      frames: [],
      details: cut(outer, MAX_TEXT),
    };
  }
  const own = cause === error && error?.code === 'ERR_TEST_FAILURE';
  const isError = 'message' in cause || 'stack' in cause;
  const read = isError ? undefined : readInspected(shown(cause));
  if (read) {
    return {
      message: cut(messageOf(read.error)),
      ...read.values,
      frames: framesOf(read.error.stack),
      details: cut(read.error.stack, 2 * MAX_TEXT),
    };
  }
  const prefix = error?.failureType === 'hookFailed' && !own ? `${outer.replace(/\.$/, '')}: ` : '';
  return {
    message: cut(prefix + (own ? outer : isError ? messageOf(cause) : `thrown: ${shown(cause)}`)),
    ...(own ? {} : comparison(cause)),
    frames: own ? [] : framesOf(cause.stack),
    details: cut(own ? outer : String(cause.stack ?? shown(cause)), 2 * MAX_TEXT),
  };
}

/** Tells of paths, frames and failures as seen from the folder `here`. */
function createTeller(here) {
  const relative = createRelative(here);
  const framesOf = (stack) => framesIn(relative, stack);
  const failureOf = (error) => failureFrom(framesOf, error);
  return { relative, framesOf, failureOf };
}

module.exports = { createTeller };
