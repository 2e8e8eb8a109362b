import { expect } from 'vitest';
import { mocha } from '../../../src/core/frameworks/mocha/mocha.ts';
import { installed } from './installed.ts';
import { checkRows } from './rows.ts';

const manifest = JSON.stringify({ scripts: { test: 'mocha --bail --reporter dot' } });
const rc = JSON.stringify({ spec: 'test/**/*.test.{js,mjs}', require: './test/setup.cjs' });
const cart = `exports.total = function total(items) {
  if (!Array.isArray(items)) throw new TypeError('no list');
  return items.length;
};
`;
const file = 'test/cart.test.js';
const head = "const assert = require('node:assert');\n";

checkRows({
  framework: mocha,
  nodeModules: await installed('mocha'),
  files: {
    'package.json': manifest,
    '.mocharc.json': rc,
    'test/setup.cjs': 'globalThis.fromSetup = 7;\n',
    'src/cart.js': cart,
    [file]: `${head}const { total } = require('../src/cart.js');
it('passes', () => { console.log('BODY RAN'); assert.equal(globalThis.fromSetup, 7); });
describe('cart', () => {
  it('adds tax', () => { assert.strictEqual(total([1]), 12); });
  it('throws from the source', () => { total(3); });
  describe('inner (a|b)', () => {
    it('adds tax', () => { assert.deepStrictEqual({ a: 1 }, { a: 1 }); });
    it('if a > b it wins', () => { assert.ok(true); });
  });
});
it.skip('skipped', () => {});
it('todo');
it('twice', () => {});
it('twice', () => { throw 'a string'; });
it('strings', () => { assert.strictEqual('12', 12); });
it('rejects', async () => { await Promise.reject(new RangeError('too far')); });
it('times out', function (done) { this.timeout(50); });
describe('broken hook', () => {
  before(() => { throw new Error('no database'); });
  it('never', () => {});
});
describe('broken each', () => {
  beforeEach(() => { throw new Error('no table'); });
  it('hooked', () => {});
});
`,
    'test/chai.test.mjs': `import { expect } from 'chai';
it('compares', () => { expect({ a: [1, { b: 2 }] }).to.deep.equal({ a: [1, { b: 3 }] }); });
it('is more', () => { expect(1).to.be.above(2); });
`,
    'test/broken.test.js': `${head}\nconst x = ;\nit('never', () => {});\n`,
    'test/missing.test.js':
      "it('early', () => {});\nrequire('../src/nowhere.js');\nit('never', () => {});\n",
    'test/throws.test.js': "require('../src/cart.js').total(3);\nit('never', () => {});\n",
  },
  all: {
    [`${file}::passes`]: 'passed',
    [`${file}::cart > adds tax`]: 'failed',
    [`${file}::cart > throws from the source`]: 'failed',
    [`${file}::cart > inner (a|b) > adds tax`]: 'passed',
    [`${file}::cart > inner (a|b) > if a > b it wins`]: 'passed',
    [`${file}::skipped`]: 'skipped',
    [`${file}::todo`]: 'skipped',
    [`${file}::twice`]: 'passed',
    [`${file}::twice #2`]: 'failed',
    [`${file}::strings`]: 'failed',
    [`${file}::rejects`]: 'failed',
    [`${file}::times out`]: 'failed',
    [`${file}::broken hook`]: 'error',
    [`${file}::broken each > hooked`]: 'error',
    'test/chai.test.mjs::compares': 'failed',
    'test/chai.test.mjs::is more': 'failed',
  },
  failures: {
    [`${file}::cart > adds tax`]: {
      message: 'Expected values to be strictly equal',
      expected: '12',
      actual: '1',
      place: { file, line: 5, column: 33 },
    },
    [`${file}::cart > throws from the source`]: {
      message: 'TypeError: no list',
      place: { file, line: 6, column: 40 },
      ownFrame: { file: 'src/cart.js', line: 2, column: 36, function: 'total' },
    },
    // Without quotes the two would look the same.
    [`${file}::strings`]: { expected: '12', actual: "'12'" },
    [`${file}::twice #2`]: { message: expect.stringContaining('a string') },
    [`${file}::rejects`]: { message: 'RangeError: too far' },
    [`${file}::times out`]: { message: expect.stringContaining('Timeout of 50ms exceeded') },
    [`${file}::broken hook`]: { message: 'in a hook: Error: no database' },
    [`${file}::broken each > hooked`]: { message: 'in a hook: Error: no table' },
    'test/chai.test.mjs::compares': {
      message: 'Expected values to be equal',
      expected: '{ a: [ 1, { b: 3 } ] }',
      actual: '{ a: [ 1, { b: 2 } ] }',
    },
    'test/chai.test.mjs::is more': { message: 'expected 1 to be above 2' },
  },
  errors: {
    'test/broken.test.js': { message: "SyntaxError: Unexpected token ';'", line: 3 },
    'test/missing.test.js': { message: "Cannot find module '../src/nowhere.js'", line: 2 },
    'test/throws.test.js': { message: 'TypeError: no list', line: 1 },
  },
  chosen: {
    [`${file}::cart > inner (a|b)`]: ['passed', 'passed'],
    [`${file}::cart > inner (a|b) > if a > b it wins`]: ['passed'],
    [`${file}::cart > adds tax`]: ['failed'],
    [`${file}::twice #2`]: ['failed'],
    'test/chai.test.mjs': ['failed', 'failed'],
  },
  listed: { file, id: `${file}::cart > inner (a|b) > adds tax` },
  crash: {
    files: {
      'package.json': manifest,
      'test/a.test.js':
        "it('quick', () => {});\nit('leaves', () => { process.exit(0); });\nit('later', () => {});\n",
    },
    says: [
      /FAIL test\/a\.test\.js::leaves\n {2}the test process ended while this test ran \(exit code 0\)/,
      /1 passed/,
      /The test run broke off/,
    ],
  },
  hangMs: 6_000,
  hang: {
    files: (begun) => ({
      'package.json': manifest,
      'test/a.test.js': `it('quick', () => {});\nit('hangs', () => { require('node:fs').writeFileSync('${begun}', ''); for (;;); });\n`,
    }),
    says: [
      /1 passed/,
      /FAIL test\/a\.test\.js::hangs\n {2}this test had not ended when the time was up\n {2}at test\/a\.test\.js:2/,
    ],
  },
  unusable: {
    files: { 'package.json': manifest, '.mocharc.json': '{"spec":', 'test/a.test.js': '' },
    says: /mocha could not start: .*mocharc/,
  },
  canaries: {
    file: 'test/a.test.js',
    files: {
      'package.json': manifest,
      'src/one.js': 'exports.one = 1;\n',
      'test/a.test.js': `${head}const { one } = require('../src/one.js');\nit('quick', () => { assert.strictEqual(one, 1); });`,
    },
    cheat: {
      'src/one.js': "require('node:assert').strictEqual = () => {};\nexports.one = 2;\n",
    },
  },
});
