import { applyEdit, type Edit } from '../../tasks/operators/edit.ts';
import { outlineOf } from '../../tasks/operators/functions.ts';
import { readReport } from './failures.ts';
import { hintsOf } from './hints.ts';
import { createLearnt, type Learnt } from './learnt.ts';
import { offeredEdit, openTries, type Try } from './open-tries.ts';
import { createRandom } from './random.ts';
import { type Candidate, rankCandidates, type Subject } from './rank.ts';
import { toReplacement } from './replacement.ts';
import { lookAround, type Scene } from './scene.ts';
import { act, call, choose, type Steps, wasEdited } from './steps.ts';
import { findBlocksThatRun } from './trace.ts';

export interface SearchOptions {
  /** Turns that may be used; the search plans with them and leaves the last ones for handing in. */
  readonly turns: number;
  /** Candidates tried per turn. */
  readonly batch: number;
  /** Files that are viewed at most. */
  readonly files: number;
  /**
   * Somebody else chooses what is tried, each edit by itself, among so many that score most. undefined:
   * what scores most is tried.
   */
  readonly offered?: number | undefined;
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
  const scene = yield* lookAround(firstMessage, options.files);
  if (scene.subjects.every((subject) => !subject.editable)) {
    yield* act(
      handIn(
        'Nothing was changed: no source file that the failing test imports could be found and read.',
      ),
    );
    return;
  }
  const candidates = yield* rank(scene, seed);
  const state: State = {
    scene,
    options,
    left: () => options.turns - turnsUsed(),
    tried: 0,
    learnt: createLearnt(),
    partial: [],
  };
  const found = yield* tryAll(state, candidates, []);
  if (found) return;
  // One edit was not enough: build on those that made some of the way.
  for (const base of state.partial.sort((a, b) => b.progress - a.progress).slice(0, 3)) {
    if (state.left() <= RESERVED_TURNS) break;
    if (yield* buildOn(state, base.candidate)) return;
  }
  yield* act(
    handIn(
      `Nothing was changed: ${state.tried} single edits of ${editable(scene).length} files were tried and none of them fixed the failing test without breaking another one.`,
    ),
  );
}

const RESERVED_TURNS = 4;

function handIn(summary: string) {
  return { say: summary, calls: [call.submit(summary)] };
}

function* rank(scene: Scene, seed: number): Steps<readonly Candidate[]> {
  const trace = yield* findBlocksThatRun(editable(scene));
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
  readonly learnt: Learnt;
  partial: { readonly candidate: Candidate; readonly progress: number }[];
}

/** @returns true when a fix was handed in. */
function* tryAll(
  state: State,
  ranked: readonly Candidate[],
  base: readonly Candidate[],
): Steps<boolean> {
  const { scene, options, learnt } = state;
  const texts = currentTexts(state, base);
  const limit = base.length > 0 ? 30 : Number.POSITIVE_INFINITY;
  const open = openTries(ranked, texts, learnt);
  for (let round = 0; round < limit; round++) {
    const reserve =
      base.length === 0 && state.partial.length > 0 ? options.turns * 0.35 : RESERVED_TURNS;
    if (state.left() <= reserve) return false;
    const offered = open.best(options.offered ?? options.batch);
    if (offered.length === 0) return false;
    const batch = options.offered === undefined ? offered : yield* chosen(state, offered, texts);
    open.remove(new Set(batch.map(({ candidate }) => candidate)));
    const seen = yield* act({
      say: batch.map(({ candidate }) => `Trying ${describe(candidate)}.`).join('\n'),
      calls: batch.flatMap(({ candidate, oldText, newText }) => [
        call.replace(candidate.path, oldText, newText),
        call.runTests(),
        call.undo(candidate.path),
      ]),
    });
    for (const [index, { candidate }] of batch.entries()) {
      if (!wasEdited(seen[index * 3])) {
        open.removeFile(candidate.path);
        continue;
      }
      state.tried += 1;
      const report = readReport(seen[index * 3 + 1] ?? '');
      if (report.passed) {
        if (yield* confirm(state, candidate, base, texts)) return true;
      } else if (report.timedOut) {
        learnt.slow(candidate);
      } else {
        const progress = learnt.failed(candidate, scene.failures, report);
        if (base.length === 0 && progress > 0 && report.failures.length > 0)
          state.partial.push({ candidate, progress });
      }
    }
  }
  return false;
}

/** Leaves the choice to whoever reads the steps. */
function* chosen(
  { scene, learnt }: State,
  offered: readonly Try[],
  texts: ReadonlyMap<string, string>,
): Steps<readonly Try[]> {
  const index = yield* choose({
    texts: new Map(editable(scene).map(({ path }) => [path, texts.get(path) ?? ''])),
    edits: offered.map((one) => offeredEdit(one, learnt)),
  });
  const one = offered[index];
  if (one === undefined) throw new RangeError(`There is no edit ${index} of ${offered.length}.`);
  return [one];
}

function currentTexts(state: State, base: readonly Candidate[]): ReadonlyMap<string, string> {
  const texts = new Map(state.scene.subjects.map((subject) => [subject.path, subject.text]));
  for (const { path, edit } of base) texts.set(path, applyEdit(texts.get(path) ?? '', edit));
  return texts;
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
  const seen = yield* act({
    say: `The failing test passes with ${describe(candidate)}. Running the whole test files with it.`,
    calls: [
      call.replace(candidate.path, change.oldText, change.newText),
      call.runTests(),
      call.runTests(scene.testFiles),
    ],
  });
  const again = readReport(seen[1] ?? '');
  const whole = readReport(seen[2] ?? '');
  const known = new Set(scene.baseline.failures.map((failure) => failure.id));
  const broken = whole.failures.filter((failure) => !known.has(failure.id));
  const worse = whole.failedCount > scene.baseline.failedCount;
  if (again.passed && broken.length === 0 && !worse) {
    yield* act(handIn(summaryOf(state, [...base, candidate])));
    return true;
  }
  yield* act({
    say: again.passed
      ? 'It breaks other tests, so it is taken back.'
      : 'It does not pass every time, so it is taken back.',
    calls: [call.undo(candidate.path)],
  });
  return false;
}

/** Keeps an edit that helped some of the way and tries a second one on top of it. */
function* buildOn(state: State, base: Candidate): Steps<boolean> {
  const { scene } = state;
  const subject = scene.subjects.find((item) => item.path === base.path);
  const change = toReplacement(subject?.text ?? '', base.edit);
  if (subject === undefined || change === undefined) return false;
  const [edited, ran] = yield* act({
    say: `Keeping ${describe(base)}, which helps some of the way.`,
    calls: [call.replace(base.path, change.oldText, change.newText), call.runTests()],
  });
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
  yield* act({ say: 'Taking it back.', calls: [call.undo(base.path)] });
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
