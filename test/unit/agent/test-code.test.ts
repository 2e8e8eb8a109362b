import { expect, it } from 'vitest';
import { findTestCode } from '../../../src/core/agent/test-code.ts';

const files: Readonly<Record<string, string>> = {
  'test/cart.test.js': [
    "import { total } from '../src/cart.js';",
    "import { tax } from '../src/tax';",
    "import { gone } from '../src/gone.js';",
    "import assert from 'node:assert/strict';",
    '',
    "describe('cart', () => {",
    "  it('adds', () => {",
    '    const cart = [1, 2];',
    '',
    '    assert.equal(total(cart), 3);',
    '  });',
    '',
    "  it('is short', () => assert.equal(total([]), 0));",
    "  it('comes next', () => {});",
    '});',
  ].join('\n'),
  'src/cart.js': '',
  'src/tax.ts': '',
  'tests/test_a.py': [
    'import pytest',
    '',
    'def test_a():',
    '    assert f() == 1',
    '',
    '',
    'X = 1',
  ].join('\n'),
};
const reader = { readText: async (path: string) => files[path] };
const at = (file: string, line?: number) => findTestCode(reader, { file, line });

it('takes the statement of a test, with the line that closes it, and what the file imports', async () => {
  expect(await at('test/cart.test.js', 7)).toEqual({
    file: 'test/cart.test.js',
    firstLine: 7,
    lines: [
      "  it('adds', () => {",
      '    const cart = [1, 2];',
      '',
      '    assert.equal(total(cart), 3);',
      '  });',
    ],
    imports: ['src/cart.js', 'src/tax.ts'],
  });
});

it('takes one line where the test has one line', async () => {
  expect((await at('test/cart.test.js', 13))?.lines).toEqual([
    "  it('is short', () => assert.equal(total([]), 0));",
  ]);
});

it('ends with the block in Python', async () => {
  expect((await at('tests/test_a.py', 3))?.lines).toEqual(['def test_a():', '    assert f() == 1']);
});

it('starts where the failure was raised when the place of the test is not known', async () => {
  const failure = { message: '', details: '', place: { file: 'test/cart.test.js', line: 10 } };
  const found = await findTestCode(reader, { file: 'test/cart.test.js', failure });
  expect(found?.lines).toEqual(['    assert.equal(total(cart), 3);', '  });']);
});

it('cuts long tests and long lines', async () => {
  const body = Array.from({ length: 30 }, (_, index) => `  step(${index});`);
  const text = ["test('long', () => {", `  ${'x'.repeat(500)}`, ...body, '});'].join('\n');
  const found = await findTestCode({ readText: async () => text }, { file: 'a.test.js', line: 1 });
  expect(found?.lines).toHaveLength(12);
  expect(found?.lines[1]).toHaveLength(201);
});

it('says nothing about a file that cannot be read or a line that is not there', async () => {
  expect(await at('test/other.test.js', 1)).toBeUndefined();
  expect(await at('test/cart.test.js', 99)).toBeUndefined();
  expect(await at('test/cart.test.js')).toBeUndefined();
});
