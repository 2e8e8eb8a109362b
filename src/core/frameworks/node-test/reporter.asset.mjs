// Reporter for `node --test`: JSON Lines on descriptor 3 (see ../report.ts for their shape). The
// runner closes that descriptor to the processes of the test files. Paths are relative to the
// working directory, which is the project's folder.
import fs from 'node:fs';
import path from 'node:path';
import seal from '../javascript/seal.asset.cjs';
import tell from '../javascript/tell.asset.cjs';
import failure from './failure.asset.cjs';

const REPORT_FD = 3;
const here = process.cwd();
const { MAX_TEXT, cut } = tell;
const { relative, framesOf, failureOf } = failure.createTeller(here);
const write = seal.createWriter(REPORT_FD, seal.takeKey());
const patterned = process.execArgv.some((flag) => flag.startsWith('--test-name-pattern'));

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
