import { posix } from 'node:path';
import { z } from 'zod';
import type {
  CollectionError,
  ParsedReport,
  RawRun,
  SourcePlace,
  TestFailure,
  TestResult,
} from '../framework.ts';
import { readJsonLines } from '../json-lines.ts';
import { describeExit, placesOf } from '../report.ts';
import { isGoTestName } from './detect.ts';
import { failureText, goFrames } from './failure.ts';

/** Lines of the launcher, and events of `go help testjson`; keys that are not needed are left out. */
const launcherLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('start'),
    folder: z.string(),
    version: z.string(),
    mode: z.enum(['run', 'list']),
  }),
  z.object({
    type: z.literal('package'),
    path: z.string(),
    dir: z.string(),
    files: z.array(z.string()),
    external: z.array(z.string()),
  }),
  z.object({ type: z.literal('end') }),
]);

const eventLine = z.object({
  Action: z.string(),
  Package: z.string().optional(),
  ImportPath: z.string().optional(),
  Test: z.string().optional(),
  Output: z.string().optional(),
  Elapsed: z.number().nonnegative().optional(),
  FailedBuild: z.string().optional(),
});

const line = z.union([launcherLine, eventLine]);
type Event = z.output<typeof eventLine>;

interface GoPackage {
  readonly path: string;
  /** Relative to the project; undefined for a package that the launcher did not list. */
  readonly dir: string | undefined;
  readonly files: readonly string[];
  readonly tests: Map<string, GoTestState>;
  readonly output: string[];
  end: 'pass' | 'fail' | 'skip' | undefined;
  begun: boolean;
  failedBuild: string | undefined;
}

interface GoTestState {
  readonly name: string;
  readonly output: string[];
  end: 'pass' | 'fail' | 'skip' | undefined;
  seconds: number;
}

const STATUS = { pass: 'passed', fail: 'failed', skip: 'skipped' } as const;

/** Reads the report of `launch.sh`: its own lines, then Go's. Lines that cannot be read are left out. */
export function parseGoReport(report: Uint8Array, run: RawRun): ParsedReport {
  const text = new TextDecoder().decode(report);
  const packages = new Map<string, GoPackage>();
  const builds = new Map<string, string[]>();
  let folder = '';
  let listing = false;
  let ended = false;
  for (const entry of readJsonLines(text, line)) {
    if ('Action' in entry) readEvent(entry, packages, builds);
    else if (entry.type === 'end') ended = true;
    else if (entry.type === 'start') {
      folder = entry.folder;
      listing = entry.mode === 'list';
    } else if (!packages.has(entry.path)) {
      const dir = inFolder(entry.dir, folder);
      packages.set(entry.path, newPackage(entry.path, dir, [...entry.files, ...entry.external]));
    }
  }
  const reader = new Reader(run, folder, functionPlaces(text));
  for (const found of packages.values()) {
    if (listing) reader.list(found);
    else reader.readResults(found);
    reader.readFailure(found, builds);
  }
  const all = [...packages.values()];
  return {
    results: reader.results,
    collectionErrors: reader.collectionErrors,
    complete: ended && all.every((found) => !found.begun || endedWell(found)),
  };
}

function newPackage(path: string, dir: string | undefined, files: readonly string[]): GoPackage {
  const begun = false;
  return {
    ...{ path, dir, files, begun },
    tests: new Map(),
    output: [],
    end: undefined,
    failedBuild: undefined,
  };
}

/** A test process that leaves early with code 0 would count as passed; it does not say `PASS`. */
function endedWell({ end, tests, output }: GoPackage): boolean {
  if (end === 'pass' && tests.size > 0)
    return output.some((text) => /^(?:PASS|.*\nPASS)$/m.test(text));
  return end !== undefined;
}

/** Outside of the project's folder: undefined. */
function inFolder(path: string, folder: string): string | undefined {
  if (folder === '' || path === folder) return path === folder ? '' : undefined;
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
}

