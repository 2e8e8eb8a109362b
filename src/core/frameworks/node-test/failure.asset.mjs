// How failures of node:test are told: message, values, frames. Paths are relative to the project's
// folder. Imports nothing of ours: a rehearsal loads this text as a module of its own.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

export const MAX_TEXT = 8_000;
const MAX_FRAMES = 40;

export const cut = (text, limit = MAX_TEXT) =>
  text.length > limit
    ? `${text.slice(0, limit)} … (${text.length - limit} characters left out)`
    : text;

// The workspace may be visible at a second path (bind mounts): the same file under another name.
function relativeTo(here, file) {
  let plain = file;
  if (plain.startsWith('file://')) {
    try {
      plain = fileURLToPath(plain);
    } catch {
      return file;
    }
  }
  plain = path.resolve(here, plain.replace(/\?.*$/, ''));
  const direct = path.relative(here, plain);
  if (!direct.startsWith('..')) return direct;
  try {
    const { dev, ino } = fs.statSync(plain);
    const parts = plain.split(path.sep);
    for (let index = 1; index < parts.length; index += 1) {
      const candidate = parts.slice(index).join(path.sep);
      const found = fs.statSync(path.join(here, candidate), { throwIfNoEntry: false });
      if (found && found.dev === dev && found.ino === ino) return candidate;
    }
  } catch {
    // Not a file of this machine: a frame of the runtime.
  }
  return direct;
}

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

const shown = (value) =>
  inspect(value, {
    depth: 6,
    maxArrayLength: 50,
    maxStringLength: 2_000,
    sorted: false,
    breakLength: 80,
  });

// Strings read best without quotes; where that would make two different values look alike, both keep them.
function comparison(error) {
  const comparable =
    error.code === 'ERR_ASSERTION' ||
    ('expected' in error && 'actual' in error && /Assert/i.test(String(error.name)));
  if (!comparable || !('expected' in error) || !('actual' in error)) return {};
  const operator = String(error.operator ?? '');
  if (/^(?:not|doesNot|ifError|fail|throws|rejects)/.test(operator)) return {};
  const { expected, actual } = error;
  const plain = (value) => (typeof value === 'string' ? value : shown(value));
  let pair = [plain(expected), plain(actual)];
  if (pair[0] === pair[1] || pair.includes('')) pair = [shown(expected), shown(actual)];
  return { expected: cut(pair[0]), actual: cut(pair[1]) };
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
export function createTeller(here) {
  const relative = (file) => relativeTo(here, file);
  const framesOf = (stack) => framesIn(relative, stack);
  const failureOf = (error) => failureFrom(framesOf, error);
  return { relative, framesOf, failureOf };
}
