import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SandboxFailure, SandboxFileError } from '../../../../src/core/sandbox/sandbox.ts';
import {
  fileErrorText,
  isInside,
  nearNames,
  normalizePath,
  showPath,
} from '../../../../src/core/tools/paths.ts';

describe('normalizePath', () => {
  it.each([
    ['/workspace', '/workspace'],
    ['/workspace/', '/workspace'],
    ['//workspace//a/./b/../c/', '/workspace/a/c'],
    ['/workspace/a b\tc', '/workspace/a b\tc'],
    ['/workspace/..a', '/workspace/..a'],
  ])('takes %j', (given, path) => {
    expect(normalizePath(given)).toEqual({ kind: 'ok', path });
  });

  it.each([
    ['', 'The path is empty. Give an absolute path like /workspace/…'],
    ['src/a.js', 'The path src/a.js is not absolute. Maybe you meant /workspace/src/a.js?'],
    ['./a', 'The path ./a is not absolute. Maybe you meant /workspace/a?'],
    ['../a', 'The path ../a is not absolute.'],
    ['~/a', 'The path ~/a is not absolute. Maybe you meant /workspace/~/a?'],
    ['/etc/passwd', '/etc/passwd is outside /workspace. Only paths inside it can be used here.'],
    [
      '/workspace-evil/a',
      '/workspace-evil/a is outside /workspace. Only paths inside it can be used here.',
    ],
    ['/workspace/../etc', '/etc is outside /workspace. Only paths inside it can be used here.'],
    ['/workspace/a\0b', 'The path has a NUL character in it.'],
  ])('refuses %j', (given, text) => {
    expect(normalizePath(given)).toEqual({ kind: 'refused', text });
  });

  it('never lets a path out of the workspace', () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'workspace', 'workspace-evil', '...');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const checked = normalizePath(`/workspace/${parts.join('/')}`);
        if (checked.kind === 'refused') return;
        expect(isInside(checked.path)).toBe(true);
        expect(checked.path.split('/')).not.toContain('..');
      }),
    );
  });
});

it('shows names with line breaks and control characters as quoted strings', () => {
  expect(showPath('/workspace/ü b')).toBe('/workspace/ü b');
  expect(showPath('/workspace/a\nb')).toBe('"/workspace/a\\nb"');
  expect(showPath('/workspace/\u001b[31m')).toBe('"/workspace/\\u001b[31m"');
});

it('finds near names', () => {
  const names = ['cart.js', 'cart.test.js', 'card.js', 'index.js', 'Cart.ts'];
  expect(nearNames('index.ts', names)).toEqual(['index.js']);
  expect(nearNames('crat.js', names)).toEqual(['cart.js']);
  expect(nearNames('user.py', names)).toEqual([]);
  expect(nearNames('carts.js', names)).toEqual(['cart.js', 'Cart.ts', 'card.js']);
});

describe('fileErrorText', () => {
  it('says what a model can do something about', () => {
    const error = new SandboxFileError('permission', 'EACCES');
    expect(fileErrorText(error, '/workspace/a')).toBe(
      'Permission denied: /workspace/a (see ls -l; it or its folder may be read-only).',
    );
  });

  it('passes on what it cannot: a full disk and unknown errors', () => {
    expect(() => fileErrorText(new SandboxFileError('no-space', 'ENOSPC'), '/workspace/a')).toThrow(
      SandboxFailure,
    );
    expect(() => fileErrorText(new TypeError('x'), '/workspace/a')).toThrow(TypeError);
  });
});
