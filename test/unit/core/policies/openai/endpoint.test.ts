import { describe, expect, test } from 'vitest';
import { isLoopback, parseEndpoint } from '../../../../../src/core/policies/openai/endpoint.ts';

describe('the address of an endpoint', () => {
  test.each([
    ['http://127.0.0.1:8000', 'http://127.0.0.1:8000/v1'],
    ['http://127.0.0.1:8000/', 'http://127.0.0.1:8000/v1'],
    ['http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000/v1'],
    ['http://127.0.0.1:8000/v1/', 'http://127.0.0.1:8000/v1'],
    ['http://127.0.0.1:8000/v1/chat/completions', 'http://127.0.0.1:8000/v1'],
    ['http://127.0.0.1:8000/v1/models/', 'http://127.0.0.1:8000/v1'],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1'],
    ['localhost:11434', 'http://localhost:11434/v1'],
    [' [::1]:8080 ', 'http://[::1]:8080/v1'],
    ['https://name:secret@host/v1?key=abc', 'https://host/v1'],
  ])('%s', (address, label) => {
    const parsed = parseEndpoint(address);
    expect(parsed).toMatchObject({ kind: 'endpoint', endpoint: { label } });
  });

  test('keeps the query and turns user and password into a header, out of sight', () => {
    expect(parseEndpoint('https://us%40er:pa%3Ass@host/v1/chat/completions?api-version=1')).toEqual(
      {
        kind: 'endpoint',
        endpoint: {
          origin: 'https://host',
          path: '/v1',
          search: '?api-version=1',
          label: 'https://host/v1',
          authorization: `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`,
        },
      },
    );
  });

  test.each([
    ['', 'not a URL'],
    ['http://', 'not a URL'],
    ['http://a b', 'not a URL'],
    ['http://host:99999', 'not a URL'],
    ['ftp://host', 'must start with http:// or https://, not ftp://'],
    ['https://u:%E0%A4%A@host', 'user name or password'],
  ])('%j is refused', (address, message) => {
    expect(parseEndpoint(address)).toEqual({
      kind: 'invalid',
      message: expect.stringContaining(message),
    });
  });

  test.each([
    ['http://127.0.0.1:1', true],
    ['http://localhost', true],
    ['http://[::1]:1', true],
    ['http://127.example.org', false],
    ['http://10.0.0.1', false],
  ])('%s is this machine: %s', (address, expected) => {
    const parsed = parseEndpoint(address);
    expect(parsed.kind === 'endpoint' && isLoopback(parsed.endpoint)).toBe(expected);
  });
});
