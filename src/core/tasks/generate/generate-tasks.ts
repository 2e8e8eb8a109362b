import { editPatch } from '../edit-patch.ts';
import { chooseHidden, findTestUnits } from '../hide.ts';
import { candidateBugs, type DropReason, type OperatorUse, qualify } from '../inject.ts';
import { applyEdit, type Edit, languageOf } from '../operators/edit.ts';
import type { OperatorId } from '../operators/operator-table.ts';
import { OPERATORS } from '../operators/operator-table.ts';
import { createChance } from '../random.ts';
import { shapeHash, shapeWords } from '../shape.ts';
import { finishTask, type Task, type TaskDraft } from '../task.ts';
import { type FileTree, textTree, treeHash } from '../tree.ts';
import { cutRanges } from '../views.ts';
import { type FastRun, runFast, type Sources } from './fast-run.ts';
import { type GeneratedModule, generateModule } from './module.ts';
import { runReal } from './real-run.ts';
import type { Template } from './template.ts';
import { allTemplates } from './templates/all.ts';
import { noiseEdits } from './token-noise.ts';

export interface GenerateOptions {
  /** Tasks wanted. */
  readonly count: number;
  readonly seed: number;
  readonly templates?: readonly Template[];
  /** Edits that may become bugs, and what they make of the source; default: all. */
  readonly allows?: (edit: Bug, source: string, path: string) => boolean;
  /** Share of modules, 0 to 1, that also get a bug of `noiseEdits`; default 0. */
  readonly noise?: number;
  /** Tasks with the same normalised tree, bug included, at most; default 8. */
  readonly mostOfAShape?: number;
  readonly signal?: AbortSignal;
  /** Called with the number of tasks so far; must not throw. */
  readonly onProgress?: (tasks: number) => void;
}

export interface BuiltTasks {
  readonly tasks: readonly Task[];
  readonly trees: ReadonlyMap<string, FileTree>;
  /** Candidates that are no tasks, by reason. */
  readonly dropped: ReadonlyMap<DropReason, number>;
  readonly candidates: number;
}

/** An edit by an operator, or noise. */
export type Bug = Omit<Edit, 'operator' | 'prior'> & { readonly operator: string };

const BUGS_PER_MODULE = 3;
const TRIES_PER_MODULE = 14;
const NOISE_TRIES = 8;
/** Tasks with the same normalised tree, bug included: names alone make few differences. */
const MOST_OF_A_SHAPE = 8;
/** Modules are made and checked in rounds of this many tasks. */
const ROUND = 120;
/** A family gives up when so many of its modules in a row gave nothing new. */
const MOST_BARREN_ROUNDS = 4;

interface Candidate {
  readonly module: GeneratedModule;
  readonly index: number;
  readonly path: string;
  readonly edit: Bug;
  readonly withBug: Sources;
  readonly visible: Sources;
  readonly draft: TaskDraft;
}

/**
 * Small modules with one bug each. Candidates are judged by the fast runner; what is kept was run
 * by the real one too: the original, the bug twice, and what the agent sees; all agreed.
 */
export async function generateTasks(options: GenerateOptions): Promise<BuiltTasks> {
  const { count, seed, signal, onProgress, templates = allTemplates } = options;
  const used: OperatorUse = new Map();
  const state: State = {
    allows: options.allows ?? (() => true),
    noise: options.noise ?? 0,
    mostOfAShape: options.mostOfAShape ?? MOST_OF_A_SHAPE,
    dropped: new Map<DropReason, number>(),
    candidates: 0,
    shapes: new Map<string, number>(),
    texts: new Set<string>(),
  };
  const tasks: Task[] = [];
  const trees = new Map<string, FileTree>();
  let barren = 0;
  for (let index = 0, waiting: Candidate[] = []; tasks.length < count; index++) {
    const before = state.candidates;
    const found = waiting.length;
    for (const template of createChance('order', seed, index).shuffle(templates)) {
      signal?.throwIfAborted();
      if (tasks.length + waiting.length >= count) break;
      waiting.push(...candidatesOf(template, seed, index, used, state));
      // Long loops of pure computation would keep Ctrl-C waiting.
      await new Promise((resolve) => setImmediate(resolve));
    }
    waiting = waiting.slice(0, count - tasks.length);
    barren = waiting.length > found || before !== state.candidates ? 0 : barren + 1;
    const last = tasks.length + waiting.length >= count || barren >= MOST_BARREN_ROUNDS;
    if (waiting.length < ROUND && !last) continue;
    for (const candidate of await confirmed(waiting, state.dropped, signal)) {
      const task = finishTask(candidate.draft);
      if (trees.get(task.tree) === undefined)
        trees.set(task.tree, textTree(candidate.module.files));
      tasks.push(task);
    }
    onProgress?.(tasks.length);
    waiting = [];
    if (barren >= MOST_BARREN_ROUNDS) break;
  }
  return { tasks, trees, dropped: state.dropped, candidates: state.candidates };
}

