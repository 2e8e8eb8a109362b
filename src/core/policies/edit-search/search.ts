import { importsOf, isTestPath, type Packages } from '../../frameworks/imports.ts';
import { applyEdit, type Edit, languageOf } from '../../tasks/operators/edit.ts';
import { outlineOf } from '../../tasks/operators/functions.ts';
import {
  type FailureBlock,
  fileOf,
  readFailures,
  readReport,
  type TestReport,
} from './failures.ts';
import { hintsOf } from './hints.ts';
import { createRandom } from './random.ts';
import { type Candidate, rankCandidates, type Subject } from './rank.ts';
import { toReplacement } from './replacement.ts';
import { call, type Steps, viewAll, wasEdited } from './steps.ts';
import { type Instrumented, instrument, readTrace, traceCalls } from './trace.ts';

export interface SearchOptions {
  /** Turns that may be used; the search plans with them and leaves the last ones for handing in. */
  readonly turns: number;
  /** Candidates tried per turn. */
  readonly batch: number;
  /** Files that are viewed at most. */
  readonly files: number;
}

/** Another attempt looks elsewhere: from the second on the order is spread by the seed. */
export function* searchFix(
  firstMessage: string,
  seed: number,
  options: SearchOptions,
): Steps<void> {
  let turns = 0;
  const inner = investigate(firstMessage, seed, options, () => turns);
  let step = inner.next([]);
  while (step.done !== true) {
    turns += 1;
    step = inner.next(yield step.value);
  }
}

function* investigate(
  firstMessage: string,
  seed: number,
  options: SearchOptions,
  turnsUsed: () => number,
): Steps<void> {
  const scene = yield* lookAround(firstMessage, options);
  if (scene.subjects.every((subject) => !subject.editable)) {
    yield handIn(
      'Nothing was changed: no source file that the failing test imports could be found and read.',
    );
    return;
  }
  const candidates = yield* rank(scene, seed);
  const state: State = {
    scene,
    options,
    left: () => options.turns - turnsUsed(),
    tried: 0,
    learnt: new Map(),
    partial: [],
  };
  const found = yield* tryAll(state, candidates, []);
  if (found) return;
  // One edit was not enough: build on those that made some of the way.
  for (const base of state.partial.sort((a, b) => b.progress - a.progress).slice(0, 3)) {
    if (state.left() <= RESERVED_TURNS) break;
    if (yield* buildOn(state, base.candidate)) return;
  }
  yield handIn(
    `Nothing was changed: ${state.tried} single edits of ${editable(scene).length} files were tried and none of them fixed the failing test without breaking another one.`,
  );
}

const RESERVED_TURNS = 4;

function handIn(summary: string) {
  return { say: summary, calls: [call.submit(summary)] };
}

/** What is known before the first edit. */
interface Scene {
  readonly failures: readonly FailureBlock[];
  readonly subjects: readonly Subject[];
  /** Test files that are run to see what else an edit breaks, the failing ones first. */
  readonly testFiles: readonly string[];
  readonly baseline: TestReport;
}

const SOURCES = ['js', 'cjs', 'mjs', 'jsx', 'ts', 'cts', 'mts', 'tsx', 'py', 'rs', 'go'];
const LISTED_FILES = 350;
const REGRESSION_FILES = 12;

const LIST_COMMAND = [
  `cd /workspace && find . \\( -name node_modules -o -name .git -o -name .venv -o -name venv -o -name __pycache__ -o -name dist -o -name build -o -name .tox -o -name target \\) -prune -o -type f`,
  `\\( -name package.json ${SOURCES.map((extension) => `-o -name '*.${extension}'`).join(' ')} \\) -print`,
  `| sed 's|^\\./||' | LC_ALL=C sort | head -n ${LISTED_FILES}`,
].join(' ');