function readEvent(
  event: Event,
  packages: Map<string, GoPackage>,
  builds: Map<string, string[]>,
): void {
  const { Action: action, Package: path, Output: output } = event;
  if (action === 'build-output' && event.ImportPath !== undefined) {
    const lines = builds.get(event.ImportPath) ?? [];
    builds.set(event.ImportPath, [...lines, output ?? '']);
    return;
  }
  if (path === undefined) return;
  const own = packages.get(path) ?? newPackage(path, undefined, []);
  packages.set(path, own);
  own.begun = true;
  const isEnd = action === 'pass' || action === 'fail' || action === 'skip';
  if (event.Test === undefined) {
    if (action === 'output') own.output.push(output ?? '');
    if (isEnd) own.end = action;
    if (event.FailedBuild !== undefined) own.failedBuild = event.FailedBuild;
    return;
  }
  const test = own.tests.get(event.Test) ?? {
    name: event.Test,
    output: [],
    end: undefined,
    seconds: 0,
  };
  own.tests.set(event.Test, test);
  if (action === 'output') test.output.push(output ?? '');
  if (!isEnd) return;
  // Go takes a process that leaves with code 0 for a pass of the test that ran; the test did not say so.
  if (action === 'pass' && !test.output.some((text) => /^\s*--- PASS: /.test(text))) return;
  // A second end is not of this test's making: the worse one counts.
  if (test.end !== 'fail') test.end = action;
  test.seconds = event.Elapsed ?? 0;
}

type FunctionPlaces = ReadonlyMap<
  string,
  readonly { readonly file: string; readonly line: number }[]
>;