interface State {
  readonly allows: NonNullable<GenerateOptions['allows']>;
  readonly noise: number;
  readonly mostOfAShape: number;
  readonly dropped: Map<DropReason, number>;
  candidates: number;
  readonly shapes: Map<string, number>;
  readonly texts: Set<string>;
}

function candidatesOf(
  template: Template,
  seed: number,
  index: number,
  used: OperatorUse,
  state: State,
): readonly Candidate[] {
  const module = generateModule(template, seed, index);
  const text = JSON.stringify(module.sourcePaths.map((path) => module.files[path]));
  if (state.texts.has(text)) return [];
  state.texts.add(text);
  const chance = createChance('bugs', template.family, seed, index);
  const path = chance.pick(nonEmpty(module.sourcePaths));
  const source = module.files[path] ?? '';
  const original = runFast(module.files, module.testPath);
  if (original.kind !== 'ran') return [];
  const kept: Candidate[] = [];
  const listed = candidateBugs(source, languageFor(path), used, chance);
  // Asked of chance only where there is noise: tasks without it stay what they were.
  const noise =
    state.noise > 0 && chance.chance(state.noise) ? noiseEdits(source, chance, NOISE_TRIES) : [];
  const allowed = (edit: Bug): boolean => state.allows(edit, source, path);
  const bugs = [...noise.filter(allowed), ...listed.filter(allowed).slice(0, TRIES_PER_MODULE)];
  for (const edit of bugs) {
    if (kept.length >= BUGS_PER_MODULE) break;
    if (kept.some((other) => other.edit.operator === edit.operator)) continue;
    state.candidates += 1;
    const judged = judge({ module, index, seed, path, edit, original, state });
    if (typeof judged === 'string') {
      count(state.dropped, judged);
      continue;
    }
    count(state.shapes, judged.draft.shapes.bug + judged.draft.shapes.original);
    if (isOperator(edit.operator)) count(used, edit.operator);
    kept.push(judged);
  }
  return kept;
}

