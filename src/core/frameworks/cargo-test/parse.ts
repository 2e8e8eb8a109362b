import { posix } from 'node:path';
import { z } from 'zod';
import type {
  CollectionError,
  ParsedReport,
  RawRun,
  SourcePlace,
  TestResult,
} from '../framework.ts';
import { readJsonLines } from '../json-lines.ts';
import { describeExit, placesOf } from '../report.ts';
import { isCargoTestFile } from './detect.ts';
import { cargoFailure } from './failure.ts';
import { docTest, locateTest } from './names.ts';
import { type Program, type ProgramRun, readListing, readRuns } from './output.ts';

const span = z.object({
  file_name: z.string(),
  line_start: z.number().int().positive(),
  column_start: z.number().int().positive(),
  is_primary: z.boolean(),
});

/** Of cargo's messages (`cargo --message-format=json`) the parts that are needed, and our own lines. */
const jsonLine = z.union([
  z.object({ type: z.literal('start'), mode: z.enum(['run', 'list']), folder: z.string() }),
  z.object({ type: z.literal('end') }),
  z.object({
    reason: z.literal('compiler-artifact'),
    manifest_path: z.string(),
    target: z.object({ name: z.string(), src_path: z.string() }),
    executable: z.string().nullable(),
  }),
  z.object({
    reason: z.literal('compiler-message'),
    target: z.object({ src_path: z.string() }),
    message: z.object({
      level: z.string(),
      message: z.string(),
      rendered: z.string().nullable(),
      spans: z.array(span),
    }),
  }),
]);

type Message = Extract<z.output<typeof jsonLine>, { reason: 'compiler-message' }>;

/** A test program or the documentation of a crate, as cargo built it; paths relative to the project. */
interface Crate {
  readonly root: string;
  /** Folder of its package. */
  readonly folder: string;
}

/** Reads the report of `launch.sh`. */
export function parseCargoReport(report: Uint8Array, run: RawRun): ParsedReport {
  const text = new TextDecoder().decode(report);
  const [build = '', listed = '', ran] = sections(text);
  const crates = new Map<string, Crate>();
  const broken: Message[] = [];
  let folder = '';
  let listing = false;
  for (const entry of readJsonLines(build, jsonLine)) {
    if ('type' in entry) {
      if (entry.type === 'start') ({ folder } = entry);
      if (entry.type === 'start') listing = entry.mode === 'list';
    } else if (entry.reason === 'compiler-artifact') {
      const crate = {
        root: relative(folder, entry.target.src_path),
        folder: posix.dirname(relative(folder, entry.manifest_path)),
      };
      if (entry.executable !== null) crates.set(posix.basename(entry.executable), crate);
      crates.set(`doc ${entry.target.name.replaceAll('-', '_')}`, crate);
    } else if (/^error/.test(entry.message.level)) broken.push(entry);
  }
  const files = new Set(
    [...build.matchAll(/^@file (?:\.\/)?(.+)$/gm)].map(([, file]) => file ?? ''),
  );
  const context: Context = { run, folder, files, crates, results: new Map() };
  const programs = readListing(listed);
  if (listing) {
    for (const program of programs) {
      for (const name of program.tests) addResult(context, program, name, 'listed');
    }
  } else if (ran !== undefined) {
    for (const program of readRuns(ran, programs)) readProgram(context, program);
  }
  const ended = /^\{"type":"end"\}$/m.test(text);
  return {
    results: [...context.results.values()],
    collectionErrors: collectionErrors(broken, folder, run),
    complete: ended && broken.length === 0 && (listing || ran !== undefined),
  };
}

/** Build, list, run; undefined where the launcher did not come so far. */
function sections(text: string): readonly (string | undefined)[] {
  const [build, rest] = halves(text, /^@list$/m);
  if (rest === undefined) return [build];
  return [build, ...halves(rest, /^@run$/m)];
}

function halves(text: string, mark: RegExp): readonly [string, string | undefined] {
  const found = mark.exec(text);
  if (!found) return [text, undefined];
  return [text.slice(0, found.index), text.slice(found.index + found[0].length)];
}