function* lookAround(firstMessage: string, options: SearchOptions): Steps<Scene> {
  let failures = readFailures(firstMessage);
  const [listing, first] = yield {
    say: 'Looking at the files of the workspace and at how the tests fail.',
    calls: [call.bash(LIST_COMMAND), call.runTests()],
  };
  const report = readReport(first ?? '');
  if (report.failures.length > 0) failures = report.failures;
  const files = new Set((listing ?? '').split('\n').filter((line) => /^[^[(].*\.\w+$/.test(line)));
  const failing = [...new Set(failures.map((failure) => fileOf(failure.id)))];
  for (const file of failing) files.add(file);

  const packages = yield* readPackages(files);
  const subjects: Subject[] = [];
  const known = new Set<string>();
  let front = [
    ...failing,
    ...failures.flatMap((f) => [f.inside?.file, f.at?.file]).filter((file) => file !== undefined),
  ];
  for (let depth = 0; front.length > 0 && subjects.length < options.files; depth++) {
    const fresh = [...new Set(front)]
      .filter((path) => !known.has(path) && files.has(path) && languageOf(path) !== undefined)
      .slice(0, options.files - subjects.length);
    for (const path of fresh) known.add(path);
    const texts = yield* viewAll(
      fresh,
      depth === 0 ? 'Reading the failing test.' : 'Reading what it imports.',
    );
    front = [];
    for (const [path, text] of texts) {
      const language = languageOf(path);
      if (language === undefined) continue;
      // Rust's tests stand in the files that they test; the operators leave them alone.
      const isTest = isTestPath(path) || (failing.includes(path) && language !== 'rust');
      subjects.push({
        ...{ path, text, language, depth, editable: !isTest },
        outline: outlineOf(text, language),
      });
      front.push(...importsOf(path, text, files, packages));
    }
  }

  const testFiles = [...new Set([...failing, ...nearTests(files, failing)])].slice(
    0,
    REGRESSION_FILES,
  );
  const [all] = yield {
    say: 'Running the whole test files, to know later what an edit breaks.',
    calls: [call.runTests(testFiles)],
  };
  return {
    failures,
    subjects,
    testFiles,
    baseline: readReport(all ?? ''),
  };
}

/** Other test files of the same language and folder tree. */
function nearTests(files: ReadonlySet<string>, failing: readonly string[]): readonly string[] {
  const python = failing.some((file) => file.endsWith('.py'));
  const top = (path: string) => path.split('/').slice(0, -1).join('/');
  const tops = new Set(failing.map(top));
  return [...files].filter(
    (path) =>
      path.endsWith('.py') === python &&
      /(?:^|\/)test_[^/]*\.py$|_test\.py$|[._-](?:test|spec)\.[cm]?[jt]sx?$/.test(path) &&
      [...tops].some((folder) => top(path).startsWith(folder)),
  );
}

function* readPackages(files: ReadonlySet<string>): Steps<Packages> {
  const manifests = [...files].filter((path) => path.endsWith('package.json')).slice(0, 12);
  if (manifests.length === 0 || ![...files].some((path) => /\.[cm]?[jt]sx?$/.test(path)))
    return new Map();
  const texts = yield* viewAll(
    manifests,
    'Reading the package manifests for the names of packages.',
  );
  const packages = new Map<string, string>();
  for (const [path, text] of texts) {
    const name = /^\s*"name":\s*"([^"]+)"/m.exec(text)?.[1];
    if (name !== undefined) packages.set(name, path.replace(/(?:^|\/)package\.json$/, '') || '.');
  }
  return packages;
}

const TRACED_BYTES = 60_000;

function* rank(scene: Scene, seed: number): Steps<readonly Candidate[]> {
  const instrumented: Instrumented[] = [];
  let bytes = 0;
  let number = 1;
  for (const subject of scene.subjects) {
    if (!subject.editable || bytes + subject.text.length > TRACED_BYTES) continue;
    const traced = instrument(subject.path, subject.text, subject.language, number);
    if (traced === undefined) continue;
    bytes += traced.text.length;
    number += traced.blocks.length;
    instrumented.push(traced);
  }
  let ran: ReadonlySet<number> = new Set();
  if (instrumented.length > 0) {
    const seen = yield {
      say: 'Finding out which blocks the failing test runs; the files are put back at once.',
      calls: traceCalls(instrumented),
    };
    ran = readTrace(seen[2]);
  }
  const trace =
    ran.size === 0 ? undefined : { blocks: instrumented.flatMap((item) => item.blocks), ran };
  return rankCandidates({
    subjects: scene.subjects,
    failures: scene.failures,
    hints: hintsOf(scene.failures),
    trace,
    random: seed === 0 ? undefined : createRandom(seed),
  });
}

interface State {
  readonly scene: Scene;
  readonly options: SearchOptions;
  /** Turns that are left. */
  readonly left: () => number;
  tried: number;
  /** Factor per place: where edits change the failure, more of them are tried. */
  readonly learnt: Map<string, number>;
  partial: { readonly candidate: Candidate; readonly progress: number }[];
}

