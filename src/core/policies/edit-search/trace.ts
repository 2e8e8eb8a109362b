import type { Language, TextRange } from '../../tasks/operators/edit.ts';
import { grammarOf } from '../../tasks/operators/grammars.ts';
import { absolute, call } from './steps.ts';

/**
 * Which blocks does the failing test run at all? Every block gets a line that notes its number once
 * in a file; one run of the tests later that file says it. Edits elsewhere cannot help.
 */
export interface Block extends TextRange {
  readonly path: string;
  /** Unique over all files of one trace. */
  readonly number: number;
}

export interface Instrumented {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

const NOTES = '/tmp/.edit-search-trace';
const ORIGINALS = '/tmp/.edit-search-original';
const HEREDOC = 'EDIT_SEARCH_END_OF_FILE';

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
    call.bash([...restore, `sort -un ${NOTES} 2>/dev/null; rm -f ${NOTES}`].join('\n')),
  ];
}

/** Numbers of the blocks that ran, from the last of the observations. */
export function readTrace(observation: string | undefined): ReadonlySet<number> {
  const numbers = (observation ?? '').split('\n').filter((line) => /^\d+$/.test(line));
  return new Set(numbers.map(Number));
}

function quote(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
