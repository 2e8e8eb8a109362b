import type { TurnLine } from '../../core/trajectories/schema.ts';

export type Call = TurnLine['reply']['calls'][number];

/** A call as people read it. */
export interface CallText {
  /** What it does, for headings: `bash`, `edit src/cart.js`. One line, no markup. */
  readonly title: string;
  readonly text: string;
  /** Of the fence around it. */
  readonly language: 'sh' | 'diff' | 'json' | '';
}

const WORKSPACE = '/workspace/';

/** The tools' own words (`edit`, `view`, `run_tests`) are not translated: they are what was called. */
export function callText({ name, arguments: given }: Call): CallText {
  const text = (key: string): string | undefined => {
    const value = given[key];
    return typeof value === 'string' ? value : undefined;
  };
  if (name === 'bash') {
    const command = text('command') ?? (given.restart === true ? 'restart' : '');
    return { title: `bash: ${firstLine(command)}`, text: command, language: 'sh' };
  }
  if (name === 'str_replace_editor') {
    const command = text('command') ?? '';
    const path = text('path') ?? '';
    const shown = path.startsWith(WORKSPACE) ? path.slice(WORKSPACE.length) : path;
    const change = changeText(command, shown, given, text);
    const title = `${WORDS[command] ?? command} ${shown}`.trim();
    if (change !== undefined) return { title, text: change, language: 'diff' };
    const rest = Object.entries(given).filter(([key]) => key !== 'command' && key !== 'path');
    return {
      title,
      text: rest.length === 0 ? '' : json(Object.fromEntries(rest)),
      language: 'json',
    };
  }
  const empty = Object.keys(given).length === 0;
  return { title: name, text: empty ? '' : json(given), language: empty ? '' : 'json' };
}

const WORDS: Readonly<Record<string, string>> = {
  str_replace: 'edit',
  insert: 'edit',
  undo_edit: 'undo',
};

function changeText(
  command: string,
  path: string,
  given: Call['arguments'],
  text: (key: string) => string | undefined,
): string | undefined {
  const head = `--- ${path}\n+++ ${path}`;
  switch (command) {
    case 'str_replace':
      return [head, '@@', ...signed('-', text('old_str')), ...signed('+', text('new_str'))].join(
        '\n',
      );
    case 'insert': {
      const line = typeof given.insert_line === 'number' ? ` -${given.insert_line}` : '';
      const added = text('new_str') ?? text('insert_text');
      return [head, `@@${line} @@`, ...signed('+', added)].join('\n');
    }
    case 'create':
      return [`--- /dev/null\n+++ ${path}`, '@@', ...signed('+', text('file_text'))].join('\n');
    default:
      return undefined;
  }
}

function signed(sign: string, text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return [];
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => sign + line);
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