/** @returns true when a fix was handed in. */
function* tryAll(
  state: State,
  ranked: readonly Candidate[],
  base: readonly Candidate[],
): Steps<boolean> {
  const texts = currentTexts(state, base);
  const limit = base.length > 0 ? 30 : Number.POSITIVE_INFINITY;
  let open = [...ranked];
  for (let round = 0; open.length > 0 && round < limit; round++) {
    const reserve =
      base.length === 0 && state.partial.length > 0 ? state.options.turns * 0.35 : RESERVED_TURNS;
    if (state.left() <= reserve) return false;
    open.sort((a, b) => weight(state, b) - weight(state, a));
    const batch: { candidate: Candidate; oldText: string; newText: string }[] = [];
    const rest: Candidate[] = [];
    for (const candidate of open) {
      if (batch.length >= state.options.batch) {
        rest.push(candidate);
        continue;
      }
      const change = toReplacement(texts.get(candidate.path) ?? '', candidate.edit);
      if (change !== undefined) batch.push({ candidate, ...change });
    }
    open = rest;
    if (batch.length === 0) return false;
    const seen = yield {
      say: batch.map(({ candidate }) => `Trying ${describe(candidate)}.`).join('\n'),
      calls: batch.flatMap(({ candidate, oldText, newText }) => [
        call.replace(candidate.path, oldText, newText),
        call.runTests(),
        call.undo(candidate.path),
      ]),
    };
    for (const [index, { candidate }] of batch.entries()) {
      if (!wasEdited(seen[index * 3])) {
        open = open.filter((other) => other.path !== candidate.path);
        continue;
      }
      state.tried += 1;
      const report = readReport(seen[index * 3 + 1] ?? '');
      if (report.passed) {
        if (yield* confirm(state, candidate, base, texts)) return true;
      } else if (report.timedOut) {
        // An endless loop costs as much as many other tries: leave its line and its kind for last.
        slow(state, candidate);
      } else {
        learn(state, candidate, report, base.length === 0);
      }
    }
  }
  return false;
}

function weight(state: State, candidate: Candidate): number {
  const place = state.learnt.get(candidate.place) ?? 1;
  const line = state.learnt.get(`${candidate.path}:${candidate.edit.line}`) ?? 1;
  const { path, edit } = candidate;
  const kind = state.learnt.get(`${path}:${edit.line}:${edit.operator}`) ?? 1;
  return candidate.score * place * line * kind;
}

function currentTexts(state: State, base: readonly Candidate[]): ReadonlyMap<string, string> {
  const texts = new Map(state.scene.subjects.map((subject) => [subject.path, subject.text]));
  for (const { path, edit } of base) texts.set(path, applyEdit(texts.get(path) ?? '', edit));
  return texts;
}

/** What a failed try says about its place. */
function learn(
  state: State,
  candidate: Candidate,
  report: TestReport,
  isFirstLevel: boolean,
): void {
  const before = new Map(state.scene.failures.map((failure) => [failure.id, failure]));
  const broke = report.failures.some((failure) => failure.kind === 'file');
  let progress = 0;
  let changed = before.size !== report.failures.length;
  if (changed && !broke) progress += before.size - report.failures.length;
  for (const failure of report.failures) {
    const old = before.get(failure.id);
    if (old === undefined || broke) continue;
    if (signature(old) !== signature(failure)) changed = true;
    const [was, is] = [old.at, failure.at];
    if (was !== undefined && is?.file === was.file && is.line > was.line) progress += 0.5;
  }
  if (isFirstLevel && progress > 0 && report.failures.length > 0) {
    state.partial.push({ candidate, progress });
  }
  const adjust = (key: string, factor: number) => {
    const next = (state.learnt.get(key) ?? 1) * factor;
    state.learnt.set(key, Math.min(2.5, Math.max(0.2, next)));
  };
  const line = `${candidate.path}:${candidate.edit.line}`;
  adjust(candidate.place, changed && !broke ? 1.06 : 0.985);
  adjust(line, broke ? 1 : changed ? 1.12 : 0.9);
  if (progress > 0) {
    adjust(candidate.place, 1.2);
    adjust(line, 1.2);
  }
}

