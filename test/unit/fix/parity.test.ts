import { describe, expect, it } from 'vitest';
import { compare } from '../../../src/core/fix/parity.ts';
import type { TestResult } from '../../../src/core/frameworks/framework.ts';

const failed = (id: string, message: string): TestResult => ({
  id,
  file: 'a.test.js',
  name: id,
  status: 'failed',
  durationMs: 1,
  failure: { message, details: message },
});
const passed = (id: string): TestResult => ({
  id,
  file: 'a.test.js',
  name: id,
  status: 'passed',
  durationMs: 1,
});

describe('parity between the sandbox and the user’s environment', () => {
  it('is there when both fail for the same reason, whatever the times and addresses', () => {
    expect(
      compare(
        [failed('a', 'timed out after 12 ms at 0x7f')],
        [failed('a', 'timed out after 15 ms at 0x8a')],
      ),
    ).toEqual({
      warnings: [],
      onlyInSandbox: [],
    });
  });

  it('is a problem of the environment when the test fails only in the sandbox', () => {
    const outcome = compare(
      [failed('a', "ENOENT: no such file or directory, open '/workspace/.env'")],
      [passed('a')],
    );
    expect(outcome.onlyInSandbox).toMatchObject([
      { id: 'a', remedy: expect.stringContaining('--include ".env"') },
    ]);
  });

  it.each([
    ['Error: getaddrinfo ENOTFOUND example.org', /network/],
    ['TypeError: fetch failed', /network/],
    ["ModuleNotFoundError: No module named 'yaml'", /package is missing/],
    ['something else', /doctor/],
  ])('names a remedy for %s', (message, remedy) => {
    const outcome = compare([failed('a', message)], [passed('a')]);
    expect(outcome.onlyInSandbox[0]?.remedy).toMatch(remedy);
  });

  it('is a warning when both fail, but differently', () => {
    const outcome = compare([failed('a', 'No module named x')], [failed('a', 'expected 1')]);
    expect(outcome).toMatchObject({
      onlyInSandbox: [],
      warnings: [{ text: expect.stringContaining('fails differently') }],
    });
  });
});