/** `@./calc/calc_test.go:12:func TestX(`; keyed by folder and name. */
function functionPlaces(text: string): FunctionPlaces {
  const places = new Map<string, { file: string; line: number }[]>();
  for (const [, path = '', number, name] of text.matchAll(
    /^@(?:\.\/)?(.+_test\.go):(\d+):func (\w+)\(/gm,
  )) {
    const key = `${posix.dirname(path)}::${name}`;
    const known = places.get(key) ?? [];
    places.set(key, [...known, { file: path, line: Number(number) }]);
  }
  return places;
}

class Reader {
  readonly results: TestResult[] = [];
  readonly collectionErrors: CollectionError[] = [];
  readonly #run: RawRun;
  readonly #folder: string;
  readonly #places: FunctionPlaces;

  constructor(run: RawRun, folder: string, places: FunctionPlaces) {
    this.#run = run;
    this.#folder = folder;
    this.#places = places;
  }

  list(found: GoPackage): void {
    for (const text of found.output) {
      const name = /^((?:Test|Fuzz|Example)\w*)\n?$/.exec(text)?.[1];
      if (name === undefined) continue;
      this.results.push({ ...this.#base(found, name), status: 'listed', durationMs: 0 });
    }
  }

  readResults(found: GoPackage): void {
    const names = [...found.tests.keys()];
    for (const test of found.tests.values()) {
      const base = this.#base(found, test.name);
      const durationMs = test.seconds * 1000;
      if (test.end === undefined) {
        const failure = this.#unfinished(found, test, base.file, base.line);
        this.results.push({ ...base, status: 'error', durationMs, failure });
        continue;
      }
      const status = STATUS[test.end];
      if (status !== 'failed') this.results.push({ ...base, status, durationMs });
      else {
        const failed = names.find(
          (name) => name.startsWith(`${test.name}/`) && found.tests.get(name)?.end !== 'pass',
        );
        const failure = this.#failure(found, test, base.file, base.line, failed);
        this.results.push({ ...base, status, durationMs, failure });
      }
    }
  }

  /** A package that failed without a test that did. */
  readFailure(found: GoPackage, builds: ReadonlyMap<string, readonly string[]>): void {
    if (found.end !== 'fail') return;
    const files = this.#testFiles(found);
    const [first] = files;
    if (first === undefined) return;
    const output = found.output.join('');
    if (found.failedBuild !== undefined || /\[(?:build|setup) failed\]/.test(output)) {
      const built = builds.get(found.failedBuild ?? '') ?? builds.get(found.path);
      const text = built?.join('') ?? buildSection(this.#run.log, found.path) ?? output;
      const lines = text
        .split('\n')
        .filter((entry) => entry.trim() !== '' && !/^# /.test(entry))
        .map((entry) => entry.replaceAll(`${this.#folder}/`, ''));
      const place = this.#buildPlace(lines);
      const message = lines.slice(0, 10).join('\n') || 'the package could not be built';
      for (const file of files) {
        this.collectionErrors.push({ file, message, ...(place && { place }) });
      }
      return;
    }
    const tests = [...found.tests.values()];
    if (tests.some(({ end }) => end === undefined || end === 'fail')) return;
    const details = output.replaceAll(`${this.#folder}/`, '').trim();
    const message = failureText(details).message || 'the test process failed, although no test did';
    if (tests.length === 0) {
      for (const file of files) this.collectionErrors.push({ file, message });
      return;
    }
    const places = placesOf(this.#frames(details), first, isGoTestName);
    this.results.push({
      ...{ id: first, file: first, name: found.path, status: 'error', durationMs: 0 },
      failure: { message, details, ...places },
    });
  }

  #testFiles({ dir, files }: GoPackage): readonly string[] {
    if (dir === undefined) return [];
    return files.map((file) => posix.join(this.#run.projectPath, dir, file));
  }

  #base(found: GoPackage, name: string): Pick<TestResult, 'id' | 'file' | 'name' | 'line'> {
    const top = name.split('/', 1)[0] ?? name;
    const known = this.#places.get(`${found.dir === '' ? '.' : found.dir}::${top}`) ?? [];
    const place = known.find(({ file }) => found.files.includes(posix.basename(file))) ?? known[0];
    const file = place
      ? posix.join(this.#run.projectPath, place.file)
      : (this.#testFiles(found)[0] ??
        posix.join(this.#run.projectPath, found.dir ?? found.path, 'unknown_test.go'));
    return { id: `${file}::${name}`, file, name, ...(place && { line: place.line }) };
  }

  #unfinished(
    found: GoPackage,
    test: GoTestState,
    file: string,
    line: number | undefined,
  ): TestFailure {
    const { exitCode } = this.#run;
    const own = failureText(test.output.join('')).message;
    const how =
      exitCode === undefined
        ? 'this test had not ended when the time was up'
        : `the test process ended while this test ran (${describeExit(exitCode)})`;
    const details = [...test.output, ...found.output].join('');
    return {
      message: own === '' ? how : `${how}\n${own}`,
      details: details.replaceAll(`${this.#folder}/`, ''),
      ...(line !== undefined && { place: { file, line } }),
    };
  }

  #failure(
    found: GoPackage,
    test: GoTestState,
    file: string,
    line: number | undefined,
    failedSubtest: string | undefined,
  ): TestFailure {
    const details = test.output.join('').replaceAll(`${this.#folder}/`, '');
    const { message, expected, actual, at } = failureText(details);
    const frames = this.#frames(details);
    const testDir = posix.join(this.#run.projectPath, found.dir ?? '');
    const said = at && { file: posix.join(testDir, at.file), line: at.line };
    const places = placesOf(frames.length > 0 || !said ? frames : [said], file, isGoTestName);
    return {
      message:
        message ||
        (failedSubtest === undefined
          ? 'the test failed without a message'
          : `${failedSubtest} failed`),
      ...(expected !== undefined && { expected }),
      ...(actual !== undefined && { actual }),
      details,
      ...(line !== undefined && { place: { file, line } }),
      ...places,
    };
  }

  #frames(details: string): readonly SourcePlace[] {
    return goFrames(details).map((frame) => ({
      ...frame,
      file: frame.file.startsWith('/') ? frame.file : posix.join(this.#run.projectPath, frame.file),
    }));
  }

  #buildPlace(lines: readonly string[]): SourcePlace | undefined {
    for (const text of lines) {
      const found = /^(?:vet: )?(?:\.\/)?([^\s:]+\.go):(\d+)(?::(\d+))?: /.exec(text);
      if (!found) continue;
      const column = Number(found[3] ?? 0);
      return {
        file: posix.join(this.#run.projectPath, found[1] ?? ''),
        line: Number(found[2]),
        ...(column > 0 && { column }),
      };
    }
    return undefined;
  }
}

/** Go before 1.24 prints what the compiler said to stderr, under a line `# package [package.test]`. */
function buildSection(log: string, path: string): string | undefined {
  const lines = log.split('\n');
  const start = lines.findIndex((text) => text === `# ${path}` || text.startsWith(`# ${path} [`));
  if (start < 0) return undefined;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((text) => /^(?:# |FAIL\b|ok\b)/.test(text));
  return rest.slice(0, end < 0 ? undefined : end).join('\n');
}
