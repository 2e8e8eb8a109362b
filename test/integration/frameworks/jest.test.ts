import { expect } from 'vitest';
import { jest } from '../../../src/core/frameworks/jest/jest.ts';
import { installed } from './installed.ts';
import { checkRows } from './rows.ts';

const manifest = JSON.stringify({
  scripts: { test: 'jest --runInBand --coverage --bail' },
  jest: { setupFiles: ['./setup.js'], transform: {} },
});
const setup = 'globalThis.fromSetup = 7;\n';
const cart = `exports.total = function total(items) {
  if (!Array.isArray(items)) throw new TypeError('no list');
  return items.length;
};
`;
const file = 'test/cart.test.js';

checkRows({
  framework: jest,
  nodeModules: await installed('jest'),
  files: {
    'package.json': manifest,
    'setup.js': setup,
    'src/cart.js': cart,
    [file]: `const assert = require('node:assert');
const { total } = require('../src/cart.js');
test('passes', () => { console.log('BODY RAN'); expect(globalThis.fromSetup).toBe(7); });
describe('cart', () => {
  it('adds tax', () => { expect(total([1])).toBe(12); });
  it('throws from the source', () => { total(3); });
  describe('inner (a|b)', () => {
    it('adds tax', () => { expect({ a: 1 }).toEqual({ a: 1 }); });
    it('if a > b it wins', () => { expect(true).toBe(true); });
  });
});
test.skip('skipped', () => {});
test.todo('todo');
test.each([1, 2])('twice', (n) => { expect(n).toBe(1); });
test('deep', () => { expect({ a: [1, { b: 2 }] }).toEqual({ a: [1, { b: 3 }] }); });
test('strings', () => { expect('12').toBe(12); });
test('negated', () => { expect(1).not.toBe(1); });
test('is more', () => { expect(1).toBeGreaterThan(2); });
test('asserts', () => { assert.strictEqual(total([1]), 12); });
test('a string is thrown', () => { throw 'a string'; });
test('rejects', async () => { await Promise.reject(new RangeError('too far')); });
test('times out', async () => { await new Promise((done) => setTimeout(done, 2_000)); }, 50);
describe('broken hook', () => {
  beforeAll(() => { throw new Error('no database'); });
  test('never', () => {});
});
`,
    'test/broken.test.js': "\n\nconst x = ;\ntest('never', () => {});\n",
    'test/missing.test.js': "test('early', () => {});\nrequire('../src/nowhere.js');\n",
    'test/throws.test.js': "require('../src/cart.js').total(3);\ntest('never', () => {});\n",
  },
  all: {
    [`${file}::passes`]: 'passed',
    [`${file}::cart > adds tax`]: 'failed',
    [`${file}::cart > throws from the source`]: 'failed',
    [`${file}::cart > inner (a|b) > adds tax`]: 'passed',
    [`${file}::cart > inner (a|b) > if a > b it wins`]: 'passed',
    [`${file}::skipped`]: 'skipped',
    [`${file}::todo`]: 'todo',
    [`${file}::twice`]: 'passed',
    [`${file}::twice #2`]: 'failed',
    [`${file}::deep`]: 'failed',
    [`${file}::strings`]: 'failed',
    [`${file}::negated`]: 'failed',
    [`${file}::is more`]: 'failed',
    [`${file}::asserts`]: 'failed',
    [`${file}::a string is thrown`]: 'failed',
    [`${file}::rejects`]: 'failed',
    [`${file}::times out`]: 'failed',
    [`${file}::broken hook > never`]: 'failed',
  },
  failures: {
    [`${file}::cart > adds tax`]: {
      message: 'Expected values to be equal',
      expected: '12',
      actual: '1',
      place: { file, line: 5, column: 45 },
    },
    [`${file}::cart > throws from the source`]: {
      message: 'TypeError: no list',
      place: { file, line: 6, column: 40 },
      ownFrame: { file: 'src/cart.js', line: 2, column: 36, function: 'total' },
    },
    [`${file}::deep`]: { expected: '{ a: [ 1, { b: 3 } ] }', actual: '{ a: [ 1, { b: 2 } ] }' },
    // Without quotes the two would look the same.
    [`${file}::strings`]: { expected: '12', actual: "'12'" },
    [`${file}::negated`]: {
      message: expect.stringContaining('expect(received).not.toBe(expected)'),
    },
    [`${file}::is more`]: { message: expect.stringContaining('toBeGreaterThan') },
    [`${file}::asserts`]: {
      message: 'Expected values to be equal',
      expected: '12',
      actual: '1',
    },
    [`${file}::a string is thrown`]: { message: expect.stringContaining('a string') },
    [`${file}::rejects`]: { message: 'RangeError: too far' },
    [`${file}::times out`]: { message: expect.stringContaining('Exceeded timeout of 50 ms') },
    [`${file}::broken hook > never`]: { message: 'Error: no database' },
  },
  errors: {
    'test/broken.test.js': { message: "SyntaxError: Unexpected token ';'", line: 3 },
    'test/missing.test.js': { message: "Cannot find module '../src/nowhere.js'", line: 2 },
    'test/throws.test.js': { message: 'TypeError: no list', line: 1 },
  },
  chosen: {
    [`${file}::cart > inner (a|b)`]: ['passed', 'passed'],
    [`${file}::cart > inner (a|b) > if a > b it wins`]: ['passed'],
    [`${file}::twice #2`]: ['failed'],
  },
  listed: { file, id: `${file}::cart > inner (a|b) > adds tax` },
  crash: {
    files: {
      'package.json': '{"scripts":{"test":"jest"}}',
      'test/a.test.js':
        "test('quick', () => {});\ntest('dies', () => { return new Promise(() => setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300)); });\n",
      'test/b.test.js': "test('leaves', () => { process.exit(0); });\n",
      'test/c.test.js': "test('fine', () => { expect(1).toBe(1); });\n",
    },
    says: [
      /FAIL test\/a\.test\.js::dies\n {2}the test process ended while this test ran/,
      /FAIL test\/b\.test\.js::leaves\n {2}the test process ended while this test ran/,
      /2 passed/,
    ],
  },
  hang: {
    files: (begun) => ({
      'package.json': '{"scripts":{"test":"jest"}}',
      'test/a.test.js': `test('quick', () => {});\ntest('hangs', () => { require('node:fs').writeFileSync('${begun}', ''); for (;;); });\n`,
    }),
    says: [
      /1 passed/,
      /FAIL test\/a\.test\.js::hangs\n {2}this test had not ended when the time was up/,
    ],
  },
  unusable: {
    files: {
      'package.json': '{"scripts":{"test":"jest"}}',
      'jest.config.js': 'module.exports = {\n',
      'test/a.test.js': "test('quick', () => {});\n",
    },
    says: /SyntaxError|jest\.config/,
  },
  canaries: {
    file: 'test/a.test.js',
    files: {
      'package.json': '{"scripts":{"test":"jest"}}',
      'src/one.js': 'exports.one = 1;\n',
      'test/a.test.js':
        "const { one } = require('../src/one.js');\ntest('quick', () => { expect(one).toBe(1); });",
    },
    cheat: {
      'src/one.js':
        "globalThis.expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\nexports.one = 2;\n",
    },
  },
});
