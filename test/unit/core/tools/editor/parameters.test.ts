import { describe, expect, it } from 'vitest';
import { editorParameters } from '../../../../../src/core/tools/editor/parameters.ts';
import { checkCall, toToolSchema } from '../../../../../src/core/tools/registry.ts';
import type { Tool } from '../../../../../src/core/tools/tool.ts';

const editor: Tool<typeof editorParameters> = {
  name: 'edit',
  description: '',
  parameters: editorParameters,
  run: async (call) => ({ ok: true, text: JSON.stringify(call) }),
};

async function read(args: Record<string, unknown>): Promise<unknown> {
  const checked = checkCall([editor as Tool], { id: '1', name: 'edit', arguments: args });
  if (checked.kind === 'not-well-formed') return checked.reason;
  return JSON.parse((await checked.run({ signal: new AbortController().signal })).text);
}

const path = '/workspace/a';

describe('parameters of str_replace_editor', () => {
  it.each([
    [
      { command: 'view', path, view_range: '[1, -1]' },
      { command: 'view', path, range: [1, -1] },
    ],
    [
      { command: 'create', path, file_text: '' },
      { command: 'create', path, text: '' },
    ],
    [
      { command: 'str_replace', path, old_str: 'a' },
      { command: 'str_replace', path, oldText: 'a', newText: '' },
    ],
    [
      { command: 'insert', path, insert_line: '3', insert_text: 'x' },
      { command: 'insert', path, line: 3, text: 'x' },
    ],
    [
      { command: 'insert', path, insert_line: 0, new_str: 'x' },
      { command: 'insert', path, line: 0, text: 'x' },
    ],
    [
      { command: 'undo_edit', path, old_str: '', view_range: null },
      { command: 'undo_edit', path },
    ],
  ])('reads %j', async (args, call) => {
    expect(await read(args)).toEqual(call);
  });

  it.each([
    [
      { path },
      'edit: missing parameter "command": one of view, create, str_replace, insert, undo_edit.',
    ],
    [
      { command: 'delete', path },
      'edit: parameter "command" must be one of view, create, str_replace, insert, undo_edit, not "delete".',
    ],
    [{ command: 'view' }, 'edit: missing parameter "path": a text.'],
    [{ command: 'create', path }, 'edit: create needs "file_text".'],
    [{ command: 'str_replace', path, new_str: 'x' }, 'edit: str_replace needs "old_str".'],
    [{ command: 'insert', path }, 'edit: insert needs "insert_line"; insert needs "insert_text".'],
    [
      { command: 'view', path, old_str: 'x' },
      'edit: view takes no "old_str" (it takes: path, view_range).',
    ],
    [
      { command: 'str_replace', path, old_str: 'a', new_string: 'b' },
      'edit: unknown parameter "new_string" (the parameters are: command, path, view_range, file_text, old_str, new_str, insert_line, insert_text).',
    ],
  ])('explains what is wrong with %j', async (args, reason) => {
    expect(await read(args)).toBe(reason);
  });

  it('are one object for the model', () => {
    const schema = toToolSchema(editor as Tool).parameters;
    expect(schema).toMatchObject({ type: 'object', required: ['command', 'path'] });
  });
});
