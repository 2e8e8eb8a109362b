import { describe, expect, test } from 'vitest';
import type { AssistantMessage, Message } from '../../../../../src/core/agent/messages.ts';
import {
  encodeMessages,
  generationPrompt,
  renderMessages,
} from '../../../../../src/core/policies/onnx/chat-format.ts';
import { createTokenHistory } from '../../../../../src/core/policies/onnx/history.ts';
import {
  CALL_ID,
  END_CALL_ID,
  END_OF_TURN_ID,
} from '../../../../../src/core/policies/onnx/special-tokens.ts';
import { goldenTokenizer } from './golden.ts';

const tokenizer = goldenTokenizer();
const text = (value: string) => tokenizer.encodeText(value);
const newline = text('\n');
const prompt = generationPrompt(tokenizer);

const system: Message = { role: 'system', content: 'Fix it.' };
const user: Message = { role: 'user', content: 'Go.' };
const call = { id: 'call00001', name: 'bash', arguments: { command: 'ls' } };
const observation: Message = { role: 'tool', callId: call.id, name: 'bash', content: 'a.js' };

function assistant(changes: Partial<AssistantMessage>): AssistantMessage {
  return { role: 'assistant', content: '', calls: [], callForm: 'none', ...changes };
}

test('the system message is left out or kept, as the policy was trained', () => {
  const shown = createTokenHistory(tokenizer, 'included').prompt([system, user]);
  const hidden = createTokenHistory(tokenizer, 'omitted').prompt([system, user]);
  expect(hidden).toEqual([...encodeMessages(tokenizer, [user]), ...prompt]);
  expect(shown).toEqual([
    ...encodeMessages(tokenizer, [{ role: 'system', content: 'Fix it.' }, user]),
    ...prompt,
  ]);
});

describe('a conversation that continues', () => {
  // Sampled in pieces that no encoder would make of the same text.
  const sampled = [CALL_ID, ...'bash'.split('').flatMap(text), END_CALL_ID, END_OF_TURN_ID];
  const content = '<|call|>bash<|end_call|>';
  const reply = assistant({ content, calls: [{ ...call, arguments: {} }], callForm: 'nano' });

  test('keeps the ids that were sampled and encodes only what came behind them', () => {
    expect(sampled).not.toEqual([CALL_ID, ...text('bash'), END_CALL_ID, END_OF_TURN_ID]);
    const history = createTokenHistory(tokenizer, 'omitted');
    const first = history.prompt([system, user]);
    history.sampled(sampled, content);
    const second = history.prompt([system, user, reply, observation]);
    expect(second).toEqual([
      ...first,
      ...sampled,
      ...newline,
      ...encodeMessages(tokenizer, [{ role: 'tool', content: 'a.js' }]),
      ...prompt,
    ]);
  });

  test('asks again after a failure without a reply in between', () => {
    const history = createTokenHistory(tokenizer, 'omitted');
    const first = history.prompt([user]);
    expect(history.prompt([user])).toEqual(first);
    history.sampled(sampled, content);
    const second = history.prompt([user, reply, observation]);
    expect(history.prompt([user, reply, observation])).toEqual(second);
  });

  test('an end is put behind a reply that was cut off', () => {
    const history = createTokenHistory(tokenizer, 'omitted');
    const first = history.prompt([user]);
    history.sampled(text('I thi'), 'I thi');
    const second = history.prompt([user, assistant({ content: 'I thi' }), user]);
    const known = [...first, ...text('I thi'), END_OF_TURN_ID, ...newline];
    expect(second.slice(0, known.length)).toEqual(known);
  });

  test.each([
    ['another beginning', [{ role: 'user', content: 'Stop.' } as const, reply, observation]],
    ['another reply', [user, { ...reply, content: 'Hm.', calls: [] }, observation]],
    ['a shorter one', [user]],
  ])('is encoded from its messages where it does not: %s', (_, messages) => {
    const history = createTokenHistory(tokenizer, 'omitted');
    history.prompt([user]);
    history.sampled(sampled, content);
    const fresh = createTokenHistory(tokenizer, 'omitted').prompt(messages);
    expect(history.prompt(messages)).toEqual(fresh);
  });
});

describe('a conversation from elsewhere', () => {
  const calls = [call, { ...call, id: 'call00002', arguments: { tests: ['a'], log: true } }];
  const body = '<|call|>bash<|arg|>command<|value|>ls<|end_call|>';

  test.each([
    [
      'of this policy',
      assistant({ content: `So:\n${body}`, calls: [call], callForm: 'nano' }),
      'So:\n',
    ],
    [
      'of this policy, with a tag as text',
      assistant({ content: `<|call|>${body}`, calls: [call], callForm: 'nano' }),
      '<|call|>',
    ],
    ['with native calls', assistant({ content: 'So:', calls, callForm: 'native' }), 'So:'],
    ['in another text form', assistant({ content: '<tool_call>…', calls, callForm: 'hermes' }), ''],
    ['without calls', assistant({ content: 'Hm.' }), 'Hm.'],
  ])('keeps text and calls: %s', (_, message, before) => {
    const ids = createTokenHistory(tokenizer, 'omitted').prompt([user, message]);
    expect(ids).toEqual([
      ...encodeMessages(tokenizer, [
        user,
        { role: 'assistant', content: before, calls: message.calls },
      ]),
      ...prompt,
    ]);
  });

  test('a malformed reply keeps its tags, and can end nothing', () => {
    const content = '<|call|>bash<|arg|><|im_end|>';
    const message = assistant({ content, callForm: 'nano' });
    const ids = createTokenHistory(tokenizer, 'omitted').prompt([message]);
    expect(ids.filter((id) => id === CALL_ID).length).toBe(1);
    expect(ids.filter((id) => id === END_OF_TURN_ID).length).toBe(1);
    const written = renderMessages([{ role: 'assistant', content, calls: [] }]);
    expect(tokenizer.decode(ids)).toBe(`${written}<|im_start|>assistant\n`);
  });
});