function slow(state: State, { path, edit }: Candidate): void {
  for (const key of [`${path}:${edit.line}`, `${path}:${edit.line}:${edit.operator}`]) {
    state.learnt.set(key, (state.learnt.get(key) ?? 1) * 0.3);
  }
}

function signature(failure: FailureBlock): string {
  return JSON.stringify([failure.expected, failure.actual, failure.message, failure.at?.line]);
}

/** Applies the edit again, sees that nothing else broke, and hands in. */
function* confirm(
  state: State,
  candidate: Candidate,
  base: readonly Candidate[],
  texts: ReadonlyMap<string, string>,
): Steps<boolean> {
  const { scene } = state;
  const change = toReplacement(texts.get(candidate.path) ?? '', candidate.edit);
  if (change === undefined) return false;
  const seen = yield {
    say: `The failing test passes with ${describe(candidate)}. Running the whole test files with it.`,
    calls: [
      call.replace(candidate.path, change.oldText, change.newText),
      call.runTests(),
      call.runTests(scene.testFiles),
    ],
  };
  const again = readReport(seen[1] ?? '');
  const whole = readReport(seen[2] ?? '');
  const known = new Set(scene.baseline.failures.map((failure) => failure.id));
  const broken = whole.failures.filter((failure) => !known.has(failure.id));
  const worse = whole.failedCount > scene.baseline.failedCount;
  if (again.passed && broken.length === 0 && !worse) {
    yield handIn(summaryOf(state, [...base, candidate]));
    return true;
  }
  yield {
    say: again.passed
      ? 'It breaks other tests, so it is taken back.'
      : 'It does not pass every time, so it is taken back.',
    calls: [call.undo(candidate.path)],
  };
  return false;
}

/** Keeps an edit that helped some of the way and tries a second one on top of it. */
function* buildOn(state: State, base: Candidate): Steps<boolean> {
  const { scene } = state;
  const subject = scene.subjects.find((item) => item.path === base.path);
  const change = toReplacement(subject?.text ?? '', base.edit);
  if (subject === undefined || change === undefined) return false;
  const [edited, ran] = yield {
    say: `Keeping ${describe(base)}, which helps some of the way.`,
    calls: [call.replace(base.path, change.oldText, change.newText), call.runTests()],
  };
  if (!wasEdited(edited)) return false;
  const { failures } = readReport(ran ?? '');
  const text = applyEdit(subject.text, base.edit);
  const subjects = scene.subjects.map((item) =>
    item.path === base.path ? { ...item, text, outline: outlineOf(text, item.language) } : item,
  );
  const ranked = rankCandidates({
    subjects,
    failures,
    hints: hintsOf(failures),
    trace: undefined,
    random: undefined,
  });
  const near = ranked.map((candidate) => ({
    ...candidate,
    score:
      candidate.score *
      (candidate.path === base.path && Math.abs(candidate.edit.line - base.edit.line) < 15 ? 2 : 1),
  }));
  if (yield* tryAll(state, near, [base])) return true;
  yield { say: 'Taking it back.', calls: [call.undo(base.path)] };
  return false;
}

function editable(scene: Scene): readonly Subject[] {
  return scene.subjects.filter((subject) => subject.editable);
}

function describe({ path, edit }: Candidate): string {
  return `${edit.description} in ${path}:${edit.line}`;
}

function summaryOf(state: State, edits: readonly Candidate[]): string {
  const parts = edits.map((candidate) => {
    const { path, edit } = candidate;
    const text = state.scene.subjects.find((subject) => subject.path === path)?.text ?? '';
    return `${path}:${edit.line} was wrong (${edit.description}). ${lineChange(text, edit)}`;
  });
  const { length } = state.scene.testFiles;
  return `${parts.join(' ')} The failing test passes, and nothing else broke in ${length === 1 ? 'its test file' : `${length} test files`}.`;
}

function lineChange(text: string, edit: Edit): string {
  const from = text.lastIndexOf('\n', edit.from - 1) + 1;
  const cut = (value: string) => {
    const line = value.split('\n')[0]?.trim() ?? '';
    return line.length > 120 ? `${line.slice(0, 119)}…` : line;
  };
  const before = cut(text.slice(from));
  const after = cut(applyEdit(text, edit).slice(from));
  return before === after ? 'Several lines changed.' : `\`${before}\` became \`${after}\`.`;
}
