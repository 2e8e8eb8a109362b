import { posix } from 'node:path';
import { z } from 'zod';
import type {
  CollectionError,
  ParsedReport,
  RawRun,
  SourcePlace,
  TestFailure,
  TestResult,
} from './framework.ts';
import { readJsonLines } from './json-lines.ts';

/**
 * What our reporters write, one JSON object a line. Paths and ids are relative to the project's
 * folder. A reporter runs in the process that it reports on, so nothing in here is trusted further
 * than its shape.
 */
const frame = z.object({
  file: z.string(),
  line: z.number().int().positive(),
  column: z.number().int().positive().optional(),
  function: z.string().optional(),
});

const failure = z.object({
  message: z.string(),
  expected: z.string().optional(),
  actual: z.string().optional(),
  /** Innermost first. */
  frames: z.array(frame),
  details: z.string(),
});

const reportLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), runner: z.string(), version: z.string() }),
  z.object({
    type: z.literal('running'),
    id: z.string(),
    key: z.string(),
    file: z.string(),
    name: z.string(),
    line: z.number().int().positive().optional(),
  }),
  z.object({
    type: z.literal('result'),
    id: z.string(),
    key: z.string().optional(),
    file: z.string(),
    name: z.string(),
    line: z.number().int().positive().optional(),
    status: z.enum([
      'passed',
      'failed',
      'skipped',
      'todo',
      'xfailed',
      'xpassed',
      'error',
      'listed',
      /** Left out by a name pattern: not a result. */
      'filtered',
    ]),
    durationMs: z.number().nonnegative(),
    failure: failure.optional(),
  }),
  z.object({
    type: z.literal('collectionError'),
    file: z.string(),
    message: z.string(),
    frames: z.array(frame),
  }),
  /** What was reported for this file so far is void: the file runs once more. */
  z.object({ type: z.literal('discard'), file: z.string() }),
  /** The process of this file has ended. */
  z.object({ type: z.literal('fileEnd'), file: z.string() }),
  z.object({ type: z.literal('end') }),
]);

type ReportLine = z.infer<typeof reportLine>;
type Frame = z.infer<typeof frame>;
type RunningLine = Extract<ReportLine, { type: 'running' }>;

const SEVERITY: Readonly<Record<TestResult['status'], number>> = {
  listed: 0,
  skipped: 1,
  todo: 1,
  passed: 2,
  xfailed: 3,
  xpassed: 3,
  failed: 4,
  error: 5,
};

/** Reads the report of one run. A test that had begun when the run broke off gets status `error`. */
export function parseReport(
  report: Uint8Array,
  run: RawRun,
  isTestFile: (path: string) => boolean,
): ParsedReport {
  const place = createPlacer(run.projectPath, isTestFile);
  let results = new Map<string, TestResult>();
  let collectionErrors = new Map<string, CollectionError>();
  /** Per file the test that began last, and the file itself where its process is known to run. */
  const running = new Map<string, RunningLine>();
  const runningFiles = new Map<string, RunningLine>();
  let complete = false;

  for (const line of readJsonLines(new TextDecoder().decode(report), reportLine)) {
    switch (line.type) {
      case 'start':
        break;
      case 'running':
        (line.id === line.file ? runningFiles : running).set(line.file, line);
        break;
      case 'fileEnd':
        runningFiles.delete(line.file);
        running.delete(line.file);
        break;
      case 'discard': {
        const file = place.file(line.file);
        results = new Map([...results].filter(([, result]) => result.file !== file));
        collectionErrors = new Map([...collectionErrors].filter(([name]) => name !== file));
        running.delete(line.file);
        break;
      }
      case 'end':
        complete = true;
        break;
      case 'collectionError': {
        const file = place.file(line.file);
        const { place: at } = place.frames(line.frames, file);
        collectionErrors.set(file, { file, message: line.message, ...(at && { place: at }) });
        break;
      }
      case 'result': {
        if (line.key !== undefined && running.get(line.file)?.key === line.key) {
          running.delete(line.file);
        }
        if (line.status === 'filtered') break;
        const result = toResult(line, line.status, place);
        // Several reports about one test (call and teardown, subtests): the worst counts.
        const before = results.get(result.id);
        if (!before || SEVERITY[result.status] > SEVERITY[before.status]) {
          results.set(result.id, result);
        }
        break;
      }
    }
  }
  if (!complete) {
    for (const line of new Map([...runningFiles, ...running]).values()) {
      const result = unfinished(line, run, place);
      if (!results.has(result.id)) results.set(result.id, result);
    }
  }
  return {
    results: [...results.values()],
    collectionErrors: [...collectionErrors.values()],
    complete,
  };
}

