import { performance } from 'node:perf_hooks';
import type { PreparedProject } from '../fix/prepare.ts';
import type { TestResult } from '../frameworks/framework.ts';
import { makeBaseline } from '../grading/baseline.ts';
import { runAll, withSession } from '../grading/session-run.ts';
import type { BaselineOutcome, GradeSetup } from '../grading/types.ts';
import { WORKSPACE } from '../sandbox/sandbox.ts';
import { editPatch } from './edit-patch.ts';
import { chooseHidden, findTestUnits, type TestUnit } from './hide.ts';
import { candidateBugs, type DropReason, type OperatorUse, qualify } from './inject.ts';
import { applyEdit, type Edit, languageOf } from './operators/edit.ts';
import { OPERATORS } from './operators/operator-table.ts';
import { createChance } from './random.ts';
import { shapeHash, shapeWords } from './shape.ts';
import { finishTask, type Task } from './task.ts';
import { type FileTree, readTree, treeHash } from './tree.ts';
import { cutRanges } from './views.ts';

export interface RepositoryOptions {
  readonly project: PreparedProject;
  readonly seed: number;
  /** Tasks wanted at most. */
  readonly limit: number;
  /** No candidate is begun after so long. */
  readonly maxMs: number;
  readonly signal?: AbortSignal;
  /** Called after every candidate; must not throw. */
  readonly onProgress?: (state: { readonly kept: number; readonly tried: number }) => void;
}

export interface RepositoryReport {
  /** Source files that have operators, and those of them that a test loads, as far as looked at. */
  readonly files: number;
  readonly covered: number;
  readonly notCovered: readonly string[];
  readonly candidates: number;
  readonly dropped: ReadonlyMap<DropReason, number>;
  readonly stopped: 'limit' | 'time' | 'no more candidates';
}

export type RepositoryOutcome =
  | {
      readonly kind: 'built';
      readonly tasks: readonly Task[];
      readonly trees: ReadonlyMap<string, FileTree>;
      readonly report: RepositoryReport;
    }
  | Exclude<BaselineOutcome, { readonly kind: 'baseline' }>
  | { readonly kind: 'none-pass'; readonly reason: string };

/** Small files hold nothing to break, large ones are no tasks for small models. */
const SOURCE_BYTES = { least: 80, most: 60_000 };
const NO_SOURCE =
  /(?:^|\/)(?:node_modules|site-packages|dist|build|out|vendor|docs?|examples?|scripts?|benchmarks?|fixtures?|migrations?|\.[^/]+)\/|\.d\.[cm]?ts$|\.min\.js$|(?:^|\/)(?:setup|conftest|__init__)\.py$|\.config\.[cm]?[jt]s$/;
const LOCK_FILES =
  /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|requirements[\w.-]*\.txt|pyproject\.toml|poetry\.lock|uv\.lock|Pipfile\.lock)$/;
const BUGS_PER_FILE = 12;

/** Bugs in a real repository whose tests pass. Everything runs in the project's sandbox. */
export async function tasksFromRepository(options: RepositoryOptions): Promise<RepositoryOutcome> {
  const { project, seed, limit, maxMs, signal, onProgress } = options;
  const began = performance.now();
  const baselined = await makeBaseline(project.setup, { signal });
  if (baselined.kind !== 'baseline') return baselined;
  const { baseline } = baselined;
  const ids = baseline.results.map(({ id }) => id);
  const passing = baseline.passing.filter((id) => !hasSubtests(id, ids));
  if (passing.length < 2) {
    return {
      kind: 'none-pass',
      reason: `${passing.length} of ${baseline.results.length} tests pass; a bug needs tests that notice it and tests that do not.`,
    };
  }
  // A bug may loop: what takes ten times as long as the healthy run (two of them) is one.
  const timeoutMs = Math.min(project.setup.timeoutMs, Math.max(10_000, 5 * baseline.durationMs));
  const setup: GradeSetup = { ...project.setup, timeoutMs };
  const tree = await readTree(project.setup.spec.base.tree);
  const context: Context = {
    setup,
    tree,
    hash: treeHash(tree),
    hideable: baseline.results.filter(({ id }) => passing.includes(id) && !sharesName(id, ids)),
    passing,
    project,
    seed,
    signal,
  };

  const chance = createChance('repository', seed);
  const used: OperatorUse = new Map();
  const dropped = new Map<DropReason, number>();
  const tasks: Task[] = [];
  const queues = chance
    .shuffle(sourcePaths(tree, setup).sort())
    .map((path): Queue => ({ path, covered: undefined, edits: [], kept: 0 }));
  let candidates = 0;
  const isOver = (): boolean => performance.now() - began > maxMs;
  const isDone = (): boolean => tasks.length >= limit || isOver();
  for (let rest = queues; rest.length > 0 && !isDone(); ) {
    for (const queue of rest) {
      if (isDone()) break;
      signal?.throwIfAborted();
      if (queue.covered === undefined) {
        queue.covered = await isCovered(context, queue.path);
        const text = textOf(tree, queue.path);
        const language = languageOf(queue.path);
        if (!queue.covered || language === undefined) continue;
        queue.edits = [
          ...candidateBugs(text, language, used, createChance('file', seed, queue.path)),
        ];
      }
      const edit = queue.edits.shift();
      if (edit === undefined) continue;
      candidates += 1;
      const judged = await judge(context, queue.path, edit);
      if (typeof judged === 'string') dropped.set(judged, (dropped.get(judged) ?? 0) + 1);
      else {
        tasks.push(judged);
        queue.kept += 1;
        used.set(edit.operator, (used.get(edit.operator) ?? 0) + 1);
      }
      onProgress?.({ kept: tasks.length, tried: candidates });
    }
    rest = rest.filter(
      ({ covered, edits, kept }) => covered !== false && edits.length > 0 && kept < BUGS_PER_FILE,
    );
  }
  return {
    kind: 'built',
    tasks,
    trees: new Map([[context.hash, tree]]),
    report: {
      files: queues.length,
      covered: queues.filter(({ covered }) => covered === true).length,
      notCovered: queues.filter(({ covered }) => covered === false).map(({ path }) => path),
      candidates,
      dropped,
      stopped: tasks.length >= limit ? 'limit' : isOver() ? 'time' : 'no more candidates',
    },
  };
}

