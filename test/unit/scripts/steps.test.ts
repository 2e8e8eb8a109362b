import { describe, expect, test } from 'vitest';

const module = new URL('../../../scripts/lib/steps.mjs', import.meta.url).href;
const { sameAsLocked } = await import(/* @vite-ignore */ module);

describe('what is installed is what is locked', () => {
  const locked = {
    '': { name: 'prime-agent' },
    'node_modules/zod': { version: '4.6.7' },
    'node_modules/@esbuild/darwin-arm64': { version: '0.28.2', optional: true },
  };

  test('when every package is there in its version', () => {
    expect(sameAsLocked(locked, { 'node_modules/zod': { version: '4.6.7' } })).toBe(true);
  });

  test('not when a package is missing', () => {
    expect(sameAsLocked(locked, {})).toBe(false);
  });

  test('not when a package has another version, optional ones included', () => {
    expect(sameAsLocked(locked, { 'node_modules/zod': { version: '4.6.6' } })).toBe(false);
    const other = {
      'node_modules/zod': { version: '4.6.7' },
      'node_modules/@esbuild/darwin-arm64': { version: '0.28.1' },
    };
    expect(sameAsLocked(locked, other)).toBe(false);
  });
});
