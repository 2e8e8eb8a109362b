import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createBashTool } from '../../../../src/core/tools/bash/bash.ts';
import { checkCall, toToolSchema } from '../../../../src/core/tools/registry.ts';
import type { Tool } from '../../../../src/core/tools/tool.ts';

const parameters = z.strictObject({
  name: z.string().describe('A name.'),
  times: z.int().optional(),
  share: z.number().optional(),
  deep: z.boolean().optional(),
  list: z.array(z.string()).optional(),
  range: z.array(z.int()).length(2).optional(),
});

/** Gives its arguments back. */
const echo: Tool<typeof parameters> = {
  name: 'echo',
  description: 'Echo.',
  parameters,
  run: async (args) => ({ ok: true, text: JSON.stringify(args) }),
};

async function call(args: Record<string, unknown>, name = 'echo'): Promise<string> {
  const checked = checkCall([echo as Tool], { id: '1', name, arguments: args });
  if (checked.kind === 'not-well-formed') return checked.reason;
  return (await checked.run({ signal: new AbortController().signal })).text;
}

describe('checkCall', () => {
  it('runs a well-formed call with its arguments', async () => {
    expect(await call({ name: 'a', times: 2 })).toBe('{"name":"a","times":2}');
  });

  it('reads texts as the types that the tool wants', async () => {
    const args = {
      name: '12',
      times: ' 3 ',
      share: '-0.5',
      deep: 'True',
      list: '["a"]',
      range: '[1, -1]',
    };
    expect(JSON.parse(await call(args))).toEqual({
      name: '12',
      times: 3,
      share: -0.5,
      deep: true,
      list: ['a'],
      range: [1, -1],
    });
  });

  it('keeps texts for text parameters byte for byte', async () => {
    const name = ' [1]\r\n\ttrue ';
    expect(JSON.parse(await call({ name }))).toEqual({ name });
  });

  it('takes null for an optional argument as left out', async () => {
    expect(await call({ name: 'a', times: null })).toBe('{"name":"a"}');
  });

  it.each([
    ['an unknown tool', {}, 'ls', 'there is no tool "ls". The tools are: echo.'],
    ['a missing argument', {}, 'echo', 'echo: missing parameter "name": a text.'],
    ['null for a required one', { name: null }, 'echo', 'echo: missing parameter "name": a text.'],
    ['a number for a text', { name: 5 }, 'echo', 'echo: parameter "name" must be a text, not 5.'],
    [
      'a text that is no number',
      { name: 'a', times: 'two' },
      'echo',
      'echo: parameter "times" must be a whole number, not "two".',
    ],
    [
      'a fraction for a whole number',
      { name: 'a', times: '1.5' },
      'echo',
      'echo: parameter "times" must be a whole number, not "1.5".',
    ],
    [
      'a text that is no list',
      { name: 'a', list: 'b' },
      'echo',
      'echo: parameter "list" must be a list of texts like ["a", "b"], not "b".',
    ],
    [
      'a list that is too short',
      { name: 'a', range: [1] },
      'echo',
      'echo: parameter "range" must be a list of whole numbers like [1, 20], not [1].',
    ],
    [
      'an unknown argument',
      { name: 'a', nmae: 'b' },
      'echo',
      'echo: unknown parameter "nmae" (the parameters are: name, times, share, deep, list, range).',
    ],
  ])('explains %s', async (_, args, name, reason) => {
    expect(await call(args, name)).toBe(reason);
  });

  it('explains an argument called __proto__', async () => {
    const args = JSON.parse('{"name": "a", "__proto__": {"x": 1}}') as Record<string, unknown>;
    expect(await call(args)).toContain('unknown parameter "__proto__"');
  });
});

describe('toToolSchema', () => {
  it('shows name, description and the types, and nothing else', () => {
    expect(toToolSchema(echo as Tool)).toEqual({
      name: 'echo',
      description: 'Echo.',
      parameters: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'A name.' },
          times: { type: 'integer' },
          share: { type: 'number' },
          deep: { type: 'boolean' },
          list: { type: 'array', items: { type: 'string' } },
          range: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 },
        },
        required: ['name'],
      },
    });
  });

  it('shows the checks of bash as one plain object', () => {
    const session = { shell: () => Promise.reject(), restartShell: () => Promise.reject() };
    const tool = createBashTool(session) as Tool;
    expect(Object.keys(toToolSchema(tool).parameters)).toEqual(['type', 'properties']);
    expect(checkCall([tool], { id: '1', name: 'bash', arguments: {} })).toEqual({
      kind: 'not-well-formed',
      reason: 'bash: missing parameter "command": a text.',
    });
    expect(checkCall([tool], { id: '1', name: 'bash', arguments: { restart: 'true' } }).kind).toBe(
      'ok',
    );
  });
});
