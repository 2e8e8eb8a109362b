import { z } from 'zod';

/** A well-formed call. Whether its values make sense (ranges, paths, texts) is for the tool to say. */
export type EditorCall =
  | {
      readonly command: 'view';
      readonly path: string;
      readonly range?: readonly [number, number] | undefined;
    }
  | { readonly command: 'create'; readonly path: string; readonly text: string }
  | {
      readonly command: 'str_replace';
      readonly path: string;
      readonly oldText: string;
      readonly newText: string;
    }
  | {
      readonly command: 'insert';
      readonly path: string;
      readonly line: number;
      readonly text: string;
    }
  | { readonly command: 'undo_edit'; readonly path: string };

const flat = z.strictObject({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  path: z.string().describe('Absolute path, like /workspace/src/app.js.'),
  view_range: z
    .array(z.int())
    .length(2)
    .optional()
    .describe('view: first and last line, from 1; -1 as last means the end.'),
  file_text: z.string().optional().describe('create: the whole content.'),
  old_str: z
    .string()
    .optional()
    .describe('str_replace: text that occurs exactly once, white space included.'),
  new_str: z.string().optional().describe('str_replace: what takes its place.'),
  insert_line: z
    .int()
    .optional()
    .describe('insert: the lines go after this line; 0 means before the first.'),
  insert_text: z.string().optional().describe('insert: whole lines.'),
});

type Flat = z.output<typeof flat>;
type Command = Flat['command'];
type Extra = Exclude<keyof Flat, 'command' | 'path'>;

/** What each command takes. `new_str` for inserts is the older name of `insert_text`. */
const TAKES: Readonly<Record<Command, readonly Extra[]>> = {
  view: ['view_range'],
  create: ['file_text'],
  str_replace: ['old_str', 'new_str'],
  insert: ['insert_line', 'insert_text', 'new_str'],
  undo_edit: [],
};

/**
 * One object for the model (unions confuse models and some endpoints), one call per command inside.
 * Names and types are checked here: what fails here is not a well-formed call.
 */
export const editorParameters = flat.transform((given, context): EditorCall => {
  const problems: string[] = [];
  const { command } = given;
  const takes = TAKES[command];
  for (const name of Object.keys(given) as (keyof Flat)[]) {
    if (name === 'command' || name === 'path' || takes.includes(name)) continue;
    // Some models fill in every parameter; an empty text says nothing.
    if (given[name] === undefined || given[name] === '') continue;
    const list = ['path', ...takes].join(', ');
    problems.push(`${command} takes no "${name}" (it takes: ${list})`);
  }
  const need = (name: Extra, value: unknown): void => {
    if (value === undefined) problems.push(`${command} needs "${name}"`);
  };
  const call = readCall(given, need);
  for (const message of problems) context.addIssue({ code: 'custom', message });
  return problems.length === 0 ? call : z.NEVER;
});

function readCall(given: Flat, need: (name: Extra, value: unknown) => void): EditorCall {
  const { command, path } = given;
  switch (command) {
    case 'view': {
      const [first, last] = given.view_range ?? [];
      const range =
        first === undefined || last === undefined ? undefined : ([first, last] as const);
      return { command, path, range };
    }
    case 'create': {
      need('file_text', given.file_text);
      return { command, path, text: given.file_text ?? '' };
    }
    case 'str_replace': {
      need('old_str', given.old_str);
      return { command, path, oldText: given.old_str ?? '', newText: given.new_str ?? '' };
    }
    case 'insert': {
      // An empty `insert_text` next to a `new_str` comes from models that fill in everything.
      const text = given.insert_text || given.new_str || given.insert_text;
      need('insert_line', given.insert_line);
      need('insert_text', text);
      return { command, path, line: given.insert_line ?? 0, text: text ?? '' };
    }
    case 'undo_edit':
      return { command, path };
  }
}
