// Runs ava with a reporter of our own in the place of its TAP reporter (ava has no other way to
// bring one). Argument: JSON {tests: string[], list: boolean, args: string[]}, args of the script.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import choice from '../javascript/choice.asset.cjs';
import shared from '../javascript/report.asset.cjs';

const { createNames, cut, framesOf, headOf, plain, relative, write } = shared;
const { tests, list, args } = JSON.parse(process.argv[2]);
shared.lock();
const manifest = choice.packageFile('ava');
const own = (name) => pathToFileURL(path.join(path.dirname(manifest), name)).href;

// --- failures --------------------------------------------------------------------------------

/** Out of ava's `Difference (- actual, + expected)`. */
function sidesOf(text) {
  const lines = plain(text).split('\n');
  const side = (other) =>
    lines
      .filter((line) => line[0] !== other)
      .map((line) => line.slice(2))
      .join('\n')
      .trim();
  const [expected, actual] = [side('-'), side('+')];
  return expected === actual ? {} : { expected: cut(expected), actual: cut(actual) };
}

function failureOf(error, prefix = '') {
  if (!error) return { message: `${prefix}failed without an error`, frames: [], details: '' };
  const details = error.formattedDetails ?? error.values ?? [];
  const difference = details.find(({ label }) => /^Difference \(- actual/.test(label));
  const pair = difference ? sidesOf(difference.formatted) : {};
  const cause = error.formattedCause ?? error.cause;
  const stack = plain(error.stack ?? error.assertionStack);
  const said = plain(error.message).trim();
  let message = said;
  if (error.type === 'ava' || error.assertion) {
    // A thrown error is told as the cause of a failed test; its own first line says more.
    const thrown = /^(?:Error thrown in test|Rejected promise returned by test)$/.test(said);
    const head = headOf(stack);
    if (thrown && head && !/^\s*at /.test(head)) message = head;
    else if (pair.expected !== undefined && (said === '' || /^Difference/.test(said)))
      message = 'Expected values to be equal';
    else if (said === '')
      message = [
        error.assertion,
        ...details.map(({ label, formatted }) => `${label} ${plain(formatted)}`),
      ]
        .filter(Boolean)
        .join(' ');
  } else if (error.name && said) message = `${error.name}: ${said}`;
  return {
    message: cut(prefix + (message || error.name || 'failed without a message')),
    ...pair,
    frames: framesOf(stack),
    details: cut(
      [stack, difference && plain(difference.formatted), cause && plain(cause)]
        .filter(Boolean)
        .join('\n\n'),
      16_000,
    ),
  };
}

// --- reporter --------------------------------------------------------------------------------

const known = new Map();

function stateOf(testFile) {
  const file = relative(testFile);
  if (!known.has(file)) {
    known.set(file, { file, name: createNames(), pending: new Set(), running: undefined, told: 0 });
    write({ type: 'running', id: file, key: file, file, name: path.basename(file) });
  }
  return known.get(file);
}

function tell(state, title, rest) {
  const told = plain(title);
  const id = `${state.file}::${told}`;
  state.told += 1;
  state.pending.delete(title);
  const base = { type: 'result', id, key: id, file: state.file, name: told, durationMs: 0 };
  write({ ...base, ...rest });
}

/** Ava does not say which test begins; of those that are waiting the first is the likeliest. */
function tellRunning(state) {
  const [first] = state.pending;
  if (first === undefined || first === state.running) return;
  state.running = first;
  const id = `${state.file}::${plain(first)}`;
  write({ type: 'running', id, key: id, file: state.file, name: plain(first) });
}

function tellFile(state, failure) {
  const base = { id: state.file, file: state.file, name: path.basename(state.file) };
  state.told += 1;
  write({ type: 'result', ...base, durationMs: 0, status: 'error', failure });
}

function broken(state, how) {
  const waiting = [...state.pending];
  // Tests of a file run at the same time: which of those without a result it was nobody can tell.
  const what = ['this file', 'this test'][waiting.length] ?? 'this test or another of its file';
  const message = `the test process ${how} while ${what} ran`;
  const failure = { message, frames: [], details: message };
  if (waiting.length === 0) tellFile(state, failure);
  for (const title of waiting) tell(state, title, { status: 'error', failure });
}

function loadFailed(state, error) {
  const failure = failureOf(error);
  const text = `${plain(error.stack)}\n${plain(error.message)}`;
  const head = /(?<![\w/])((?:file:\/\/)?\/[^\s:()]+):(\d+)(?::\d+)?/.exec(
    plain(error.source?.file ? `${error.source.file}:${error.source.line}` : text),
  );
  const frames = failure.frames;
  if (head && !frames.some((frame) => frame.file === state.file))
    frames.unshift({ file: relative(head[1]), line: Number(head[2]) });
  state.told += 1;
  write({
    type: 'collectionError',
    file: state.file,
    message: cut(headOf(failure.message), 2_000),
    frames,
  });
}

let isGivenUp = false;

/** Nothing happened for longer than ava's option `timeout` allows: it ends every process. */
function gaveUp(period) {
  isGivenUp = true;
  const how = `made no progress for ${period / 1000} s, longer than ava's option timeout allows,`;
  for (const state of known.values())
    if (state.pending.size > 0 || state.told === 0) broken(state, how);
  process.stderr.write(`prime-agent: a test process ${how} and ava ended the run\n`);
}

function changed(event) {
  if (event.type === 'worker-stdout' || event.type === 'worker-stderr')
    return void process.stdout.write(event.chunk);
  if (event.type === 'internal-error')
    return void process.stderr.write(`prime-agent: ava failed: ${plain(event.err?.message)}\n`);
  if (event.type === 'timeout') return void gaveUp(event.period);
  if (!event.testFile) return undefined;
  const state = stateOf(event.testFile);
  switch (event.type) {
    case 'declared-test':
      if (list) tell(state, event.title, { status: 'listed' });
      break;
    case 'selected-test':
      if (list) break;
      if (event.skip) tell(state, event.title, { status: 'skipped' });
      else if (event.todo) tell(state, event.title, { status: 'todo' });
      else state.pending.add(event.title);
      break;
    case 'test-passed':
      tell(state, event.title, { status: event.knownFailing ? 'xfailed' : 'passed' });
      break;
    case 'test-failed':
      tell(state, event.title, { status: 'failed', failure: failureOf(event.err) });
      break;
    case 'hook-failed': {
      const failure = failureOf(event.err, `in ${plain(event.title)}: `);
      const test = / hook for (.*)$/s.exec(plain(event.title))?.[1];
      if (test !== undefined) tell(state, test, { status: 'error', failure });
      else tellFile(state, failure);
      break;
    }
    case 'uncaught-exception':
    case 'unhandled-rejection':
      if (state.told === 0 && state.pending.size === 0) loadFailed(state, event.err);
      else tellFile(state, failureOf(event.err, 'outside of its tests: '));
      break;
    case 'process-exit':
      broken(state, 'was ended by process.exit');
      break;
    case 'missing-ava-import':
      write({
        type: 'collectionError',
        file: state.file,
        message: 'it does not import ava',
        frames: [],
      });
      state.told += 1;
      break;
    case 'worker-failed':
      if (state.pending.size > 0 || state.told === 0) {
        if (event.err && state.told === 0) loadFailed(state, event.err);
        else
          broken(
            state,
            event.signal
              ? `was ended by ${event.signal}`
              : `exited with code ${event.nonZeroExitCode ?? 1}`,
          );
      }
      break;
  }
  tellRunning(state);
  return undefined;
}

// --- run -------------------------------------------------------------------------------------

/** What reports, ends a run early, watches, chooses or changes snapshots. */
const DROPPED =
  /^(?:-t|--tap|-v|--verbose|-F|--fail-fast|-w|--watch|-u|--update-snapshots|-m|--match|--color|--no-color|-c|--no-worker-threads-|--reset-cache|debug)(?:=|$)/;
const WITH_VALUE = /^(?:--config|--node-arguments|--timeout|-T|--concurrency)$/;

function readArguments() {
  const options = [];
  const patterns = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (/^(?:-c|--concurrency)$/.test(word)) options.push('--concurrency', args[++at]);
    else if (/^(?:-m|--match)$/.test(word)) at += 1;
    else if (DROPPED.test(word)) continue;
    else if (WITH_VALUE.test(word)) options.push(word, args[++at]);
    else if (word.startsWith('-')) options.push(word);
    else patterns.push(word);
  }
  return { options, patterns };
}