function relative(folder: string, path: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

interface Context {
  readonly run: RawRun;
  /** Of the project, absolute. */
  readonly folder: string;
  readonly files: ReadonlySet<string>;
  readonly crates: ReadonlyMap<string, Crate>;
  readonly results: Map<string, TestResult>;
}

const SEVERITY: Readonly<Record<string, number>> = { passed: 1, failed: 2, error: 3 };

/** @returns where the test is, with the result added; of several with one id the worst stays */
function addResult(
  context: Context,
  program: Program,
  name: string,
  status: TestResult['status'],
  failureOf?: (file: string, line: number | undefined) => TestResult['failure'],
): void {
  const { results, run } = context;
  const place = locate(context, program, name);
  const file = posix.join(run.projectPath, place.file);
  let id = posix.join(run.projectPath, place.id);
  // Several doc tests of one item.
  if (program.isDoc) {
    for (let number = 2; results.has(id); number++) {
      id = `${posix.join(run.projectPath, place.id)} #${number}`;
    }
  }
  const before = results.get(id);
  if (before && (SEVERITY[before.status] ?? 0) >= (SEVERITY[status] ?? 0)) return;
  const failure = failureOf?.(file, place.line);
  results.set(id, {
    ...{ id, file, name: place.name, status, durationMs: 0 },
    ...(place.line !== undefined && { line: place.line }),
    ...(failure && { failure }),
  });
}

function locate(
  { crates, files }: Context,
  program: Program,
  name: string,
): { readonly file: string; readonly id: string; readonly name: string; readonly line?: number } {
  const doc = program.isDoc ? docTest(name) : undefined;
  if (doc) return { ...doc, id: `${doc.file}::${doc.name}` };
  const root = crates.get(program.key)?.root ?? program.source;
  return { ...locateTest(root, name, files), name };
}

function readProgram(context: Context, program: ProgramRun): void {
  const { run, folder } = context;
  const packageFolder = context.crates.get(program.key)?.folder ?? '';
  for (const [name, { status, output }] of program.results) {
    addResult(context, program, name, status, (file, line) => {
      if (status !== 'failed') return undefined;
      const details = output.replaceAll(`${folder}/`, '');
      const { message, frames, at } = cargoFailure(details);
      const inProject = (path: string): string => posix.join(run.projectPath, path);
      // Frames are relative to where the test runs, the panic's place to where it was compiled.
      const own: SourcePlace[] = frames.map((frame) => ({
        ...frame,
        file: frame.file.startsWith('./')
          ? inProject(posix.join(packageFolder, frame.file))
          : frame.file.startsWith('/')
            ? frame.file
            : inProject(frame.file),
      }));
      if (at) own.unshift({ ...at, file: inProject(at.file), ...functionAt(own, at.line) });
      return {
        message,
        details,
        ...(line !== undefined && { place: { file, line } }),
        ...placesOf(own, file, (path) => path !== own[0]?.file && isCargoTestFile(path)),
      };
    });
  }
  if (program.ended) return;
  const how =
    run.exitCode === undefined
      ? 'this test had no result when the time was up'
      : `the test program ended before this test had a result (${program.exit ?? describeExit(run.exitCode)})`;
  for (const name of program.missing) {
    addResult(context, program, name, 'error', (file) => ({
      message: how,
      details: [how, program.rest].join('\n').replaceAll(`${folder}/`, ''),
      place: { file, line: 1 },
    }));
  }
}

function functionAt(frames: readonly SourcePlace[], line: number): { readonly function?: string } {
  const name = frames.find((frame) => frame.line === line)?.function;
  return name === undefined ? {} : { function: name };
}

/** For the root of each crate that cannot be built, and for the files with the errors. */
function collectionErrors(
  broken: readonly Message[],
  folder: string,
  run: RawRun,
): readonly CollectionError[] {
  const errors = new Map<string, CollectionError>();
  for (const { target, message } of broken) {
    const primary = message.spans.find(({ is_primary: primary }) => primary);
    const path = (name: string): string => posix.join(run.projectPath, relative(folder, name));
    const at = primary && {
      file: path(primary.file_name),
      line: primary.line_start,
      column: primary.column_start,
    };
    const root = path(target.src_path);
    for (const file of new Set([root, at?.file ?? root])) {
      if (errors.has(file) || file.startsWith('/')) continue;
      const text =
        at && at.file !== file ? `${message.message} (${at.file}:${at.line})` : message.message;
      errors.set(file, { file, message: text, ...(at && { place: at }) });
    }
  }
  return [...errors.values()];
}
