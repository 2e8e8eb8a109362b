import type { Message, ToolCall } from '../../src/core/agent/messages.ts';
import { LIST_COMMAND } from '../../src/core/policies/edit-search/scene.ts';
import type { PolicyReply } from '../../src/core/policies/policy.ts';
import { FIRST_MESSAGE } from './first-message.ts';

/** A workspace with one module and its test, which fails whatever is edited; its tools as texts. */
export const SOURCE = 'export const total = (a) => a.reduce((x, y) => x - y, 0);';

const FILES: Readonly<Record<string, string>> = {
  'src/total.js': SOURCE,
  'test/total.test.js': [
    "import assert from 'node:assert/strict';",
    "import { it } from 'node:test';",
    "import { total } from '../src/total.js';",
    '',
    "it('adds up', () => {",
    '  assert.equal(total([1, 2, 3]), 6);',
    '});',
  ].join('\n'),
};

const STILL = `1 failed

FAIL test/total.test.js::adds up
  expected: 6
  actual: -6
  at test/total.test.js:6`;

export const BEGIN: readonly Message[] = [{ role: 'user', content: FIRST_MESSAGE }];

export function answerTo({ name, arguments: args }: Pick<ToolCall, 'name' | 'arguments'>): string {
  if (name === 'run_tests') return STILL;
  if (name === 'bash') return args.command === LIST_COMMAND ? Object.keys(FILES).join('\n') : '';
  if (args.command === 'undo_edit') return 'Undid the last edit';
  if (args.command === 'str_replace') return 'Edited it:\n     1\tx';
  const text = FILES[String(args.path).replace('/workspace/', '')] ?? '';
  return text
    .split('\n')
    .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
    .join('\n');
}

/** The conversation with a reply and the answers to its calls. */
export function continued(
  messages: readonly Message[],
  { content, calls, callForm }: PolicyReply,
): readonly Message[] {
  return [
    ...messages,
    { role: 'assistant', content, calls, callForm },
    ...calls.map(
      (call): Message => ({
        role: 'tool',
        callId: call.id,
        name: call.name,
        content: answerTo(call),
      }),
    ),
  ];
}
