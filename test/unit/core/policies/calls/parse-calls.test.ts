import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCallIds } from '../../../../../src/core/policies/calls/call-ids.ts';
import {
  type ParseOptions,
  parseCalls,
} from '../../../../../src/core/policies/calls/parse-calls.ts';
import type { ToolSchema } from '../../../../../src/core/tools/tool.ts';
import { renderCall, renderXml, type TextForm, type WrittenCall } from './render.ts';

const FORMS: readonly TextForm[] = ['hermes', 'xml', 'fence', 'json', 'tools-tag'];

const EDITOR: ToolSchema = {
  name: 'edit',
  description: 'Edits.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      old_str: { type: 'string' },
      new_str: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      insert_line: { type: 'integer' },
      view_range: { type: 'array', items: { type: 'integer' } },
      all: { type: 'boolean' },
    },
  },
};

function parse(text: string, options: Partial<ParseOptions> = {}) {
  return parseCalls(text, { nextId: createCallIds(), ...options });
}

function onlyCall(text: string, options: Partial<ParseOptions> = {}) {
  const reply = parse(text, options);
  expect(reply.malformed).toEqual([]);
  expect(reply.calls).toHaveLength(1);
  return { ...reply, call: reply.calls[0] };
}

/** Text full of what could be mistaken for syntax, with odd characters. */
const nasty = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        ...['<tool_call>', '</tool_call>', '<function=a>', '</function>', '<parameter=x>'],
        ...['</parameter>', '<think>', '</think>', '```', '```json\n', '`', '{"name":', '}', '"'],
        ...[
          '\n',
          '\r\n',
          '\t',
          '\u0000',
          '\ud83d',
          '\ude00',
          '\\n',
          '\\',
          '\\u0041',
          '  ',
          '<tools>',
        ],
      ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const name = fc.stringMatching(/^[a-z][a-z_0-9]{0,12}$/);

const jsonCall: fc.Arbitrary<WrittenCall> = fc
  .record({
    name,
    arguments: fc.dictionary(
      fc.oneof(name, nasty),
      fc.oneof(nasty, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>),
      { maxKeys: 4 },
    ),
  })
  .map((call) => JSON.parse(JSON.stringify(call)) as WrittenCall);

/** The XML form holds text; only what repeats the end of a value exactly cannot be told apart. */
const xmlCall: fc.Arbitrary<WrittenCall> = fc
  .record({ name, arguments: fc.dictionary(name, nasty, { maxKeys: 4 }) })
  .filter((call) =>
    Object.values(call.arguments).every(
      (value) => !/<\/parameter>\s*(?:<parameter=|<\/function>)/.test(String(value)),
    ),
  );

describe('every form gives back what was written', () => {
  for (const form of FORMS) {
    test(form, () => {
      const arbitrary = form === 'xml' ? xmlCall : jsonCall;
      fc.assert(
        fc.property(arbitrary, fc.constantFrom('', 'I will fix it.\n\n'), (call, prose) => {
          const text = prose + renderCall(form, call);
          const reply = parse(text);
          expect(reply.malformed).toEqual([]);
          expect(reply.calls).toEqual([{ id: 'call00001', ...call }]);
          expect(reply.callForm).toBe(form);
          expect(reply.content).toBe(text);
        }),
        { numRuns: 300 },
      );
    });
  }

  test('several calls in one reply, in order', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            jsonCall.map((call) => ({ call, text: renderCall('hermes', call) })),
            xmlCall.map((call) => ({ call, text: renderXml(call) })),
          ),
          { minLength: 2, maxLength: 4 },
        ),
        (written) => {
          const reply = parse(written.map((item) => item.text).join('\n'));
          expect(reply.malformed).toEqual([]);
          expect(
            reply.calls.map(({ name, arguments: args }) => ({ name, arguments: args })),
          ).toEqual(written.map((item) => item.call));
          expect(new Set(reply.calls.map((call) => call.id)).size).toBe(written.length);
        },
      ),
    );
  });
});