function judge(input: {
  readonly module: GeneratedModule;
  readonly index: number;
  readonly seed: number;
  readonly path: string;
  readonly edit: Bug;
  readonly original: Extract<FastRun, { kind: 'ran' }>;
  readonly state: State;
}): Candidate | DropReason {
  const { module, index, seed, path, edit, original, state } = input;
  const source = module.files[path] ?? '';
  const broken = applyEdit(source, edit);
  const withBug = { ...module.files, [path]: broken };
  const shapes = { original: moduleShape(module, module.files), bug: moduleShape(module, withBug) };
  if ((state.shapes.get(shapes.bug + shapes.original) ?? 0) >= state.mostOfAShape)
    return 'known already';
  const run = runFast(withBug, module.testPath);
  if (run.kind === 'timeout') return 'does not end';
  if (run.kind === 'not-loaded') return 'does not load';
  const id = (name: string): string => `${module.testPath}::${name}`;
  const ids = [...original.tests.keys()].map(id);
  const verdict = qualify(ids, new Map([...run.tests].map(([name, passed]) => [id(name), passed])));
  if (verdict.kind === 'dropped') return verdict.reason;

  const testText = module.files[module.testPath] ?? '';
  const units = findTestUnits(
    testText,
    'javascript',
    [...original.tests.keys()].map((name) => ({ id: id(name), name: lastName(name) })),
  );
  const hiddenUnits = chooseHidden(
    units,
    ids,
    new Set(verdict.targets),
    createChance('hidden', module.family, seed, index, edit.from, edit.newText),
  );
  if (hiddenUnits.length === 0) return 'nothing to hide';
  const hidden = new Set(hiddenUnits.flatMap((unit) => unit.ids));
  const visible = { ...withBug, [module.testPath]: cutRanges(testText, hiddenUnits) };
  const draft: TaskDraft = {
    source: { kind: 'generated', template: module.family, seed, index },
    tree: treeHash(textTree(module.files)),
    framework: 'node:test',
    projectPath: '',
    bug: {
      path,
      from: edit.from,
      to: edit.to,
      oldText: edit.oldText,
      newText: edit.newText,
      line: edit.line,
      operator: edit.operator,
      family: isOperator(edit.operator) ? OPERATORS[edit.operator].family : 'noise',
      description: edit.description,
    },
    hiddenRanges: hiddenUnits.map(({ from, to }) => ({ path: module.testPath, from, to })),
    visible: ids.filter((test) => !hidden.has(test)),
    hidden: ids.filter((test) => hidden.has(test)),
    targets: [...verdict.targets],
    passing: [...verdict.passing],
    patch: editPatch(path, broken, source),
    environment: { tool: 'node', range: '>=20.0.0', detail: '', lockFiles: [] },
    checked: { original: 1, bug: 2, visible: 1 },
    shapes,
  };
  return { module, index, path, edit, withBug, visible, draft };
}

/** Those on which Node's own runner says the same as the fast one, every time. */
async function confirmed(
  candidates: readonly Candidate[],
  dropped: Map<DropReason, number>,
  signal: AbortSignal | undefined,
): Promise<readonly Candidate[]> {
  const modules = [...new Set(candidates.map(({ module }) => module))];
  const item = (files: Sources, { testPath }: GeneratedModule) => ({ files, testPath });
  const originals = await runReal(
    modules.map((module) => item(module.files, module)),
    signal,
  );
  const bugs = candidates.map(({ withBug, module }) => item(withBug, module));
  const first = await runReal(bugs, signal);
  const second = await runReal(bugs, signal);
  const seen = await runReal(
    candidates.map(({ visible, module }) => item(visible, module)),
    signal,
  );
  return candidates.filter((candidate, at) => {
    const { draft, module } = candidate;
    const wanted = (ids: readonly string[], failing: readonly string[]): string =>
      ids
        .map((id) => `${id} ${!failing.includes(id)}`)
        .sort()
        .join('\n');
    const all = [...draft.visible, ...draft.hidden];
    const reason: DropReason | undefined =
      outcome(originals[modules.indexOf(module)], module) !== wanted(all, [])
        ? 'runs differ'
        : outcome(first[at], module) !== wanted(all, draft.targets) ||
            outcome(second[at], module) !== wanted(all, draft.targets)
          ? 'runs differ'
          : outcome(seen[at], module) !== wanted(draft.visible, draft.targets)
            ? 'visible tests behave differently alone'
            : undefined;
    if (reason !== undefined) count(dropped, reason);
    return reason === undefined;
  });
}

function outcome(run: FastRun | undefined, module: GeneratedModule): string {
  if (run?.kind !== 'ran') return run?.kind ?? '';
  return [...run.tests]
    .map(([name, passed]) => `${module.testPath}::${name} ${passed}`)
    .sort()
    .join('\n');
}

function moduleShape(module: GeneratedModule, files: Sources): string {
  return shapeHash(
    module.sourcePaths.flatMap((path) => shapeWords(files[path] ?? '', languageFor(path))),
  );
}

function isOperator(name: string): name is OperatorId {
  return name in OPERATORS;
}

function languageFor(path: string) {
  return languageOf(path) ?? 'javascript';
}

function lastName(name: string): string {
  return name.split(' > ').at(-1) ?? name;
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function nonEmpty<T>(list: readonly T[]): readonly [T, ...T[]] {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error('a module without sources');
  return [first, ...rest];
}