interface Queue {
  readonly path: string;
  covered: boolean | undefined;
  edits: Edit[];
  kept: number;
}

interface Context {
  readonly setup: GradeSetup;
  readonly tree: FileTree;
  readonly hash: string;
  /** Those that pass on the original. */
  readonly passing: readonly string[];
  /** Those of them that can be told from all others by their names. */
  readonly hideable: readonly TestResult[];
  readonly project: PreparedProject;
  readonly seed: number;
  readonly signal: AbortSignal | undefined;
}

/** Does any test load the file? Found out by an error at its end. */
async function isCovered(context: Context, path: string): Promise<boolean> {
  const text = textOf(context.tree, path);
  const error =
    languageOf(path) === 'python'
      ? "\nraise RuntimeError('loaded')\n"
      : "\n;throw new Error('loaded');\n";
  const run = await runWith(context, new Map([[path, text + error]]));
  if (typeof run === 'string') return run !== 'does not end';
  return context.passing.some((id) => run.get(id) !== true);
}

async function judge(context: Context, path: string, edit: Edit): Promise<Task | DropReason> {
  const { tree, passing, hideable, project, seed } = context;
  const source = textOf(tree, path);
  const broken = applyEdit(source, edit);
  const first = await runWith(context, new Map([[path, broken]]));
  if (typeof first === 'string') return first;
  const verdict = qualify(passing, first);
  if (verdict.kind === 'dropped') return verdict.reason;

  const failing = new Set(verdict.targets);
  const units = unitsOf(tree, hideable);
  const hiddenUnits = chooseHidden(
    units,
    passing,
    failing,
    createChance('hidden', seed, path, edit.from, edit.newText),
  );
  if (hiddenUnits.length === 0) return 'nothing to hide';
  const second = await runWith(context, new Map([[path, broken]]));
  if (typeof second === 'string' || !agree(passing, first, second)) return 'runs differ';

  const hidden = new Set(hiddenUnits.flatMap((unit) => unit.ids));
  const changed = new Map([[path, broken]]);
  for (const file of new Set(hiddenUnits.map((unit) => unit.path))) {
    const ranges = hiddenUnits.filter((unit) => unit.path === file);
    changed.set(file, cutRanges(textOf(tree, file), ranges));
  }
  const visible = passing.filter((id) => !hidden.has(id));
  const seen = await runWith(context, changed);
  if (
    typeof seen === 'string' ||
    !agree(visible, first, seen) ||
    [...hidden].some((id) => seen.has(id)) ||
    // A failure that only the cut makes could not be mended by anybody.
    [...seen].some(([id, passed]) => !passed && first.get(id) !== false)
  ) {
    return 'visible tests behave differently alone';
  }
  const language = languageOf(path) ?? 'javascript';
  return finishTask({
    source: { kind: 'repository', name: project.workspaceName },
    tree: context.hash,
    framework: context.setup.framework.id,
    projectPath: context.setup.projectPath,
    bug: {
      path,
      from: edit.from,
      to: edit.to,
      oldText: edit.oldText,
      newText: edit.newText,
      line: edit.line,
      operator: edit.operator,
      family: OPERATORS[edit.operator].family,
      description: edit.description,
    },
    hiddenRanges: hiddenUnits.map((unit) => ({ path: unit.path, from: unit.from, to: unit.to })),
    visible,
    hidden: passing.filter((id) => hidden.has(id)),
    targets: [...verdict.targets],
    passing: [...verdict.passing],
    patch: editPatch(path, broken, source, tree.get(path)?.mode),
    environment: {
      tool: language === 'python' ? 'python' : 'node',
      range: '',
      // Tasks are handed on: paths of this machine are nobody's business.
      detail: project.detail.replace(/ \(\/[^)]*\)|(?: (?:at|in))? \/[^\s,]+/g, ''),
      lockFiles: [...tree.keys()].filter((file) => LOCK_FILES.test(file)).sort(),
    },
    checked: { original: 2, bug: 2, visible: 1 },
    shapes: {
      original: shapeHash(shapeWords(source, language)),
      bug: shapeHash(shapeWords(broken, language)),
    },
  });
}

