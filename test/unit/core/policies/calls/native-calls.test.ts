import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCallIds } from '../../../../../src/core/policies/calls/call-ids.ts';
import { readNativeCalls } from '../../../../../src/core/policies/calls/native-calls.ts';

function read(args: unknown, options: { finish?: 'stop' | 'length'; lenient?: boolean } = {}) {
  return readNativeCalls([{ name: 'f', arguments: args }], {
    nextId: createCallIds(),
    ...options,
  });
}

describe('native calls', () => {
  test.each([
    ['{"a": "x"}', { a: 'x' }],
    [{ a: 'x' }, { a: 'x' }],
    ['', {}],
    ['  ', {}],
    [undefined, {}],
    [null, {}],
    ['"{\\"a\\": \\"\\\\n\\"}"', { a: '\n' }],
    ['\n{"a": 1}\n', { a: 1 }],
  ])('arguments %j', (args, expected) => {
    expect(read(args)).toEqual({
      calls: [{ id: 'call00001', name: 'f', arguments: expected }],
      malformed: [],
      repairs: [],
    });
  });

  test('gives back what was written', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 })),
        (args) => {
          const json = JSON.stringify(args);
          for (const form of [json, JSON.stringify(json)]) {
            expect(read(form).calls[0]?.arguments).toEqual(JSON.parse(json));
          }
        },
      ),
    );
  });

  test.each([
    [
      '{"a": ',
      {},
      'The arguments of "f" are not valid JSON: a value is expected at line 1, column 7.',
    ],
    [
      '{"a": "x\ny"}',
      {},
      'The arguments of "f" are not valid JSON: a string holds a raw line break at line 1, column 9; write it as \\n.',
    ],
    [
      '{} {}',
      {},
      'The arguments of "f" are not valid JSON: there is more text after the object at line 1, column 3.',
    ],
    [
      '[1]',
      {},
      'The arguments of "f" must be a JSON object. Write {"name": "<tool>", "arguments": {…}}.',
    ],
    [
      '{"a": ',
      { finish: 'length' },
      'The reply was cut off by its token limit inside a call. Write a shorter reply, or make the change in smaller steps.',
    ],
  ] as const)('%j is malformed', (args, options, reason) => {
    expect(read(args, options)).toMatchObject({ calls: [], malformed: [{ reason }] });
  });

  test('the lenient reading reports what it repaired', () => {
    const reply = read('{"a": "x\ny",}', { lenient: true });
    expect(reply.calls[0]?.arguments).toEqual({ a: 'x\ny' });
    expect(reply.repairs).toHaveLength(2);
  });

  test('a call without a name', () => {
    const reply = readNativeCalls([{ name: '', arguments: '{}' }], { nextId: createCallIds() });
    expect(reply.malformed).toEqual([{ reason: 'The call has no name.', text: '({})' }]);
  });
});
