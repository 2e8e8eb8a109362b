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
import { isJunitTestFile } from './detect.ts';
import { junitFailure } from './failure.ts';
import { indexSources, type Sources, testsInSource } from './sources.ts';
import { readTestCases, type XmlTestCase } from './xml.ts';

const file = z.object({ path: z.string(), base64: z.string() });

const reportLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('start'),
    runner: z.string(),
    mode: z.enum(['run', 'list']),
    folder: z.string(),
  }),
  file.extend({ type: z.literal('xml') }),
  file.extend({ type: z.literal('source') }),
  z.object({ type: z.literal('end'), code: z.number().int() }),
]);

/** Reads the report of `launch.sh`, and in the log what the tools say of compilers and processes. */
export function parseJunitReport(report: Uint8Array, run: RawRun): ParsedReport {
  const text = new TextDecoder().decode(report);
  const files = [...text.matchAll(/^@file (?:\.\/)?(.+)$/gm)].map(([, path]) => path ?? '');
  const reader = new Reader(run, indexSources(files));
  let folder = '';
  let isList = false;
  let code: number | undefined;
  for (const line of readJsonLines(text, reportLine)) {
    if (line.type === 'start') {
      folder = line.folder;
      isList = line.mode === 'list';
    } else if (line.type === 'end') code = line.code;
    else if (line.type === 'source') reader.list(line.path, decode(line.base64));
    else
      for (const test of readTestCases(decode(line.base64))) reader.add(test, moduleOf(line.path));
  }
  const collectionErrors = isList ? [] : compilerErrors(run, folder);
  if (!isList) reader.addUnfinished();
  const results = [...reader.results.values()];
  // An exit code other than 0 must have a reason that was reported.
  const explained =
    code === 0 ||
    collectionErrors.length > 0 ||
    results.some(({ status }) => status === 'failed' || status === 'error');
  return {
    results,
    collectionErrors,
    complete: code !== undefined && explained && !processDied(run.log),
  };
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

/** `shop/target/surefire-reports/TEST-shop.CartTest.xml` → `shop`. */
function moduleOf(path: string): string {
  return (
    /^(.*?)\/?(?:target|build)\/(?:surefire-reports|failsafe-reports|test-results)\//.exec(
      path,
    )?.[1] ?? ''
  );
}

function processDied(log: string): boolean {
  return /The forked VM terminated without|Test Executor \d+' finished with non-zero exit value/.test(
    log,
  );
}

const SEVERITY: Readonly<Record<string, number>> = { skipped: 1, passed: 2, failed: 3, error: 4 };

class Reader {
  readonly results = new Map<string, TestResult>();
  readonly #run: RawRun;
  readonly #sources: Sources;

  constructor(run: RawRun, sources: Sources) {
    this.#run = run;
    this.#sources = sources;
  }

  list(path: string, source: string): void {
    const file = this.#inProject(path);
    for (const { name, line } of testsInSource(source)) {
      const id = `${file}::${name}`;
      this.results.set(id, { id, file, line, name, status: 'listed', durationMs: 0 });
    }
  }

  add(test: XmlTestCase, module: string): void {
    const place = this.#place(test.className, test.name, module);
    this.#keepWorst({
      ...place,
      status: test.outcome,
      durationMs: test.seconds * 1000,
      ...(test.problem && { failure: this.#failure(test.problem, place.file, module) }),
    });
  }

  /** Begun by what the tools print, and not ended: the process broke, or the time was up. */
  addUnfinished(): void {
    const { exitCode, log } = this.#run;
    const how =
      exitCode === undefined
        ? 'had not ended when the time was up'
        : `was running when the test process ended (${describeExit(exitCode)})`;
    for (const { className, name } of unfinished(log)) {
      const place = this.#place(className, name ?? '', '');
      const message = `this ${name === undefined ? 'test class' : 'test'} ${how}`;
      const details = log.slice(-4_000);
      this.#keepWorst({ ...place, status: 'error', durationMs: 0, failure: { message, details } });
    }
  }