type Placer = ReturnType<typeof createPlacer>;

function createPlacer(projectPath: string, isTestFile: (path: string) => boolean) {
  const file = (path: string): string => posix.normalize(posix.join(projectPath, path));
  return {
    file,
    id: (id: string): string => {
      const at = id.indexOf('::');
      return at < 0 ? file(id) : file(id.slice(0, at)) + id.slice(at);
    },
    frames: (frames: readonly Frame[], testFile: string): FailurePlaces =>
      placesOf(
        frames.map((entry) => ({ ...entry, file: file(entry.file) })),
        testFile,
        isTestFile,
      ),
  };
}

export interface FailurePlaces {
  readonly place?: SourcePlace;
  readonly ownFrame?: SourcePlace;
}

/**
 * `place`: innermost frame in the test's own file, else in any test file, else anywhere of ours.
 *
 * @param frames innermost first, files relative to the workspace
 */
export function placesOf(
  frames: readonly SourcePlace[],
  testFile: string,
  isTestFile: (path: string) => boolean,
): FailurePlaces {
  const own = frames.filter((entry) => isOwnCode(entry.file));
  const source = own.find((entry) => entry.file !== testFile && !isTestFile(entry.file));
  const test =
    own.find((entry) => entry.file === testFile) ?? own.find((entry) => isTestFile(entry.file));
  const at = test ?? source;
  return {
    ...(at && { place: { file: at.file, line: at.line, column: at.column } }),
    ...(source && { ownFrame: source }),
  };
}

function isOwnCode(path: string): boolean {
  return !/^\.\.?\/|^\/|(?:^|\/)(?:node_modules|site-packages|dist-packages|\.venv|venv|\.tox)\//.test(
    path,
  );
}

function toResult(
  line: Extract<ReportLine, { type: 'result' }>,
  status: TestResult['status'],
  place: Placer,
): TestResult {
  const file = place.file(line.file);
  return {
    id: place.id(line.id),
    file,
    ...(line.line !== undefined && { line: line.line }),
    name: line.name,
    status,
    durationMs: line.durationMs,
    ...(line.failure && { failure: toFailure(line.failure, file, line.line, place) }),
  };
}

function toFailure(
  found: z.infer<typeof failure>,
  file: string,
  line: number | undefined,
  place: Placer,
): TestFailure {
  const { frames, ...rest } = found;
  const places = place.frames(frames, file);
  return {
    ...rest,
    ...(line !== undefined && { place: { file, line } }),
    ...places,
  };
}

function unfinished(line: RunningLine, run: RawRun, place: Placer): TestResult {
  const file = place.file(line.file);
  const what = line.id === line.file ? 'file' : 'test';
  const message =
    run.exitCode === undefined
      ? `this ${what} had not ended when the time was up`
      : `the test process ended while this ${what} ran (${describeExit(run.exitCode)})`;
  return {
    id: place.id(line.id),
    file,
    ...(line.line !== undefined && { line: line.line }),
    name: line.name,
    status: 'error',
    durationMs: 0,
    failure: {
      message,
      ...(line.line !== undefined && { place: { file, line: line.line } }),
      details: message,
    },
  };
}

const SIGNALS: Readonly<Record<number, string>> = {
  4: 'illegal instruction',
  6: 'aborted',
  7: 'bus error',
  8: 'arithmetic error',
  9: 'killed, perhaps for lack of memory',
  11: 'segmentation fault',
  15: 'terminated',
};

/** `exit code 139: segmentation fault`. */
export function describeExit(code: number): string {
  if (code === 127) return 'exit code 127: program not found';
  if (code === 126) return 'exit code 126: program cannot be run';
  const meaning = SIGNALS[code - 128];
  return meaning ? `exit code ${code}: ${meaning}` : `exit code ${code}`;
}
