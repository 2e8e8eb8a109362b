import type { ToolCall } from '../../agent/messages.ts';

/** A reply in the making: what to say, and what to call. */
export interface Turn {
  readonly say: string;
  readonly calls: readonly Pick<ToolCall, 'name' | 'arguments'>[];
}

/** An edit that could be tried next. */
export interface OfferedEdit {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  /** Of the operator, as in core/tasks/operators. */
  readonly operator: string;
  /** How promising, above 0, in any unit. */
  readonly score: number;
}

/** One of these edits is to be chosen; a turn that tries it comes next. */
export interface EditChoice {
  /** Of the files that may be edited, as they stand, nearest to the failing test first. */
  readonly texts: ReadonlyMap<string, string>;
  /** At least one; the most promising first. */
  readonly edits: readonly OfferedEdit[];
}

export type Step = ({ readonly kind: 'turn' } & Turn) | ({ readonly kind: 'choice' } & EditChoice);

/**
 * The search is a generator: it yields a turn and is resumed with the texts of the observations, one
 * per call; or a choice, and is resumed with the index of an edit. So it reads like a program although
 * it acts through the conversation alone.
 */
export type Steps<Result> = Generator<Step, Result, readonly string[] | number>;

/** @returns the observations, one per call */
export function* act(turn: Turn): Steps<readonly string[]> {
  const seen = yield { kind: 'turn', ...turn };
  if (typeof seen === 'number') throw new TypeError('A turn is answered by its observations.');
  return seen;
}

/** @returns the index of the edit that was chosen */
export function* choose(choice: EditChoice): Steps<number> {
  const index = yield { kind: 'choice', ...choice };
  if (typeof index !== 'number') throw new TypeError('A choice is answered by an index.');
  return index;
}

type Call = Turn['calls'][number];

const EDITOR = 'str_replace_editor';
const ROOT = '/workspace';

export function absolute(path: string): string {
  return `${ROOT}/${path}`;
}

export const call = {
  bash: (command: string): Call => ({ name: 'bash', arguments: { command } }),
  view: (path: string, range?: readonly [number, number]): Call => ({
    name: EDITOR,
    arguments: { command: 'view', path: absolute(path), ...(range && { view_range: [...range] }) },
  }),
  replace: (path: string, oldText: string, newText: string): Call => ({
    name: EDITOR,
    arguments: { command: 'str_replace', path: absolute(path), old_str: oldText, new_str: newText },
  }),
  undo: (path: string): Call => ({
    name: EDITOR,
    arguments: { command: 'undo_edit', path: absolute(path) },
  }),
  runTests: (tests?: readonly string[]): Call => ({
    name: 'run_tests',
    arguments: tests === undefined ? {} : { tests: [...tests] },
  }),
  submit: (summary: string): Call => ({ name: 'submit', arguments: { summary } }),
};

/** How the editor says that an edit was made. */
export function wasEdited(observation: string | undefined): boolean {
  return observation?.startsWith('Edited') === true;
}

const LINE = /^ *(\d+)\t(.*)$/;
const CUT = /^\[lines \d+-(\d+) of (\d+);/;
const SHORTENED = /\[… [\d,]+ (?:characters|bytes)[^\]]*…\]/;
const VIEWS_PER_FILE = 12;

/**
 * Views files, each one to its end, as many as possible per turn. A file that cannot be shown as it
 * is (missing, binary, cut lines) is left out: it could not be edited safely.
 *
 * @returns text with `\n` line ends and a final one, by path.
 */
export function* viewAll(
  paths: readonly string[],
  say: string,
): Steps<ReadonlyMap<string, string>> {
  const lines = new Map<string, string[]>(paths.map((path) => [path, []]));
  let open: { path: string; range?: readonly [number, number] }[] = paths.map((path) => ({ path }));
  for (let round = 0; open.length > 0 && round < VIEWS_PER_FILE; round++) {
    const asked = open;
    open = [];
    const seen = yield* act({
      say,
      calls: asked.map(({ path, range }) => call.view(path, range)),
    });
    for (const [index, { path }] of asked.entries()) {
      const known = lines.get(path);
      if (known === undefined) continue;
      const rest = readView(seen[index] ?? '', known);
      if (rest === 'bad') lines.delete(path);
      else if (rest !== undefined) open.push({ path, range: rest });
    }
  }
  for (const { path } of open) lines.delete(path);
  return new Map([...lines].map(([path, text]) => [path, `${text.join('\n')}\n`]));
}

/** Appends the lines of one view. The next range where the view was cut, `bad` where it is no view. */
function readView(
  observation: string,
  known: string[],
): readonly [number, number] | 'bad' | undefined {
  for (const line of observation.split('\n')) {
    const found = LINE.exec(line);
    const text = found?.[2];
    if (text !== undefined && Number(found?.[1]) === known.length + 1) {
      if (SHORTENED.test(text)) return 'bad';
      known.push(text);
      continue;
    }
    const cut = CUT.exec(line);
    if (cut !== null) return [known.length + 1, -1];
    return 'bad';
  }
  return known.length === 0 ? 'bad' : undefined;
}
