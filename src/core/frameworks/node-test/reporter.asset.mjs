// Reporter for `node --test`: JSON Lines on descriptor 3 (see ../report.ts for their shape). The
// runner closes that descriptor to the processes of the test files. Paths are relative to the
// working directory, which is the project's folder.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import seal from '../javascript/seal.asset.cjs';

const REPORT_FD = 3;
const MAX_TEXT = 8_000;
const MAX_FRAMES = 40;
const here = process.cwd();
const write = seal.createWriter(REPORT_FD, seal.takeKey());
const patterned = process.execArgv.some((flag) => flag.startsWith('--test-name-pattern'));

const cut = (text, limit = MAX_TEXT) =>
  text.length > limit
    ? `${text.slice(0, limit)} … (${text.length - limit} characters left out)`
    : text;

// The workspace may be visible at a second path (bind mounts): the same file under another name.
function relative(file) {
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

function framesOf(stack) {
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

function failureOf(error) {
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

const stderrTails = new Map();
const filesWithTests = new Set();
const seen = new Map();
const lateErrors = [];

function looksLikeTests(file) {
  try {
    const text = fs.readFileSync(path.resolve(here, file), 'utf8');
    return (
      /['"](?:node:)?test['"]/.test(text) &&
      /\b(?:test|it|describe|suite)(?:\.\w+)?\s*\(/.test(text)
    );
  } catch {
    return false;
  }
}

const isNamedTest = (file) =>
  /(?:[._-]test|^test|\/test)\.[cm]?[jt]sx?$|(?:^|\/)test-[^/]*$/.test(file);

// The first lines of what Node prints for an error that nothing caught.
function readCrash(text) {
  const lines = text.split('\n');
  const at = lines.findIndex((line) =>
    /^\s*(?:Uncaught )?[A-Za-z]*(?:Error|Exception)\b(?: \[[^\]]*\])?/.test(line),
  );
  if (at < 0)
    return {
      message: lines
        .filter((line) => line.trim() !== '')
        .slice(-3)
        .join('\n')
        .trim(),
      frames: [],
    };
  const end = lines.findIndex(
    (line, index) =>
      index > at && (/^\s+at /.test(line) || line.trim() === '' || /^Require stack/.test(line)),
  );
  const frames = framesOf(text);
  const head = /^((?:file:\/\/)?\/.*?):(\d+)(?::\d+)?$/.exec(
    lines.find((line) => /^(?:file:\/\/)?\/.*:\d+$/.test(line)) ?? '',
  );
  if (head) frames.unshift({ file: relative(head[1]), line: Number(head[2]) });
  return {
    message: lines
      .slice(at, end < 0 ? at + 4 : Math.min(end, at + 4))
      .join('\n')
      .trim(),
    frames,
  };
}

function fileEnded(file, data, passed) {
  const error = data.details?.error;
  const base = { file, name: path.basename(file), durationMs: data.details?.duration_ms ?? 0 };
  const stderr = stderrTails.get(file) ?? '';
  if (filesWithTests.has(file)) {
    if (passed || error?.failureType === 'subtestsFailed') return;
    const crash = readCrash(stderr);
    const how = error?.signal
      ? `was ended by ${error.signal}`
      : `exited with code ${error?.exitCode}`;
    const message = [
      `the process of this file ${how} outside of its tests`,
      lateErrors.splice(0).join('\n') || crash.message,
    ];
    write({
      type: 'result',
      id: file,
      ...base,
      status: 'error',
      failure: {
        message: cut(message.filter(Boolean).join('\n')),
        frames: crash.frames,
        details: cut(stderr, 2 * MAX_TEXT),
      },
    });
    return;
  }
  const tests = looksLikeTests(file);
  if (passed) {
    if (patterned) return;
    if (tests) {
      write({
        type: 'result',
        id: file,
        ...base,
        status: 'error',
        failure: {
          message: 'the process of this file ended before its tests were reported (process.exit?)',
          frames: [],
          details: cut(stderr),
        },
      });
    } else if (isNamedTest(file)) write({ type: 'result', id: file, ...base, status: 'passed' });
    return;
  }
  const crash = readCrash(stderr);
  const how = error?.signal
    ? `was ended by ${error.signal}`
    : `exited with code ${error?.exitCode ?? 1}`;
  const message = crash.message || `the process of this file ${how} before its tests were reported`;
  if (tests || !isNamedTest(file))
    write({ type: 'collectionError', file, message: cut(message), frames: crash.frames });
  else
    write({
      type: 'result',
      id: file,
      ...base,
      status: 'failed',
      failure: { message: cut(message), frames: crash.frames, details: cut(stderr) },
    });
}

function statusOf(data, passed) {
  if (String(data.skip ?? '').includes('does not match pattern')) return 'filtered';
  if (data.skip !== undefined && data.skip !== false) return 'skipped';
  if (data.todo !== undefined && data.todo !== false) return 'todo';
  return passed ? 'passed' : 'failed';
}

function testEnded(data, passed, names) {
  const file = relative(data.entryFile ?? data.file ?? '');
  const error = data.details?.error;
  const status = statusOf(data, passed);
  const plainId = `${file}::${names.join(' > ')}`;
  const isSuite = data.details?.type === 'suite';
  if (status !== 'filtered') filesWithTests.add(file);
  // Subtests speak for themselves.
  if (!passed && error?.failureType === 'subtestsFailed') return;
  if (isSuite && (passed || status === 'skipped')) return;
  const count = (seen.get(plainId) ?? 0) + 1;
  seen.set(plainId, count);
  const id = count === 1 ? plainId : `${plainId} #${count}`;
  const place = data.file !== undefined && relative(data.file) === file ? { line: data.line } : {};
  const key = `${file}:${data.line}:${data.column}:${data.name}`;
  const base = {
    type: 'result',
    id,
    key,
    file,
    ...place,
    name: names.join(' > '),
    durationMs: data.details?.duration_ms ?? 0,
  };
  if (status === 'filtered') write({ ...base, status });
  else if (String(error?.cause?.message ?? error?.message).includes('prime-agent: listed only')) {
    if (!isSuite) write({ ...base, status: 'listed' });
  } else if (passed) write({ ...base, status });
  else
    write({
      ...base,
      status: isSuite && status === 'failed' ? 'error' : status,
      failure: failureOf(error),
    });
}

// biome-ignore lint/style/noDefaultExport: Node asks for the reporter as the default export.
export default async function* report(events) {
  write({ type: 'start', runner: 'node:test', version: process.version });
  const started = [];
  const running = new Map();
  for await (const { type, data } of events) {
    switch (type) {
      case 'test:stderr': {
        const file = relative(data.file ?? '');
        stderrTails.set(file, ((stderrTails.get(file) ?? '') + data.message).slice(-2 * MAX_TEXT));
        break;
      }
      case 'test:diagnostic':
        if (/after the test ended/.test(data.message ?? '')) lateErrors.push(data.message);
        break;
      case 'test:dequeue': {
        const file = relative(data.entryFile ?? data.file ?? '');
        if (data.nesting === 0 && relative(data.name) === file) {
          write({ type: 'running', id: file, key: file, file, name: path.basename(file) });
          break;
        }
        const names = running.get(file) ?? [];
        names.length = data.nesting;
        names[data.nesting] = data.name;
        running.set(file, names);
        const key = `${file}:${data.line}:${data.column}:${data.name}`;
        write({
          type: 'running',
          id: `${file}::${names.join(' > ')}`,
          key,
          file,
          line: data.line,
          name: names.join(' > '),
        });
        break;
      }
      case 'test:complete': {
        const file = relative(data.entryFile ?? data.file ?? '');
        if (data.nesting === 0 && relative(data.name) === file) write({ type: 'fileEnd', file });
        break;
      }
      case 'test:start':
        started.length = data.nesting;
        started[data.nesting] = data.name;
        break;
      case 'test:pass':
      case 'test:fail': {
        const passed = type === 'test:pass';
        const file = relative(data.entryFile ?? data.file ?? '');
        if (data.nesting === 0 && relative(data.name) === file) fileEnded(file, data, passed);
        else testEnded(data, passed, [...started.slice(0, data.nesting), data.name]);
        break;
      }
    }
  }
  yield '';
  write({ type: 'runnerEnd' });
}
