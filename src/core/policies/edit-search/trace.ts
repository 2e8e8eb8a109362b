import type { Language, TextRange } from '../../tasks/operators/edit.ts';
import { grammarOf } from '../../tasks/operators/grammars.ts';
import { absolute, act, call, type Steps } from './steps.ts';

/**
 * Which blocks does the failing test run at all? Every block gets a line that notes its number once
 * in a file; one run of the tests later that file says it. Edits elsewhere cannot help.
 */
export interface Block extends TextRange {
  readonly path: string;
  /** Unique over all files of one trace. */
  readonly number: number;
}

/** What one run with instrumented files told. */
export interface Trace {
  readonly blocks: readonly Block[];
  readonly ran: ReadonlySet<number>;
}

export interface Instrumented {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

const NOTES = '/tmp/.edit-search-trace';
const ORIGINALS = '/tmp/.edit-search-original';
const HEREDOC = 'EDIT_SEARCH_END_OF_FILE';
const SHOW_NOTES = `sort -un ${NOTES} 2>/dev/null; rm -f ${NOTES}`;
const TRACED_BYTES = 60_000;

/** @returns undefined: it could not be found out */
export function* findBlocksThatRun(
  files: readonly { readonly path: string; readonly text: string; readonly language: Language }[],
): Steps<Trace | undefined> {
  const instrumented: Instrumented[] = [];
  let bytes = 0;
  let number = 1;
  for (const { path, text, language } of files) {
    if (bytes + text.length > TRACED_BYTES) continue;
    const traced = instrument(path, text, language, number);
    if (traced === undefined) continue;
    bytes += traced.text.length;
    number += traced.blocks.length;
    instrumented.push(traced);
  }
  if (instrumented.length === 0) return undefined;
  const seen = yield* act({
    say: 'Finding out which blocks the failing test runs; the files are put back at once.',
    calls: traceCalls(instrumented),
  });
  const ran = readTrace(seen[2]);
  if (ran.size === 0) return undefined;
  return { blocks: instrumented.flatMap((item) => item.blocks), ran };
}

export function instrument(
  path: string,
  source: string,
  language: Language,
  firstNumber: number,
): Instrumented | undefined {
  const grammar = grammarOf(language);
  // Rust and Go have no expression that notes something without an import.
  if (grammar.kind !== 'python' && grammar.kind !== 'javascript') return undefined;
  const blocks: Block[] = [];
  const inserts: { at: number; text: string }[] = [];
  let hasErrors = false;
  grammar.parse(source).iterate({
    enter(reference) {
      if (reference.type.isError) hasErrors = true;
      const { node } = reference;
      if (grammar.role(node) !== 'block' || node.parent === null) return;
      const statements = grammar.statements(node) ?? [];
      const number = firstNumber + blocks.length;
      const insert =
        grammar.kind === 'python'
          ? pythonInsert(
              source,
              statements.map((s) => s.from),
              number,
              node.parent.name,
            )
          : { at: node.from + 1, text: javascriptNote(number) };
      if (insert === undefined) return;
      blocks.push({ path, number, from: node.from, to: node.to });
      inserts.push(insert);
    },
  });
  if (hasErrors || blocks.length === 0 || source.includes(HEREDOC)) return undefined;
  let text = '';
  let at = 0;
  for (const insert of inserts.sort((a, b) => a.at - b.at)) {
    text += source.slice(at, insert.at) + insert.text;
    at = insert.at;
  }
  return { path, text: text + source.slice(at), blocks };
}

function javascriptNote(number: number): string {
  const seen = '(globalThis.__editSearchSeen??=new Set())';
  const write = `globalThis.process?.getBuiltinModule?.("node:fs")?.appendFileSync("${NOTES}","${number}\\n")`;
  return `;${seen}.has(${number})||(${seen}.add(${number}),${write});`;
}

function pythonInsert(
  source: string,
  statements: readonly number[],
  number: number,
  parent: string,
): { at: number; text: string } | undefined {
  const [first, second] = statements;
  if (first === undefined) return undefined;
  // A docstring must stay the first statement.
  const isDocstring =
    /^[rRuU]?["']/.test(source.slice(first, first + 2)) && /Definition$/.test(parent);
  const at = isDocstring ? second : first;
  if (at === undefined) return undefined;
  const seen = `globals().setdefault('_edit_search_seen', set())`;
  const note = `${number} in ${seen} or (${seen}.add(${number}), open('${NOTES}', 'a').write('${number}\\n'))`;
  const lineStart = source.lastIndexOf('\n', at - 1) + 1;
  const indent = source.slice(lineStart, at);
  return { at, text: indent.trim() === '' ? `${note}\n${indent}` : `${note}; ` };
}

/** Puts the instrumented files in place, runs the targets, and puts the originals back. */
export function traceCalls(files: readonly Instrumented[]) {
  const place = files.map(
    ({ path, text }, index) =>
      `cp -p ${quote(absolute(path))} ${ORIGINALS}.${index} && cat > ${quote(absolute(path))} <<'${HEREDOC}'\n${text}${text.endsWith('\n') ? '' : '\n'}${HEREDOC}`,
  );
  const restore = files.map(
    ({ path }, index) =>
      `cat ${ORIGINALS}.${index} > ${quote(absolute(path))} && touch -r ${ORIGINALS}.${index} ${quote(absolute(path))}; rm -f ${ORIGINALS}.${index}`,
  );
  return [
    call.bash([`rm -f ${NOTES}`, ...place].join('\n')),
    call.runTests(),
    call.bash([...restore, SHOW_NOTES].join('\n')),
  ];
}

/** What a command of `traceCalls` does, for a place without a shell; undefined: it is another command. */
export type TraceCommand =
  | { readonly kind: 'place'; readonly texts: ReadonlyMap<string, string> }
  | { readonly kind: 'restore' };

export function readTraceCommand(command: string): TraceCommand | undefined {
  if (command.startsWith('cat ') && command.endsWith(`${SHOW_NOTES}`)) return { kind: 'restore' };
  const [first, ...rest] = command.split(`\n${HEREDOC}`);
  if (!first?.startsWith(`rm -f ${NOTES}\n`) || rest.at(-1) !== '') return undefined;
  const parts = [first.slice(`rm -f ${NOTES}`.length), ...rest.slice(0, -1)];
  const texts = new Map<string, string>();
  for (const part of parts) {
    const found = /^\ncp -p .* && cat > (.+) <<'\w+'\n([\s\S]*)$/.exec(part);
    if (!found) return undefined;
    texts.set(unquote(found[1] ?? ''), `${found[2]}\n`);
  }
  return { kind: 'place', texts };
}

/** Is this the file in which instrumented code notes what ran? */
export function isTraceNotes(file: unknown): boolean {
  return file === NOTES;
}

/** Numbers of the blocks that ran, from the last of the observations. */
export function readTrace(observation: string | undefined): ReadonlySet<number> {
  const numbers = (observation ?? '').split('\n').filter((line) => /^\d+$/.test(line));
  return new Set(numbers.map(Number));
}

function quote(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

function unquote(word: string): string {
  return word.slice(1, -1).replaceAll("'\\''", "'");
}
