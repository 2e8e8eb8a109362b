import { tape } from '../../../src/core/frameworks/tape/tape.ts';
import { installed } from './installed.ts';
import { checkRows } from './rows.ts';

const manifest = JSON.stringify({
  scripts: { test: "nyc tape -r ./setup.cjs 'test/**/*.test.*js' | tap-spec" },
});
const plain = JSON.stringify({ scripts: { test: 'tape test/*.js' } });
const cart = `exports.total = function total(items) {
  if (!Array.isArray(items)) throw new TypeError('no list');
  return items.length;
};
`;
const file = 'test/cart.test.js';
const head = "const test = require('tape');\n";

checkRows({
  framework: tape,
  nodeModules: await installed('tape'),
  files: {
    'package.json': manifest,
    'setup.cjs': 'globalThis.fromSetup = 7;\n',
    'src/cart.js': cart,
    [file]: `${head}const { total } = require('../src/cart.js');
test('passes', (t) => { console.log('BODY RAN'); t.equal(globalThis.fromSetup, 7); t.end(); });
test('cart', (t) => {
  t.test('adds tax', (st) => { st.equal(total([1]), 12); st.end(); });
  t.test('if a > b it wins', (st) => { st.plan(1); st.ok(true); });
});
test('counts (a|b)', (t) => { t.equal(total([1]), 12, 'with tax'); t.end(); });
test('skipped', { skip: true }, (t) => { t.end(); });
test('todo', { todo: true }, (t) => { t.fail('not yet'); t.end(); });
test('twice', (t) => { t.end(); });
test('twice', (t) => { t.deepEqual({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }); t.end(); });
test('strings', (t) => { t.equal('12', 12); t.end(); });
test('errors', (t) => { t.error(new RangeError('too far')); t.end(); });
test('rejects', async () => { await Promise.reject(new RangeError('too far')); });
test('plans', (t) => { t.plan(2); t.pass(); setTimeout(() => {}, 10); });
`,
    'test/source.test.mjs': `import test from 'tape';
import { total } from '../src/cart.js';
test('throws from the source', (t) => { total(3); t.end(); });
test('never', (t) => { t.end(); });
`,
    'test/broken.test.js': `${head}\nconst x = ;\n`,
    'test/missing.test.js': `${head}require('../src/nowhere.js');\n`,
    'test/throws.test.js': `${head}require('../src/cart.js').total(3);\n`,
  },
  all: {
    [`${file}::passes`]: 'passed',
    [`${file}::cart`]: 'passed',
    [`${file}::cart > adds tax`]: 'failed',
    [`${file}::cart > if a > b it wins`]: 'passed',
    [`${file}::counts (a|b)`]: 'failed',
    [`${file}::skipped`]: 'skipped',
    [`${file}::todo`]: 'todo',
    [`${file}::twice`]: 'passed',
    [`${file}::twice #2`]: 'failed',
    [`${file}::strings`]: 'failed',
    [`${file}::errors`]: 'failed',
    [`${file}::rejects`]: 'failed',
    [`${file}::plans`]: 'failed',
    'test/source.test.mjs::throws from the source': 'failed',
  },
  failures: {
    [`${file}::cart > adds tax`]: {
      message: 'Expected values to be equal',
      expected: '12',
      actual: '1',
      place: { file, line: 5, column: 35 },
    },
    [`${file}::counts (a|b)`]: { message: 'with tax', expected: '12', actual: '1' },
    [`${file}::twice #2`]: { expected: '{ a: [ 1, { b: 3 } ] }', actual: '{ a: [ 1, { b: 2 } ] }' },
    // Without quotes the two would look the same.
    [`${file}::strings`]: { expected: '12', actual: "'12'" },
    [`${file}::errors`]: { message: 'RangeError: too far' },
    [`${file}::plans`]: { message: 'plan != count: 2 assertions were planned, 1 were made' },
    'test/source.test.mjs::throws from the source': {
      message: 'TypeError: no list',
      place: { file: 'test/source.test.mjs', line: 3, column: 41 },
      ownFrame: { file: 'src/cart.js', line: 2, column: 36, function: 'total' },
    },
  },
  errors: {
    'test/broken.test.js': { message: "SyntaxError: Unexpected token ';'", line: 3 },
    'test/missing.test.js': { message: "Cannot find module '../src/nowhere.js'", line: 2 },
    'test/throws.test.js': { message: 'TypeError: no list', line: 2 },
  },
  chosen: {
    [`${file}::cart`]: ['failed', 'passed', 'passed'],
    [`${file}::cart > if a > b it wins`]: ['passed'],
    [`${file}::twice #2`]: ['failed'],
  },
  listed: {
    file,
    id: `${file}::twice #2`,
    unknown: [`${file}::cart > adds tax`, `${file}::cart > if a > b it wins`],
  },
  crash: {
    files: {
      'package.json': plain,
      'test/a.js': `${head}test('quick', (t) => t.end());\ntest('dies', () => { process.kill(process.pid, 'SIGKILL'); });\n`,
      'test/b.js': `${head}test('leaves', () => { process.exit(0); });\n`,
      'test/c.js': `${head}test('fine', (t) => { t.equal(1, 1); t.end(); });\n`,
    },
    says: [
      /FAIL test\/a\.js::dies\n {2}the test process was ended by SIGKILL while this test ran/,
      /FAIL test\/b\.js::leaves\n {2}the process ended before this test did/,
      /2 passed/,
    ],
  },
  hangMs: 6_000,
  hang: {
    files: (begun) => ({
      'package.json': plain,
      'test/a.js': `${head}test('quick', (t) => t.end());\ntest('hangs', () => { require('node:fs').writeFileSync('${begun}', ''); for (;;); });\n`,
    }),
    says: [/1 passed/, /FAIL test\/a\.js::hangs\n {2}this test had not ended when the time was up/],
  },
  canaries: {
    file: 'test/a.js',
    files: {
      'package.json': plain,
      'src/one.js': 'exports.one = 1;\n',
      'test/a.js': `${head}const { one } = require('../src/one.js');\ntest('quick', (t) => { t.equal(one, 1); t.end(); });`,
    },
    cheat: {
      'src/one.js':
        "require('tape').Test.prototype.equal = function () { this.pass(); };\nexports.one = 2;\n",
    },
  },
});
