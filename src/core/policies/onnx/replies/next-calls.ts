import { isTestPath } from '../../../frameworks/imports.ts';
import { WORKSPACE } from '../../../sandbox/sandbox.ts';
import { applyEdit, languageOf } from '../../../tasks/operators/edit.ts';
import { outlineOf } from '../../../tasks/operators/functions.ts';
import { operatorKind } from '../../../tasks/split.ts';
import { readFailures, readReport } from '../../edit-search/failures.ts';
import { hintsOf } from '../../edit-search/hints.ts';
import { rankCandidates, type Subject } from '../../edit-search/rank.ts';
import { toReplacement } from '../../edit-search/replacement.ts';
import { wasEdited } from '../../edit-search/steps.ts';
import type { FormatCall } from '../chat-format.ts';

/** A call that was made, and what came of it. */
export interface Exchange {
  readonly call: FormatCall;
  readonly observation: string;
}

export interface WeightedCall {
  readonly call: FormatCall;
  readonly weight: number;
}

export interface NextCallsOptions {
  /**
   * How much the order of edit-search counts: weights are its scores to this power. 0: all edits of a
   * file weigh the same.
   */
  readonly priorPower: number;
  /** Edits, the best by score. */
  readonly mostEdits: number;
  /** Kinds of operators (`operatorKind`) that are not offered: those that training may not see. */
  readonly leaveOut?: ReadonlySet<string>;
}

/** Of an edit's old text: what no few lines name is left out. */
const MOST_LINES = 6;
/** Files that the test imports. */
const MOST_FILES = 3;

const TEST_CALL: FormatCall = { name: 'run_tests', arguments: {} };
const SUBMIT: FormatCall = { name: 'submit', arguments: {} };

/**
 * What a policy that replies from a set may do next: read what the test imports; make one known kind
 * of edit (core/tasks/operators) that it has not made before; run the tests; take an edit back that
 * did not help; hand in. Which edit is the policy's to choose; the rest follows.
 *
 * Of one attempt: what is costly to list is kept between its turns.
 *
 * @param firstMessage of the user (core/agent/prompt.ts)
 */
export function createNextCalls(
  firstMessage: string,
  options: NextCallsOptions,
): (exchanges: readonly Exchange[]) => readonly WeightedCall[] {
  const imports = importsIn(firstMessage).slice(0, MOST_FILES);
  const listed = new Map<string, readonly WeightedCall[]>();

  const edits = (texts: ReadonlyMap<string, string>): readonly WeightedCall[] => {
    const key = JSON.stringify([...texts]);
    const known = listed.get(key);
    if (known) return known;
    const made = listEditCalls(firstMessage, texts, options);
    listed.set(key, made);
    return made;
  };

  return (exchanges) => {
    const last = exchanges.at(-1);
    const open = openEdit(exchanges);
    if (last && open !== undefined) {
      if (last.call.name !== TEST_CALL.name) return only(TEST_CALL);
      if (readReport(last.observation).passed) return only(SUBMIT);
      return only(editor({ command: 'undo_edit', path: open }));
    }
    const texts = new Map<string, string>();
    for (const path of imports) {
      const look = exchanges.find(({ call }) => commandOf(call) === `cat ${path}`);
      if (!look) return only({ name: 'bash', arguments: { command: `cat ${path}` } });
      if (isWhole(look.observation)) texts.set(path, look.observation);
    }
    const tried = new Set(exchanges.map(({ call }) => JSON.stringify(call)));
    const left = edits(texts).filter(({ call }) => !tried.has(JSON.stringify(call)));
    return left.length > 0 ? left : only(SUBMIT);
  };
}

const only = (call: FormatCall): readonly WeightedCall[] => [{ call, weight: 1 }];

function editor(args: FormatCall['arguments']): FormatCall {
  return { name: 'str_replace_editor', arguments: args };
}

function importsIn(firstMessage: string): readonly string[] {
  const listed = /^It imports (.+)\.$/m.exec(firstMessage)?.[1]?.split(', ') ?? [];
  return listed.filter((path) => languageOf(path) !== undefined && !isTestPath(path));
}

/** The file with an edit that was made and not taken back. */
function openEdit(exchanges: readonly Exchange[]): string | undefined {
  let open: string | undefined;
  for (const { call, observation } of exchanges) {
    const { command, path } = call.arguments;
    if (call.name !== 'str_replace_editor' || typeof path !== 'string') continue;
    if (command === 'undo_edit') open = undefined;
    else if (wasEdited(observation)) open = path;
  }
  return open;
}

const commandOf = ({ name, arguments: { command } }: FormatCall): unknown =>
  name === 'bash' ? command : undefined;

/** All of a file, as `bash` shows what `cat` prints. */
function isWhole(observation: string): boolean {
  return (
    observation !== '(no output)' &&
    !/(?:^|\n)\[(?:exit code \d+|timed out after [^\]]*)\]\s*$/.test(observation) &&
    !/\[… [\d,]+ bytes left out …\]/.test(observation)
  );
}

function listEditCalls(
  firstMessage: string,
  texts: ReadonlyMap<string, string>,
  { priorPower, mostEdits, leaveOut }: NextCallsOptions,
): readonly WeightedCall[] {
  const failures = readFailures(firstMessage);
  const subjects = [...texts].flatMap(([path, text]) => subjectOf(path, text, true));
  const ranked = rankCandidates({
    subjects: [...subjects, ...testIn(firstMessage)],
    failures,
    hints: hintsOf(failures),
    trace: undefined,
    random: undefined,
  });
  const results = new Set<string>();
  const calls: WeightedCall[] = [];
  for (const { path, edit, score } of ranked) {
    if (calls.length >= mostEdits) break;
    if (leaveOut?.has(operatorKind(edit.operator))) continue;
    const text = texts.get(path) ?? '';
    const made = toReplacement(text, edit, MOST_LINES);
    const result = `${path}\n${applyEdit(text, edit)}`;
    if (made === undefined || results.has(result) || !(score > 0)) continue;
    results.add(result);
    const call = editor({
      command: 'str_replace',
      path: `${WORKSPACE}/${path}`,
      old_str: made.oldText,
      new_str: made.newText,
    });
    calls.push({ call, weight: score ** priorPower });
  }
  return calls;
}

function subjectOf(path: string, text: string, editable: boolean): readonly Subject[] {
  const language = languageOf(path);
  if (language === undefined) return [];
  const depth = editable ? 1 : 0;
  return [{ path, text, language, outline: outlineOf(text, language), depth, editable }];
}

/** What the first message shows of the test, at its place in the file. */
function testIn(firstMessage: string): readonly Subject[] {
  const shown = /^(\S+), lines (\d+)-(\d+):$/m.exec(firstMessage);
  const [head = '', path = '', first = '1', last = '1'] = shown ?? [];
  if (!shown) return [];
  const lines = firstMessage
    .slice(shown.index + head.length + 1)
    .split('\n')
    .slice(0, Number(last) - Number(first) + 1);
  return subjectOf(path, '\n'.repeat(Number(first) - 1) + lines.join('\n'), false);
}
