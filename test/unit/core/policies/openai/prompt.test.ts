import { expect, test } from 'vitest';
import type { Message } from '../../../../../src/core/agent/messages.ts';
import { nativeMessages, textMessages } from '../../../../../src/core/policies/openai/prompt.ts';

const conversation: readonly Message[] = [
  { role: 'system', content: 'S' },
  { role: 'user', content: 'U' },
  {
    role: 'assistant',
    content: 'I look.',
    reasoning: 'hm',
    callForm: 'native',
    calls: [{ id: 'call00001', name: 'bash', arguments: { command: 'ls "a"' } }],
  },
  { role: 'tool', callId: 'call00001', name: 'bash', content: 'one' },
  {
    role: 'assistant',
    content: '<tool_call>x</tool_call>',
    callForm: 'hermes',
    calls: [
      { id: 'call00002', name: 'bash', arguments: {} },
      { id: 'call00003', name: 'bash', arguments: {} },
    ],
  },
  { role: 'tool', callId: 'call00002', name: 'bash', content: 'two' },
  { role: 'tool', callId: 'call00003', name: 'bash', content: 'three' },
];

test('native: native calls and their answers, text calls and their answers as text', () => {
  expect(nativeMessages(conversation)).toEqual([
    { role: 'system', content: 'S' },
    { role: 'user', content: 'U' },
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: 'hm',
      tool_calls: [
        {
          id: 'call00001',
          type: 'function',
          function: { name: 'bash', arguments: '{"command":"ls \\"a\\""}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call00001', content: 'one' },
    { role: 'assistant', content: '<tool_call>x</tool_call>' },
    {
      role: 'user',
      content: '<tool_response>\ntwo\n</tool_response>\n<tool_response>\nthree\n</tool_response>',
    },
  ]);
});

test('text: everything as text, also calls that were native before', () => {
  const written = textMessages(conversation, []);
  expect(written[2]).toEqual({
    role: 'assistant',
    content:
      'I look.\n<tool_call>\n{"name":"bash","arguments":{"command":"ls \\"a\\""}}\n</tool_call>',
    reasoning_content: 'hm',
  });
  expect(written.map((message) => message.role)).toEqual([
    'system',
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
  ]);
});

test('text without a system message: the tools make one', () => {
  const tool = { name: 'f', description: 'F.', parameters: {} };
  expect(textMessages([{ role: 'user', content: 'U' }], [tool])[0]).toMatchObject({
    role: 'system',
    content: expect.stringMatching(/^# Tools/),
  });
});

test('text without tools: nothing is added', () => {
  expect(textMessages([{ role: 'user', content: 'U' }], [])).toEqual([
    { role: 'user', content: 'U' },
  ]);
});