  #inProject(path: string): string {
    return posix.join(this.#run.projectPath, path);
  }

  #keepWorst(result: TestResult): void {
    const before = this.results.get(result.id);
    if (before && (SEVERITY[before.status] ?? 0) > (SEVERITY[result.status] ?? 0)) return;
    this.results.set(result.id, result);
  }

  /** An empty name means the class itself, for example what `@BeforeAll` threw. */
  #place(
    className: string,
    method: string,
    module: string,
  ): Pick<TestResult, 'id' | 'file' | 'name'> {
    const found =
      this.#sources.findClass(className, module) ??
      posix.join(
        module,
        'src/test/java',
        `${(className.split('$', 1)[0] ?? '').replaceAll('.', '/')}.java`,
      );
    const file = this.#inProject(found);
    const name = method.replace(/\(\)$/, '');
    if (name === '' || name === 'initializationError' || name === className) {
      return { id: file, file, name: className };
    }
    const nested = className.split('$').slice(1);
    const full = [...nested, name].join(' > ');
    return { id: `${file}::${full}`, file, name: full };
  }

  #failure(
    problem: NonNullable<XmlTestCase['problem']>,
    testFile: string,
    module: string,
  ): TestFailure {
    const { frames, ...said } = junitFailure(problem);
    const own: SourcePlace[] = frames.flatMap((frame) => {
      const found = this.#sources.find(frame.file, module);
      return found === undefined ? [] : [{ ...frame, file: this.#inProject(found) }];
    });
    return {
      ...said,
      details: problem.text.trim() || said.message,
      ...placesOf(own, testFile, isJunitTestFile),
    };
  }
}

/** Surefire names classes, Gradle (by our init script) single tests. */
function unfinished(
  log: string,
): readonly { readonly className: string; readonly name?: string }[] {
  const running = new Map<string, { className: string; name?: string }>();
  for (const line of log.split('\n')) {
    const begun = /^\[INFO\] Running ([\w.$]+)$/.exec(line)?.[1];
    if (begun !== undefined) running.set(begun, { className: begun });
    const ended = /Tests run: .* Time elapsed: .*? (?:-- )?in ([\w.$]+)$/.exec(line)?.[1];
    if (ended !== undefined) running.delete(ended);
    const [, className = '', name = '', state] =
      /^([\w.$]+) > (.+) (STARTED|PASSED|FAILED|SKIPPED)$/.exec(line) ?? [];
    if (state === 'STARTED') running.set(`${className} > ${name}`, { className, name });
    else if (state !== undefined) running.delete(`${className} > ${name}`);
  }
  return [...running.values()];
}

/** javac by Maven, javac by Gradle, Kotlin by either. */
const COMPILER_ERRORS: readonly RegExp[] = [
  /^\[ERROR\] (\/.+\.\w+):\[(\d+),(\d+)\] (?:error: )?(.+)$/gm,
  /^(\/.+\.(?:java|groovy|scala)):(\d+): error: (.+)$/gm,
  /^e: (?:file:\/\/)?(\/.+\.kts?):(\d+):(\d+) (.+)$/gm,
];

function compilerErrors({ log, projectPath }: RawRun, folder: string): readonly CollectionError[] {
  const errors = new Map<string, CollectionError>();
  for (const pattern of COMPILER_ERRORS) {
    for (const found of log.matchAll(pattern)) {
      const [, path = '', line] = found;
      const message = found.at(-1) ?? '';
      if (!path.startsWith(`${folder}/`)) continue;
      const file = posix.join(projectPath, path.slice(folder.length + 1));
      const column = found.length > 4 ? Number(found[3]) : 0;
      if (errors.has(file)) continue;
      const place = { file, line: Number(line), ...(column > 0 && { column }) };
      errors.set(file, { file, message, place });
    }
  }
  return [...errors.values()];
}