/** Runs all tests on a fresh layer with changed files: id → passed. */
async function runWith(
  context: Context,
  files: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, boolean> | DropReason> {
  const { setup, signal } = context;
  return withSession(setup, signal, async (session) => {
    for (const [path, text] of files) {
      await session.files.write(`${WORKSPACE}/${path}`, Buffer.from(text));
    }
    const { run } = await runAll(session, setup, signal);
    signal?.throwIfAborted();
    if (run.kind === 'timeout') return 'does not end';
    if (run.kind !== 'ran' || !run.complete) return 'the run broke';
    return new Map(run.results.map((test) => [test.id, test.status === 'passed']));
  });
}

function agree(
  ids: readonly string[],
  a: ReadonlyMap<string, boolean>,
  b: ReadonlyMap<string, boolean>,
): boolean {
  return ids.every((id) => b.has(id) && a.get(id) === b.get(id));
}

function unitsOf(
  tree: FileTree,
  tests: readonly TestResult[],
): readonly (TestUnit & { readonly path: string })[] {
  return [...new Set(tests.map((test) => test.file))].sort().flatMap((path) => {
    const language = languageOf(path);
    if (language === undefined || !tree.has(path)) return [];
    const own = tests
      .filter((test) => test.file === path)
      .map((test) => ({ ...test, ...namesOf(test, language === 'python') }));
    return findTestUnits(textOf(tree, path), language, own).map((unit) => ({ ...unit, path }));
  });
}

/** As the source spells them: without suites, classes and parameters. */
function namesOf(test: TestResult, isPython: boolean): { name: string; within: string[] } {
  const full = test.id.slice(test.id.indexOf('::') + 2);
  if (isPython) return { name: full.split('::').at(-1)?.replace(/\[.*$/s, '') ?? full, within: [] };
  const within = full.split(' > ');
  return { name: within.pop() ?? full, within };
}

/**
 * Such a test is reported when its subtests pass and left to speak for themselves when one of them
 * fails, so it would come and go.
 */
function hasSubtests(id: string, ids: readonly string[]): boolean {
  const within = `${id.replace(/ #\d+$/, '')} > `;
  return ids.some((other) => other.startsWith(within));
}

/** Tests of one name are numbered in their order: without the first the second is the first. */
function sharesName(id: string, ids: readonly string[]): boolean {
  return ids.includes(`${id.replace(/ #\d+$/, '')} #2`);
}

function sourcePaths(tree: FileTree, setup: GradeSetup): string[] {
  const { steering } = setup.framework;
  const prefix = setup.projectPath === '' ? '' : `${setup.projectPath}/`;
  return [...tree].flatMap(([path, { mode, content }]) => {
    const isSource =
      mode !== '120000' &&
      path.startsWith(prefix) &&
      languageOf(path) !== undefined &&
      // Their tests stand beside the code, or cannot be told apart: none can be hidden.
      languageOf(path) !== 'rust' &&
      languageOf(path) !== 'go' &&
      !NO_SOURCE.test(path) &&
      !steering.isTestFile(path) &&
      !steering.isSteeringFile(path) &&
      content.length >= SOURCE_BYTES.least &&
      content.length <= SOURCE_BYTES.most &&
      // Offsets are those of text.
      Buffer.from(content.toString('utf8')).equals(content);
    return isSource ? [path] : [];
  });
}

function textOf(tree: FileTree, path: string): string {
  return tree.get(path)?.content.toString('utf8') ?? '';
}
