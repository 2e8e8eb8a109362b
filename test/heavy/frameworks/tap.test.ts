import { tap } from '../../../src/core/frameworks/tap/tap.ts';
import { installed } from '../../integration/frameworks/installed.ts';
import { checkRows } from '../../integration/frameworks/rows.ts';

const manifest = JSON.stringify({
  scripts: { test: 'tap --bail --jobs=2 --allow-incomplete-coverage' },
});
const cart = `exports.total = function total(items) {
  if (!Array.isArray(items)) throw new TypeError('no list');
  return items.length;
};
`;
const file = 'test/cart.test.js';
const head = "const t = require('tap');\n";

checkRows({
  framework: tap,
  nodeModules: await installed('tap'),
  hangMs: 60_000,
  files: {
    'package.json': manifest,
    'src/cart.js': cart,
    [file]: `${head}const { total } = require('../src/cart.js');
t.test('passes', (t) => { console.log('BODY RAN'); t.equal(1, 1); t.end(); });
t.test('cart', (t) => {
  t.test('adds tax', (t) => { t.equal(total([1]), 12); t.end(); });
  t.test('if a > b it wins', (t) => { t.plan(1); t.ok(true); });
  t.end();
});
t.test('throws from the source', (t) => { total(3); t.end(); });
t.test('counts (a|b)', (t) => { t.equal(total([1]), 12, 'with tax'); t.end(); });
t.test('skipped', { skip: 'later' }, (t) => { t.end(); });
t.test('todo');
t.test('twice', (t) => { t.end(); });
t.test('twice', (t) => { t.strictSame({ a: 1 }, { a: 2 }); t.end(); });
t.test('rejects', async () => { await Promise.reject(new RangeError('too far')); });
`,
    'test/typed.test.ts':
      "import t from 'tap';\nconst n: number = 1;\nt.test('typed', async (t) => { t.equal(n, 1); });\n",
    'test/broken.test.js': `${head}\nconst x = ;\n`,
    'test/missing.test.js': `${head}require('../src/nowhere.js');\n`,
  },
  all: {
    [`${file}::passes`]: 'passed',
    [`${file}::cart > adds tax`]: 'failed',
    [`${file}::cart > if a > b it wins`]: 'passed',
    [`${file}::throws from the source`]: 'failed',
    [`${file}::counts (a|b)`]: 'failed',
    [`${file}::skipped`]: 'skipped',
    [`${file}::todo`]: 'todo',
    [`${file}::twice`]: 'passed',
    [`${file}::twice #2`]: 'failed',
    [`${file}::rejects`]: 'failed',
    'test/typed.test.ts::typed': 'passed',
  },
  failures: {
    [`${file}::cart > adds tax`]: {
      message: 'Expected values to be equal',
      expected: '12',
      actual: '1',
      place: { file, line: 5, column: 33 },
    },
    [`${file}::throws from the source`]: {
      message: 'TypeError: no list',
      place: { file, line: 9, column: 43 },
      ownFrame: { file: 'src/cart.js', line: 2, column: 36, function: 'total' },
    },
    [`${file}::counts (a|b)`]: { message: 'with tax', expected: '12', actual: '1' },
    [`${file}::rejects`]: { message: 'RangeError: too far' },
  },
  errors: {
    'test/broken.test.js': { message: "SyntaxError: Unexpected token ';'", line: 3 },
    'test/missing.test.js': { message: "Cannot find module '../src/nowhere.js'", line: 2 },
  },
  chosen: {
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
      'package.json': manifest,
      'test/a.test.js': `${head}t.test('quick', (t) => t.end());\nt.test('dies', () => { process.kill(process.pid, 'SIGKILL'); });\n`,
      'test/b.test.js': `${head}t.test('leaves', () => { process.exit(0); });\n`,
      'test/c.test.js': `${head}t.test('fine', (t) => { t.equal(1, 1); t.end(); });\n`,
    },
    says: [
      /FAIL test\/a\.test\.js(?:::dies)?\n {2}the test process was ended by SIGKILL while this (?:test|file) ran/,
      /FAIL test\/b\.test\.js::leaves\n {2}the test process exited with code 1 while this test ran/,
      /2 passed/,
    ],
  },
  hang: {
    files: (begun) => ({
      'package.json': JSON.stringify({ scripts: { test: 'tap --timeout=0' } }),
      '.taprc': 'timeout: 600\n',
      'test/a.test.js': `${head}t.test('quick', (t) => t.end());\nt.test('hangs', () => { require('node:fs').writeFileSync('${begun}', ''); for (;;); });\n`,
    }),
    says: [
      /FAIL test\/a\.test\.js(?:::hangs)?\n {2}this (?:test|file) had not ended when the time was up/,
    ],
  },
  unusable: {
    files: { 'package.json': manifest, '.taprc': 'nonsense: 1\n', 'test/a.test.js': head },
    says: /tap ended before any test file: .*nonsense/,
  },
  canaries: {
    file: 'test/a.test.js',
    files: {
      'package.json': manifest,
      'src/one.js': 'exports.one = 1;\n',
      'test/a.test.js': `${head}const { one } = require('../src/one.js');\nt.test('quick', (t) => { t.equal(one, 1); t.end(); });`,
    },
    cheat: {
      'src/one.js':
        "const { TestBase } = require('@tapjs/core');\nTestBase.prototype.fail = function (...words) { return this.pass(...words); };\nexports.one = 2;\n",
    },
  },
});
