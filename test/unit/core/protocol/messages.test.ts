import { expect, test } from 'vitest';
import {
  closeCode,
  httpStatus,
  ProtocolError,
  retryAdvice,
  toWire,
  wireErrorSchema,
} from '../../../../src/core/protocol/errors.ts';
import {
  MAX_CONTENT_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_UPLOAD_BYTES,
} from '../../../../src/core/protocol/limits.ts';
import { parseClientMessage, parseServerMessage } from '../../../../src/core/protocol/messages.ts';

const hello = {
  type: 'hello',
  versions: [1],
  client: { name: 'prime-agent', version: '0.1.0' },
  token: 'pa_secret',
};
const begin = {
  type: 'upload.begin',
  upload: 'a'.repeat(64),
  bytes: 10,
  encoding: 'gzip',
  contentSha256: 'b'.repeat(64),
  contentBytes: 20,
  attemptId: 'attempt-1',
};

function failure(value: unknown): ProtocolError {
  try {
    parseClientMessage(typeof value === 'string' ? value : JSON.stringify(value));
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  throw new Error('was read');
}

test('messages read as they were written', () => {
  expect(parseClientMessage(JSON.stringify(hello))).toEqual(hello);
  expect(parseClientMessage(JSON.stringify(begin))).toEqual(begin);
  const stored = {
    type: 'upload.stored',
    upload: 'a'.repeat(64),
    attemptId: 'attempt-1',
    duplicate: false,
    claim: 'waiting',
  };
  expect(parseServerMessage(JSON.stringify(stored))).toEqual(stored);
});

test.each([
  ['no JSON', '{', 'a message of the client is not JSON'],
  ['no object', '3', 'does not fit'],
  ['an unknown type', { type: 'launch' }, 'does not fit'],
  ['an unknown key', { ...hello, admin: true }, 'Unrecognized key: "admin"'],
  ['no version', { ...hello, versions: [] }, 'versions:'],
  ['a path for a name', { ...begin, attemptId: '../../etc/passwd' }, 'attemptId: must be letters'],
  ['a name that begins with a dot', { ...begin, attemptId: '.index' }, 'attemptId:'],
  ['a hash in capitals', { ...begin, upload: 'A'.repeat(64) }, 'upload: must be a sha256'],
  ['nothing to send', { ...begin, bytes: 0 }, 'bytes:'],
  ['too much to send', { ...begin, bytes: MAX_UPLOAD_BYTES + 1 }, 'bytes:'],
  ['too much to unpack', { ...begin, contentBytes: MAX_CONTENT_BYTES + 1 }, 'contentBytes:'],
])('%s is a bad message that names the field', (_name, value, text) => {
  const error = failure(value);
  expect(error.code).toBe('bad_message');
  expect(error.message).toContain(text);
});

test('an error never repeats what was sent', () => {
  const error = failure({ ...hello, token: { secret: 'pa_topsecret' }, versions: 'pa_topsecret' });
  expect(error.message).toContain('(hello)');
  expect(error.message).not.toContain('topsecret');
});

test('a message that is too long is refused before it is read', () => {
  const error = failure(`"${'ä'.repeat(MAX_MESSAGE_BYTES / 2)}"`);
  expect(error.code).toBe('too_large');
});

test('errors cross the wire with their advice, however long their text', () => {
  const error = new ProtocolError('rate_limited', 'x'.repeat(5_000), 1_500);
  expect(wireErrorSchema.parse(toWire(error))).toMatchObject({
    code: 'rate_limited',
    retryAfterMs: 1_500,
  });
  expect(retryAdvice('bad_content')).toBe('never');
  expect(retryAdvice('disk_full')).toBe('later');
  expect(httpStatus('unauthorized')).toBe(401);
});

test('close codes are those of the standard or private, one per error', () => {
  const codes = wireErrorSchema.shape.code.options.map(closeCode);
  expect(new Set(codes).size).toBe(codes.length);
  for (const code of codes) expect(code < 1016 || (code >= 4000 && code < 5000)).toBe(true);
});
