/**
 * What a model reads about a test run. Pure; part of the scaffold hash. No durations, so that the
 * same run reads the same on every machine. `parse-rendered.ts` reads these texts back.
 */
import type {
  CollectionError,
  SourcePlace,
  TestFailure,
  TestResult,
  TestRun,
} from '../../frameworks/framework.ts';
import { isFailing } from '../../frameworks/status.ts';

export interface RenderOptions {
  /** How many failures are written out; the others are counted. */
  readonly maxFailures?: number;
  /** What was asked for: chosen tests without a result are named. Empty: all tests. */
  readonly tests?: readonly string[];
}

const MAX_FAILURES = 10;
const MAX_VALUE_LINES = 12;
const MAX_MESSAGE_LINES = 8;
const MAX_LINE = 400;
const MAX_LOG_LINES = 12;
const MAX_RAW_LOG = 12_000;

export function renderTestRun(run: TestRun, options: RenderOptions = {}): string {
  switch (run.kind) {
    case 'cancelled':
      return 'The test run was cancelled.';
    case 'crashed':
      return joinBlocks([`The tests did not run: ${cutLine(run.reason)}`, lastLines(run.log)]);
    case 'timeout': {
      const counts = run.results.length > 0 ? ` Until then: ${renderCounts(run.results, [])}.` : '';
      return joinBlocks([
        `The test run did not end in time and was stopped.${counts}`,
        renderFailures(run.results, options),
        lastLines(run.log),
      ]);
    }
    case 'ran':
      return renderRan(run, options);
  }
}

function renderRan(run: Extract<TestRun, { kind: 'ran' }>, options: RenderOptions): string {
  const { results, collectionErrors, complete } = run;
  const missing = complete ? withoutResult(run, options.tests ?? []) : [];
  const nothing = results.length === 0 && collectionErrors.length === 0;
  return joinBlocks([
    nothing ? 'No tests were found.' : renderCounts(results, collectionErrors),
    ...collectionErrors.slice(0, options.maxFailures ?? MAX_FAILURES).map(renderCollectionError),
    renderFailures(results, options),
    missing.length > 0 ? `Not found: ${missing.join(', ')}` : '',
    complete ? '' : 'The test run broke off: tests that are not listed did not run.',
    complete ? '' : lastLines(run.log),
  ]);
}

/** The FAIL blocks alone, with the rest counted; empty when nothing failed. */
export function renderFailures(
  results: readonly TestResult[],
  options: RenderOptions = {},
): string {
  const failed = results.filter(isFailing);
  const limit = options.maxFailures ?? MAX_FAILURES;
  const blocks = failed.slice(0, limit).map(renderFailure);
  const rest = failed.length - limit;
  if (rest > 0) blocks.push(`… and ${rest} more failed`);
  return joinBlocks(blocks);
}

function renderCounts(results: readonly TestResult[], errors: readonly CollectionError[]): string {
  const count = (...statuses: readonly TestResult['status'][]): number =>
    results.filter((test) => statuses.includes(test.status)).length;
  const parts: readonly (readonly [number, string])[] = [
    [count('failed', 'error'), 'failed'],
    [errors.length, errors.length === 1 ? 'file could not be loaded' : 'files could not be loaded'],
    [count('passed'), 'passed'],
    [count('skipped'), 'skipped'],
    [count('todo'), 'todo'],
    [count('xfailed'), 'failed as expected'],
    [count('xpassed'), 'passed unexpectedly'],
    [count('listed'), 'found'],
  ];
  return parts
    .filter(([number]) => number > 0)
    .map(([number, what]) => `${number} ${what}`)
    .join(', ');
}

function renderFailure(test: TestResult): string {
  const { failure } = test;
  const lines = [`FAIL ${oneLine(test.id)}`];
  if (!failure) return [...lines, '  failed without a message'].join('\n');
  const compared = failure.expected !== undefined && failure.actual !== undefined;
  if (!compared || saysMore(failure))
    lines.push(...indented(failure.message, MAX_MESSAGE_LINES, '  '));
  if (failure.expected !== undefined) lines.push(...value('expected', failure.expected));
  if (failure.actual !== undefined) lines.push(...value('actual', failure.actual));
  if (failure.place) lines.push(`  at ${renderPlace(failure.place)}`);
  if (failure.ownFrame) {
    const { function: name } = failure.ownFrame;
    lines.push(`  in ${renderPlace(failure.ownFrame)}${name ? ` (${oneLine(name)})` : ''}`);
  }
  return lines.join('\n');
}

function renderCollectionError(error: CollectionError): string {
  const lines = [
    `ERROR ${oneLine(error.file)}`,
    ...indented(error.message, MAX_MESSAGE_LINES, '  '),
  ];
  if (error.place) lines.push(`  at ${renderPlace(error.place)}`);
  return lines.join('\n');
}

/** Messages that a runner makes out of the two values say nothing more. */
function saysMore({ message }: TestFailure): boolean {
  const text = message.trim();
  return !(
    text === '' || /^Expected values to be |^assert |^(?:AssertionError: )?assert\b/.test(text)
  );
}

function renderPlace(place: SourcePlace): string {
  return `${oneLine(place.file)}:${place.line}`;
}

function value(label: string, text: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.length === 1) return [`  ${label}: ${cutLine(text)}`];
  return [`  ${label}:`, ...indented(text, MAX_VALUE_LINES, '    ')];
}

function indented(text: string, limit: number, indent: string): readonly string[] {
  const lines = text.replace(/\r\n?/g, '\n').replace(/\n+$/, '').split('\n');
  const shown = lines.slice(0, limit).map((line) => `${indent}${cutLine(line)}`.trimEnd());
  const rest = lines.length - limit;
  return rest > 0 ? [...shown, `${indent}… (${rest} more lines)`] : shown;
}

function cutLine(line: string): string {
  const clean = cleanLine(line);
  return clean.length > MAX_LINE ? `${clean.slice(0, MAX_LINE)}…` : clean;
}

function oneLine(text: string): string {
  return cleanLine(text.replace(/\n/g, '\\n'));
}

/** Escape sequences and control characters out; of a redrawn line its last state. */
function cleanLine(line: string): string {
  const plain = line
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g, '')
    .replace(/\r+$/, '');
  return plain
    .slice(plain.lastIndexOf('\r') + 1)
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}

function withoutResult(
  run: Extract<TestRun, { kind: 'ran' }>,
  tests: readonly string[],
): readonly string[] {
  const broken = new Set([
    ...run.collectionErrors.map(({ file }) => file),
    ...run.results.filter(({ id, file }) => id === file).map(({ file }) => file),
  ]);
  return tests.filter(
    (id) =>
      !broken.has(id.split('::')[0] ?? id) &&
      !run.results.some((test) => test.id === id || test.id.startsWith(id)),
  );
}

function lastLines(log: string): string {
  const lines = log
    .split('\n')
    .map(cleanLine)
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) return '';
  return [
    'Last lines of the log:',
    ...lines.slice(-MAX_LOG_LINES).map((line) => `  ${cutLine(line)}`),
  ].join('\n');
}

/** The runner's own output, cleaned, both ends kept. */
export function renderLog(log: string): string {
  const text = log.split('\n').map(cleanLine).join('\n').trim();
  if (text === '') return '(no output)';
  if (text.length <= MAX_RAW_LOG) return text;
  const half = MAX_RAW_LOG / 2;
  const left = (text.length - MAX_RAW_LOG).toLocaleString('en-US');
  return `${text.slice(0, half)}\n[… ${left} characters left out …]\n${text.slice(-half)}`;
}

function joinBlocks(blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n\n');
}
