import { Template } from '@huggingface/jinja';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  encodeMessages,
  type FormatMessage,
  generationPrompt,
  parseReply,
  renderMessages,
} from '../../../../../src/core/policies/onnx/chat-format.ts';
import {
  END_OF_TURN_ID,
  SPECIAL_TOKENS,
} from '../../../../../src/core/policies/onnx/special-tokens.ts';
import { goldenChatTemplate, goldenFormat, goldenTokenizer } from './golden.ts';

const golden = goldenFormat();
const tokenizer = goldenTokenizer();

test('the golden files are all there', () => {
  expect(golden.conversations.length).toBeGreaterThanOrEqual(12);
  expect(golden.replies.length).toBeGreaterThanOrEqual(24);
  expect(golden.special_tokens).toEqual(SPECIAL_TOKENS);
});

test.each(golden.conversations)('ids of the learner: $name', (conversation) => {
  const prompt = conversation.generation_prompt ? generationPrompt(tokenizer) : [];
  const ids = [...encodeMessages(tokenizer, conversation.messages), ...prompt];
  expect(ids).toEqual(conversation.ids);
});

test.each(golden.conversations)('text of the learner and of the chat template: $name', (given) => {
  const end = given.generation_prompt ? '<|im_start|>assistant\n' : '';
  expect(renderMessages(given.messages) + end).toBe(given.text);
  const rendered = new Template(goldenChatTemplate()).render({
    messages: given.messages,
    add_generation_prompt: given.generation_prompt,
  });
  expect(rendered).toBe(given.text);
});

test.each(golden.replies)('reply of the learner: $name', ({ ids, reply, malformed }) => {
  const parsed = parseReply(tokenizer, ids);
  if (malformed) {
    expect(parsed).toEqual({ kind: 'malformed', reason: malformed.reason });
    return;
  }
  expect(parsed).toEqual({
    kind: 'reply',
    content: reply?.content,
    calls: reply?.calls.map((call) => ({ name: call.name, arguments: new Map(call.arguments) })),
    finish: reply?.finish,
  });
});

const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(...SPECIAL_TOKENS, '\n', '\t', '\r\n', '  ', '\ufeff', '<|', '<<|im_end|>>'),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));
const word = text.filter((value) => value !== '');
// A Map and not a record: keys that look like whole numbers change their order in an object.
const call = fc.record({
  name: word,
  arguments: fc.dictionary(
    word.filter((key) => key !== '__proto__' && !/^\d+$/.test(key)),
    text,
    { maxKeys: 3, noNullPrototype: true },
  ),
});
const reply = fc.record({ content: text, calls: fc.array(call, { maxLength: 3 }) });
const plain = fc.record({ role: fc.constantFrom('system', 'user', 'tool'), content: text });

/** Ids of what an assistant writes: its body and the end of its turn. */
function sampled(message: {
  content: string;
  calls: readonly { name: string; arguments: Record<string, string> }[];
}): number[] {
  const whole = encodeMessages(tokenizer, [{ role: 'assistant', ...message }]);
  return whole.slice(generationPrompt(tokenizer).length, -tokenizer.encodeText('\n').length);
}

test('what is written is read back', () => {
  fc.assert(
    fc.property(reply, (message) => {
      expect(parseReply(tokenizer, sampled(message))).toEqual({
        kind: 'reply',
        content: message.content,
        calls: message.calls.map(({ name, arguments: args }) => ({
          name,
          arguments: new Map(Object.entries(args)),
        })),
        finish: 'stop',
      });
    }),
  );
});

test('spellings of special tokens stay text', () => {
  fc.assert(
    fc.property(text, (value) => {
      const ids = tokenizer.encodeText(value);
      expect(ids.every((id) => id >= SPECIAL_TOKENS.length)).toBe(true);
      expect(tokenizer.decode(ids)).toBe(value);
    }),
  );
});

test('a prompt is an exact prefix of the prompt with its reply and what follows', () => {
  fc.assert(
    fc.property(fc.array(plain), reply, fc.array(plain), (history, answer, later) => {
      const before = history as readonly FormatMessage[];
      const all: FormatMessage[] = [
        ...before,
        { role: 'assistant', ...answer },
        ...(later as readonly FormatMessage[]),
      ];
      const prompt = [...encodeMessages(tokenizer, before), ...generationPrompt(tokenizer)];
      const whole = encodeMessages(tokenizer, all);
      const known = [...prompt, ...sampled(answer)];
      expect(whole.slice(0, known.length)).toEqual(known);
      expect(known.at(-1)).toBe(END_OF_TURN_ID);
    }),
  );
});

test('any ids are read without an exception', () => {
  const id = fc.oneof(fc.integer({ min: 0, max: 399 }), fc.integer({ min: 0, max: 6 }));
  fc.assert(
    fc.property(fc.array(id), (ids) => {
      expect(['reply', 'malformed']).toContain(parseReply(tokenizer, ids).kind);
    }),
  );
});
