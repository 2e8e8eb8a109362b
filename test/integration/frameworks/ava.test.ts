import { expect, test } from 'vitest';
import { ava } from '../../../src/core/frameworks/ava/ava.ts';
import { installed } from './installed.ts';
import { checkRows } from './rows.ts';
import { openProject, ran, resultOf } from './support.ts';

const nodeModules = await installed('ava');
const manifest = JSON.stringify({
  type: 'module',
  scripts: { test: 'c8 ava --fail-fast --tap --timeout=3m' },
});
const cart = `export function total(items) {
  if (!Array.isArray(items)) throw new TypeError('no list');
  return items.length;
}
`;
const file = 'test/cart.test.js';
const head = "import test from 'ava';\n";

checkRows({
  framework: ava,
  nodeModules,
  files: {
    'package.json': manifest,
    'ava.config.js': "export default { files: ['test/**/*.test.js'], failFast: true };\n",
    'src/cart.js': cart,
    [file]: `${head}import { total } from '../src/cart.js';
test('passes', (t) => { console.log('BODY RAN'); t.is(1, 1); });
test('adds tax', (t) => { t.is(total([1]), 12); });
test('throws from the source', () => { total(3); });
test('if a > b :: it wins', (t) => { t.true(true); });
test('deep', (t) => { t.deepEqual({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, 'with tax'); });
test('is true', (t) => { t.true(false); });
test('rejects', async () => { await Promise.reject(new RangeError('too far')); });
test.skip('skipped', () => {});
test.todo('todo');
test.failing('known', (t) => { t.fail(); });
`,
    'test/hook.test.js': `${head}test.before(() => { throw new Error('no database'); });\ntest('never', (t) => { t.pass(); });\n`,
    'test/each.test.js': `${head}test.beforeEach(() => { throw new Error('no table'); });\ntest('hooked', (t) => { t.pass(); });\n`,
    'test/broken.test.js': `${head}\nconst x = ;\n`,
    'test/missing.test.js': `${head}import '../src/nowhere.js';\n`,
    'test/throws.test.js': `${head}import { total } from '../src/cart.js';\ntotal(3);\n`,
  },
  all: {
    [`${file}::passes`]: 'passed',
    [`${file}::adds tax`]: 'failed',
    [`${file}::throws from the source`]: 'failed',
    [`${file}::if a > b :: it wins`]: 'passed',
    [`${file}::deep`]: 'failed',
    [`${file}::is true`]: 'failed',
    [`${file}::rejects`]: 'failed',
    [`${file}::skipped`]: 'skipped',
    [`${file}::todo`]: 'todo',
    [`${file}::known`]: 'xfailed',
    'test/hook.test.js': 'error',
    'test/each.test.js::hooked': 'error',
  },
  failures: {
    [`${file}::adds tax`]: {
      message: 'Expected values to be equal',
      expected: '12',
      actual: '1',
      place: { file, line: 4, column: 29 },
    },
    [`${file}::throws from the source`]: {
      message: 'TypeError: no list',
      place: { file, line: 5, column: 40 },
      ownFrame: { file: 'src/cart.js', line: 2, column: 36, function: 'total' },
    },
    [`${file}::deep`]: { message: 'with tax' },
    [`${file}::is true`]: { message: 't.true() Value is not `true`: false' },
    [`${file}::rejects`]: { message: 'RangeError: too far' },
    'test/hook.test.js': { message: 'in before hook: Error: no database' },
    'test/each.test.js::hooked': { message: 'in beforeEach hook for hooked: Error: no table' },
  },
  errors: {
    // A module's syntax error comes out of ava's worker without its place.
    'test/broken.test.js': { message: "SyntaxError: Unexpected token ';'" },
    'test/missing.test.js': { message: 'Cannot find module' },
    'test/throws.test.js': { message: 'TypeError: no list', line: 3 },
  },
  chosen: {
    [`${file}::if a > b :: it wins`]: ['passed'],
    [`${file}::adds tax`]: ['failed'],
    'test/each.test.js': ['error'],
  },
  listed: { file, id: `${file}::deep` },
  crash: {
    files: {
      'package.json': manifest,
      'test/a.test.js': `${head}test('quick', (t) => { t.pass(); });\ntest('leaves', () => { process.exit(0); });\n`,
      'test/c.test.js': `${head}test('fine', (t) => { t.is(1, 1); });\n`,
    },
    says: [
      /FAIL test\/a\.test\.js::leaves\n {2}the test process was ended by process\.exit while this test /,
      /[12] failed, [12] passed/,
    ],
  },
  hang: {
    files: (begun) => ({
      'package.json': JSON.stringify({ type: 'module', scripts: { test: 'ava --timeout=10m' } }),
      'test/a.test.js': `import { writeFileSync } from 'node:fs';\n${head}test('quick', (t) => { t.pass(); });\ntest('hangs', async () => { writeFileSync('${begun}', ''); await new Promise((go) => setTimeout(go, 600_000)); });\n`,
    }),
    says: [
      /1 passed/,
      /FAIL test\/a\.test\.js::hangs\n {2}this test had not ended when the time was up/,
    ],
  },
  unusable: {
    files: {
      'package.json': manifest,
      'ava.config.js': 'export default {\n',
      'test/a.test.js': head,
    },
    says: /ava\.config|SyntaxError|Unexpected/,
  },
  canaries: {
    file: 'test/a.test.js',
    files: {
      'package.json': manifest,
      'src/one.js': 'export const one = 1;\n',
      'test/a.test.js': `${head}import { one } from '../src/one.js';\ntest('quick', (t) => { t.is(one, 1); });`,
    },
    cheat: { 'src/one.js': 'Object.is = () => true;\nexport const one = 2;\n' },
  },
});

const impatient = JSON.stringify({ type: 'module', scripts: { test: 'ava --timeout=8s' } });

test('ava’s own time limit: the waiting test is named, and the run is not whole', async () => {
  const project = await openProject(
    ava,
    {
      'package.json': impatient,
      'test/a.test.js': `${head}test('waits', () => new Promise((go) => setTimeout(go, 600_000)));\n`,
    },
    { nodeModules },
  );
  try {
    const run = ran(await project.run());
    expect(run.complete).toBe(false);
    expect(resultOf(run, 'test/a.test.js::waits')).toMatchObject({
      status: 'error',
      failure: {
        message:
          "the test process made no progress for 8 s, longer than ava's option timeout allows, while this test ran",
      },
    });
  } finally {
    await project.close();
  }
});

test('ava’s own time limit before any test: the run says why it has none', async () => {
  const project = await openProject(
    ava,
    {
      'package.json': impatient,
      'test/a.test.js': `${head}await new Promise((go) => setTimeout(go, 600_000));\ntest('never', () => {});\n`,
    },
    { nodeModules },
  );
  try {
    const run = await project.run();
    expect(JSON.stringify(run)).toContain("longer than ava's option timeout allows");
    expect(JSON.stringify(run)).not.toContain('"passed"');
    expect(run).not.toMatchObject({ complete: true });
  } finally {
    await project.close();
  }
});