describe('robustness', () => {
  test('never throws, and content plus thinking loses nothing', () => {
    fc.assert(
      fc.property(fc.oneof(nasty, fc.string()), fc.boolean(), (text, lenient) => {
        const reply = parse(text, { lenient, tools: [EDITOR] });
        const kept = reply.content.length + (reply.reasoning ?? '').length;
        expect(kept).toBeLessThanOrEqual(text.length);
        if (reply.reasoning === undefined) expect(reply.content).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    '<',
    '{',
    '[',
    '`',
    '` `` ',
    '{"name":',
    '<tool_call>',
    '<tool_call>{',
    '<tool_call>{"</tool_call>',
    '<tool_call>{"a":1}',
    '<function=a>',
    '<function=a><parameter=b>',
    '<think>',
    '</think>',
    '<function=a><parameter=b></function>',
    '<function=a><parameter=b></parameter>x</function>',
    '```json\n{"name":"a","arguments":',
    '```\n',
    '\n{"name":',
    '\n{"name":"a","arguments":{"b":"',
    '</parameter>\n',
    '<tools>{',
    '\n```json\n{',
    '"\\',
    '\n\t ',
  ])('stays linear on a megabyte of %j', (unit) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    const started = performance.now();
    parse(text);
    parse(`<tool_call>\n<function=a>\n<parameter=b>\n${text}`, { tools: [EDITOR] });
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

describe('the XML form', () => {
  test('keeps every blank of a value except the two line breaks of the syntax', () => {
    const value = '\n\n  def f():\r\n\treturn 1  \n\n';
    const { call } = onlyCall(renderXml({ name: 'edit', arguments: { new_str: value } }));
    expect(call?.arguments).toEqual({ new_str: value });
  });

  test.each([
    ['<parameter=p>v</parameter>', 'v'],
    ['<parameter=p></parameter>', ''],
    ['<parameter=p>\n</parameter>', ''],
    ['<parameter=p>\n\n</parameter>', ''],
    ['<parameter=p>v\n</parameter>', 'v'],
    ['<parameter=p>\nv</parameter>', 'v'],
  ])('%j is read as %j', (parameter, value) => {
    const { call } = onlyCall(`<function=f>${parameter}</function>`);
    expect(call).toEqual({ id: 'call00001', name: 'f', arguments: { p: value } });
  });

  test('a value may hold code that looks like the end of the call', () => {
    const value = [
      'const end = "</parameter>";',
      'const text = `<function=x><parameter=y>1</parameter></function></tool_call>`;',
      '</function>',
      '</tool_call>',
      '<parameter=path>',
    ].join('\n');
    const written = { name: 'edit', arguments: { path: '/a', new_str: value } };
    expect(onlyCall(renderXml(written), { tools: [EDITOR] }).call?.arguments).toEqual(
      written.arguments,
    );
  });

  test('a missing line break before </parameter> does not swallow the next parameter', () => {
    const text =
      '<tool_call>\n<function=edit>\n<parameter=old_str>\na</parameter>\n<parameter=new_str>\nb\n</parameter>\n</function>\n</tool_call>';
    expect(onlyCall(text, { tools: [EDITOR] }).call?.arguments).toEqual({
      old_str: 'a',
      new_str: 'b',
    });
  });

  test('a missing line break before the last </parameter> does not swallow the next call', () => {
    const one =
      '<tool_call>\n<function=f>\n<parameter=p>\na</parameter>\n</function>\n</tool_call>';
    const two = renderXml({ name: 'f', arguments: { p: 'b' } });
    expect(parse(`${one}\n${two}`).calls.map((call) => call.arguments.p)).toEqual(['a', 'b']);
  });

  test('values of other types are read by the schema, text stays text', () => {
    const { call } = onlyCall(
      renderXml({
        name: 'edit',
        arguments: { path: '12', new_str: 'null', insert_line: 3, view_range: [1, -1], all: true },
      }).replace('\ntrue\n', '\nTrue\n'),
      { tools: [EDITOR] },
    );
    expect(call?.arguments).toEqual({
      path: '12',
      new_str: 'null',
      insert_line: 3,
      view_range: [1, -1],
      all: true,
    });
  });

  test('a value that does not read as its type stays text for the check of the arguments', () => {
    const written = { name: 'edit', arguments: { insert_line: 'three' } };
    expect(onlyCall(renderXml(written), { tools: [EDITOR] }).call?.arguments).toEqual({
      insert_line: 'three',
    });
  });

  test('stands bare, and with a closing tag whose opening tag was forgotten', () => {
    const bare = '<function=f>\n<parameter=p>\n1\n</parameter>\n</function>';
    expect(onlyCall(bare).callForm).toBe('xml');
    expect(onlyCall(`${bare}\n</tool_call>`).call?.arguments).toEqual({ p: '1' });
  });

  test.each([
    ['<function=f>\n<parameter=p>\n1\n</function>', 'The parameter "p" has no end'],
    ['<function=f>\nwhat\n</function>', 'only <parameter=…> or </function> may follow'],
    [
      '<function=f>\n<parameter=p>\n1\n</parameter>\n<parameter=p>\n2\n</parameter>\n</function>',
      'The parameter "p" is given twice',
    ],
    ['<function=>\n</function>', 'The name in <function=…> is missing'],
  ])('explains what is wrong with %j', (text, reason) => {
    const reply = parse(text);
    expect(reply.calls).toEqual([]);
    expect(reply.malformed).toEqual([{ reason: expect.stringMatching(new RegExp(reason)), text }]);
  });
});

describe('other JSON spellings of a call', () => {
  test.each([
    ['{"name": "f", "parameters": {"a": 1}}', { a: 1 }],
    ['{"function": "f", "parameters": {"a": 1}}', { a: 1 }],
    ['{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}', { a: 1 }],
    [
      '{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}',
      { a: 1 },
    ],
    ['{"arguments": {"a": 1}, "name": "f"}', { a: 1 }],
    ['{"name": "f", "arguments": "{\\"a\\": \\"\\\\n\\"}"}', { a: '\n' }],
    ['{"name": "f", "arguments": null}', {}],
    ['{"name": "f", "arguments": ""}', {}],
    ['[{"name": "f", "arguments": {"a": 1}}]', { a: 1 }],
  ])('%s', (json, args) => {
    for (const text of [json, `\`\`\`json\n${json}\n\`\`\``, `<tool_call>${json}</tool_call>`]) {
      expect(onlyCall(text).call).toEqual({ id: 'call00001', name: 'f', arguments: args });
    }
  });

  test('a tool without arguments may leave them out inside a tag', () => {
    expect(onlyCall('<tool_call>{"name": "submit"}</tool_call>').call?.arguments).toEqual({});
  });

  test('several objects in one tag or fence', () => {
    const two = '{"name": "f", "arguments": {}}\n{"name": "g", "arguments": {}}';
    for (const text of [`<tool_call>${two}</tool_call>`, `\`\`\`json\n${two}\n\`\`\``, two]) {
      expect(parse(text).calls.map((call) => call.name)).toEqual(['f', 'g']);
    }
  });

  test('__proto__ as an argument is data', () => {
    const { call } = onlyCall(
      '<tool_call>{"name":"f","arguments":{"__proto__":{"x":1}}}</tool_call>',
    );
    expect(Object.keys(call?.arguments ?? {})).toEqual(['__proto__']);
  });

  test('a call in a fence around a tag', () => {
    const text = `Now:\n\`\`\`xml\n${renderXml({ name: 'f', arguments: { p: '```\nx\n```' } })}\n\`\`\`\nDone.`;
    expect(onlyCall(text).call?.arguments).toEqual({ p: '```\nx\n```' });
  });

  test('a missing closing tag at the very end: the server cut its stop word off', () => {
    expect(onlyCall('<tool_call>\n{"name": "f", "arguments": {}}\n').callForm).toBe('hermes');
  });
});

describe('what is not a call', () => {
  const call = '{"name": "bash", "arguments": {"command": "ls"}}';
  test.each([
    ['no call at all', 'The bug is in cart.js. Done.'],
    ['empty', ''],
    ['a quoted tag in backticks', `Use \`<tool_call>${call}</tool_call>\` for that.`],
    [
      'a quoted tag name',
      'I must write <tool_call> first, or `<tool_call>`, or `<function=name>`.',
    ],
    ['JSON in backticks', `Call \`${call}\` next.`],
    ['JSON in the middle of a line', `I would call ${call} next.`],
    ['a quoted call over several lines', `Write \`<tool_call>\n${call}\n</tool_call>\`.`],
    [
      'a fence of another language',
      `\`\`\`python\nprint('''\n<tool_call>\n${call}\n</tool_call>''')\n\`\`\``,
    ],
    ['a JSON file', '```json\n{"name": "shop", "version": "1.0.0", "function": 1}\n```'],
    ['a bare JSON file', '{\n  "name": "shop",\n  "version": "1.0.0"\n}'],
    ['broken JSON that is no call', '```json\n{"compilerOptions": {,}}\n```'],
    [
      'an echoed tool definition',
      '<tools>\n{"type": "function", "function": {"name": "bash", "description": "Runs.", "parameters": {"type": "object"}}}\n</tools>',
    ],
    ['thinking', `<think>\nI could <tool_call>${call}</tool_call>\n</think>\nNothing to do.`],
    ['unclosed thinking', `<think>\n<tool_call>${call}</tool_call>`],
    ['thinking that the template opened', `Hm, <tool_call>${call}</tool_call>?\n</think>\n\nNo.`],
    ['an unfinished call in such thinking', `I use <tool_call>{"name": \n</think>\n\nNo.`],
  ])('%s', (_, text) => {
    const reply = parse(text);
    expect(reply.calls).toEqual([]);
    expect(reply.malformed).toEqual([]);
    expect(reply.callForm).toBe('none');
  });

  test('a stray backtick hides no call', () => {
    const text = `The \`total is wrong: <tool_call>{"name": "f", "arguments": {"a": "\`x\`"}}</tool_call>`;
    expect(onlyCall(text).call?.arguments).toEqual({ a: '`x`' });
  });

  test('JSON that illustrates next to an explicit call', () => {
    const text = `The form is:\n${call}\n\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>`;
    expect(onlyCall(text).call?.name).toBe('f');
  });
});

describe('thinking', () => {
  const call = '<tool_call>\n{"name": "f", "arguments": {"a": "</think>"}}\n</tool_call>';
  test('is separated, and a call after it counts', () => {
    const reply = onlyCall(`<think>\nhm\n</think>\n\n${call}`);
    expect(reply).toMatchObject({ content: `\n\n${call}`, reasoning: '\nhm\n' });
    expect(reply.call?.arguments).toEqual({ a: '</think>' });
  });

  test('opened by the template', () => {
    const reply = onlyCall(`hm \`<tool_call>\`\n</think>\n\n${call}`);
    expect(reply).toMatchObject({ content: `\n\n${call}`, reasoning: 'hm `<tool_call>`\n' });
  });

  test('a </think> inside a well-formed call is data', () => {
    expect(onlyCall(call)).toMatchObject({ content: call });
    expect(onlyCall(call).reasoning).toBeUndefined();
  });

  test('bare JSON right after it', () => {
    expect(onlyCall('<think></think>{"name": "f", "arguments": {}}').callForm).toBe('json');
  });
});

describe('broken calls', () => {
  test.each([
    [
      'a raw line break in a string',
      '<tool_call>\n{"name": "f", "arguments": {"a": "x\ny"}}\n</tool_call>',
      'The call is not valid JSON: a string holds a raw line break at line 1, column 36; write it as \\n.',
    ],
    [
      'a trailing comma',
      '```json\n{"name": "f", "arguments": {"a": 1,}}\n```',
      'The call is not valid JSON: there is a comma before a closing bracket at line 1, column 35; remove it.',
    ],
    [
      'an unescaped quote',
      '<tool_call>\n{"name": "f", "arguments": {"a": "say "hi""}}\n</tool_call>',
      'The call is not valid JSON: "," or "}" is expected at line 1, column 40 of the call, before "hi\\"\\"}}\\n</tool_call>".',
    ],
    [
      'no name',
      '<tool_call>{"arguments": {}}</tool_call>',
      'The call has no "name". Write {"name": "<tool>", "arguments": {…}}.',
    ],
    [
      'arguments of another type',
      '<tool_call>{"name": "f", "arguments": [1]}</tool_call>',
      'The arguments of "f" must be a JSON object. Write {"name": "<tool>", "arguments": {…}}.',
    ],
    [
      'prose in the tag',
      '<tool_call>run the tests</tool_call>',
      'Between <tool_call> and </tool_call> must stand one JSON object.',
    ],
    [
      'an empty tag',
      '<tool_call></tool_call>',
      'Between <tool_call> and </tool_call> must stand one JSON object.',
    ],
    [
      'a call that never ends',
      '<tool_call>\n{"name": "f", "arguments": {"a": "x',
      'The call is not finished. The call is not valid JSON: " at the end of the string is expected at line 1, column 36 of the call.',
    ],
    [
      'an echoed tool',
      '<tool_call>{"name": "f", "description": "x"}</tool_call>',
      'This describes a tool and does not call it.',
    ],
  ])('%s', (_, text, reason) => {
    const reply = parse(text);
    expect(reply.calls).toEqual([]);
    expect(reply.malformed).toEqual([{ reason, text }]);
    expect(reply.callForm).not.toBe('none');
  });

  test.each([
    '<tool_call>\n{"name": "f", "arguments": {"a": "x',
    '<tool_call>\n<function=f>\n<parameter=a>\nx',
    '<tool_call>\n<function=f>\n<par',
    '<tool_call>\n<func',
    '<tool_call>',
    '<function=f>\n<parameter=a>\nx',
    '```json\n{"name": "f", "arguments": {"a": "x',
    '{"name": "f", "arguments": {"a": "x',
  ])('a reply cut by the token limit says so: %j', (text) => {
    const reply = parse(text, { finish: 'length' });
    expect(reply.calls).toEqual([]);
    expect(reply.malformed).toEqual([
      {
        reason:
          'The reply was cut off by its token limit inside a call. Write a shorter reply, or make the change in smaller steps.',
        text,
      },
    ]);
  });

  test('a complete call before the cut one still counts', () => {
    const text =
      '<tool_call>{"name": "f", "arguments": {}}</tool_call>\n<tool_call>{"name": "g", "arg';
    const reply = parse(text, { finish: 'length' });
    expect(reply.calls.map((call) => call.name)).toEqual(['f']);
    expect(reply.malformed).toHaveLength(1);
  });

  test('a broken call does not hide the next one', () => {
    const text =
      '<tool_call>{"name": }</tool_call><tool_call>{"name": "g", "arguments": {}}</tool_call>';
    expect(parse(text)).toMatchObject({ calls: [{ name: 'g' }], malformed: [{}] });
  });

  test('the lenient reading repairs two faults and reports them', () => {
    const text = '<tool_call>\n{"name": "f", "arguments": {"a": "x\n\ty",}}\n</tool_call>';
    const reply = onlyCall(text, { lenient: true });
    expect(reply.call?.arguments).toEqual({ a: 'x\n\ty' });
    expect(reply.repairs).toHaveLength(3);
    expect(
      onlyCall(renderCall('hermes', { name: 'f', arguments: {} }), { lenient: true }).repairs,
    ).toEqual([]);
  });

  test('the written text is cut to a readable length', () => {
    const [broken] = parse(`<tool_call>{"name": "f", "arguments": "${'x'.repeat(5000)}`).malformed;
    expect(broken?.text).toHaveLength(401);
  });
});
