import { expect, test } from 'vitest';
import { negotiate, PROTOCOL_VERSIONS } from '../../../../src/core/protocol/version.ts';

test('the newest common version is agreed upon, whatever the order', () => {
  expect(negotiate([1, 4, 3], [2, 3, 4])).toEqual({ kind: 'agreed', version: 4 });
  expect(negotiate([9, 1], [1])).toEqual({ kind: 'agreed', version: 1 });
});

test('both sides of today agree', () => {
  expect(negotiate(PROTOCOL_VERSIONS).kind).toBe('agreed');
});

test('without a common version the message says who is to be updated', () => {
  expect(negotiate([1], [2, 3])).toEqual({
    kind: 'none',
    message:
      'no common version of the protocol: the client speaks 1, the server 2, 3. Update the client.',
  });
  expect(negotiate([5, 4], [3])).toMatchObject({
    message:
      'no common version of the protocol: the client speaks 4, 5, the server 3. Update the server.',
  });
  expect(negotiate([], [1])).toMatchObject({ message: expect.stringContaining('speaks none') });
});
