import { describe, expect, test } from 'vitest';
import {
  isContextOverflow,
  retryAfterMs,
  roomInContext,
  saidBy,
  statusTrouble,
  withoutSecrets,
} from '../../../../../src/core/policies/openai/failures.ts';

describe('a context overflow is recognised in the words of', () => {
  test.each([
    [
      'vLLM',
      "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.",
    ],
    [
      'vLLM, older',
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion). Please reduce the length of the messages or completion.",
    ],
    [
      'vLLM, engine',
      'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    ],
    [
      'llama.cpp',
      'the request exceeds the available context size (4096 tokens), try increasing it',
    ],
    [
      'llama.cpp, older',
      'the request exceeds the available context size. try increasing the context size or enable context shift',
    ],
    ['llama-cpp-python', 'Requested tokens (5000) exceed context window of 4096'],
    [
      'OpenAI',
      'Your input exceeds the context window of this model. Please adjust your input and try again. (context_length_exceeded)',
    ],
    ['Ollama', 'the input length exceeds the context length'],
    [
      'LM Studio',
      'Trying to keep the first 4600 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
    ],
    ['SGLang', "The input (5000 tokens) is longer than the model's context length (4096 tokens)."],
    [
      'TGI',
      '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 512 `max_new_tokens`',
    ],
    ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum'],
    [
      'Gemini',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ],
    [
      'Mistral',
      'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
    ],
  ])('%s', (_, said) => {
    expect(isContextOverflow(400, said)).toBe(true);
    expect(
      statusTrouble(400, said, undefined, { label: 'x', model: 'm', answeredBefore: true }).failure
        .kind,
    ).toBe('context-exceeded');
  });

  test.each([
    'Conversation roles must alternate user/assistant',
    'The model `x` does not exist',
    "Unknown parameter: 'top_k'.",
    'tools param requires --jinja flag',
  ])('but not in: %s', (said) => {
    expect(isContextOverflow(400, said)).toBe(false);
  });

  test('nor behind a status that means something else', () => {
    expect(isContextOverflow(401, 'maximum context length')).toBe(false);
  });
});

describe('room that is left for a reply', () => {
  test.each([
    [
      "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 tokens and your request has 30 input tokens (4096 > 2048 - 30).",
      2018,
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3500 in the messages, 1500 in the completion).",
      596,
    ],
    [
      "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.",
      -904,
    ],
    ['the request exceeds the available context size', undefined],
  ])('%s', (said, room) => {
    expect(roomInContext(said)).toBe(room);
  });
});

describe('what a server says', () => {
  test.each([
    ['{"error": {"message": "no", "code": "bad_key", "param": null}}', 'no (bad_key)'],
    ['{"error": "no"}', 'no'],
    ['{"object": "error", "message": "no", "code": 400}', 'no'],
    ['{"detail": "Not Found"}', 'Not Found'],
    [
      '{"detail": [{"loc": ["body", "top_k"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]}',
      'Extra inputs are not permitted: body.top_k',
    ],
    ['{"message": "no"}', 'no'],
    ['<html><head><title> 502 Bad\nGateway </title>', 'a web page titled "502 Bad\nGateway"'],
    ['<h1>oops</h1>', 'a web page'],
    ['plain\n text', 'plain text'],
    ['', ''],
    ['x'.repeat(600), `${'x'.repeat(500)}…`],
  ])('%s', (body, said) => {
    expect(saidBy(body)).toBe(said);
  });

  test('never holds a key', () => {
    expect(withoutSecrets('key sk-abc and sk-abc', ['sk-abc', undefined, ''])).toBe(
      'key [API key] and [API key]',
    );
  });
});

test.each([
  ['3', 3000],
  ['0.5', 500],
  ['Wed, 01 Jan 2025 00:00:10 GMT', 10_000],
  ['Wed, 01 Jan 2020 00:00:00 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After %s', (value, ms) => {
  expect(retryAfterMs(value, Date.parse('2025-01-01T00:00:00Z'))).toBe(ms);
});
