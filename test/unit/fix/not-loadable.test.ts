import { describe, expect, it } from 'vitest';
import { notLoadable } from '../../../src/core/fix/not-loadable.ts';

describe('test files that cannot be loaded', () => {
  it.each([
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'left-pad' imported from /workspace/src/main.js",
    "Error: Cannot find module 'left-pad'",
    "ModuleNotFoundError: No module named 'yaml'",
  ])('lack a package: %s', (message) => {
    expect(notLoadable([{ file: 'a.test.js', message }])).toMatchObject({
      cause: 'environment',
      remedy: expect.stringContaining('Install the dependencies'),
    });
  });

  it.each([
    'SyntaxError: Unexpected end of input\n    at …',
    "Error: Cannot find module './helper.js'",
  ])('are broken themselves: %s', (message) => {
    const found = notLoadable([{ file: 'a.test.js', message }]);
    expect(found).toMatchObject({ cause: 'not-loadable' });
    expect(found.reason).toBe(`a.test.js could not be loaded: ${message.split('\n', 1)[0]}`);
  });
});