async function main() {
  const { version } = JSON.parse(fs.readFileSync(manifest, 'utf8'));
  const { default: TapReporter } = await import(own('lib/reporters/tap.js'));
  write({ type: 'start', runner: 'ava', version });
  const { everything, files } = choice.readChoice(tests, list);
  if (!everything && files.length === 0) {
    write({ type: 'end' });
    process.exit(1);
  }
  let begun = false;
  let ended = false;
  TapReporter.prototype.startRun = (plan) => {
    begun = true;
    plan.status.on('stateChange', changed);
  };
  TapReporter.prototype.endRun = () => {
    if (ended) return;
    ended = true;
    for (const { file } of known.values()) write({ type: 'fileEnd', file });
    // Files that had not begun have no result.
    if (!isGivenUp) write({ type: 'end' });
  };
  // Ava leaves by itself; where it did not come to a run, its own words are in the log.
  process.on('exit', () => {
    if (begun && !ended) TapReporter.prototype.endRun();
  });
  const { options, patterns } = readArguments();
  const nothing = 'prime-agent: no test has this name';
  process.argv = [
    ...[process.argv[0], path.join(path.dirname(manifest), 'entrypoints/cli.mjs')],
    ...[...options, '--tap', '--no-color', '--no-fail-fast'],
    ...(list ? [`--match=${nothing}`] : []),
    ...(everything ? patterns : files),
  ];
  const { default: start } = await import(own('lib/cli.js'));
  await start();
}

main().catch((error) => {
  process.stderr.write(
    `prime-agent: ava could not start: ${plain(error?.message ?? error).split('\n')[0]}\n`,
  );
  process.exit(1);
});
