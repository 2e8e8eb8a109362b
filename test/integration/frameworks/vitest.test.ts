import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { vitest } from '../../../src/core/frameworks/vitest/vitest.ts';
import { checkRows } from './rows.ts';

const nodeModules = await realpath(
  fileURLToPath(new URL('../../../node_modules', import.meta.url)),
);
const manifest = JSON.stringify({ type: 'module', scripts: { test: 'vitest --coverage' } });

const files = {
  'package.json': manifest,
  'vitest.config.ts':
    "import { defineConfig } from 'vitest/config';\nexport default defineConfig({ test: { bail: 1, setupFiles: ['./setup.ts'] } });\n",
  'setup.ts': '(globalThis as { fromSetup?: number }).fromSetup = 7;\n',
  'src/cart.ts':
    'export interface Item {\n  price: number;\n}\n\nexport function total(items: Item[] | number): number {\n  if (!Array.isArray(items)) throw new TypeError("no list");\n  return items.length;\n}\n',
  'test/cart.test.ts': `import { beforeAll, describe, expect, it, test } from 'vitest';
import { total } from '../src/cart';
test('passes', () => { console.log('BODY RAN'); expect((globalThis as { fromSetup?: number }).fromSetup).toBe(7); });
describe('cart', () => {
  it('adds tax', () => { expect(total([{ price: 1 }])).toBe(12); });
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
test('a string is thrown', () => { throw 'a string'; });
test('rejects', async () => { await Promise.reject(new RangeError('too far')); });
test('times out', async () => { await new Promise((done) => setTimeout(done, 2_000)); }, 50);
describe('broken hook', () => {
  beforeAll(() => { throw new Error('no database'); });
  test('never', () => {});
});
`,
  'test/broken.test.ts':
    "import { test } from 'vitest';\n\nconst x = ;\ntest('never', () => {});\n",
  'test/missing.test.ts':
    "import { test } from 'vitest';\nimport '../src/nowhere';\ntest('never', () => {});\n",
  'test/throws.test.ts':
    "import { test } from 'vitest';\nimport { total } from '../src/cart';\ntotal(3);\ntest('never', () => {});\n",
};

const head = "import { expect, test } from 'vitest';\n";
const file = 'test/cart.test.ts';

checkRows({
  framework: vitest,
  nodeModules,
  files,
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
    [`${file}::a string is thrown`]: 'failed',
    [`${file}::rejects`]: 'failed',
    [`${file}::times out`]: 'failed',
    [`${file}::broken hook > never`]: 'skipped',
    [`${file}::broken hook`]: 'error',
  },
  failures: {
    [`${file}::cart > adds tax`]: {
      message: 'Expected values to be equal',
      expected: '12',
      actual: '1',
      place: { file, line: 5, column: 56 },
    },
    [`${file}::cart > throws from the source`]: {
      message: 'TypeError: no list',
      place: { file, line: 6, column: 40 },
      ownFrame: { file: 'src/cart.ts', line: 6, column: 36, function: 'total' },
    },
    // Without quotes the two would look the same.
    [`${file}::strings`]: { expected: '12', actual: '"12"' },
    [`${file}::negated`]: { message: 'expected 1 not to be 1 // Object.is equality' },
    [`${file}::a string is thrown`]: { message: 'a string' },
    [`${file}::rejects`]: { message: 'RangeError: too far' },
    [`${file}::broken hook`]: { message: 'in a hook: Error: no database' },
  },
  errors: {
    'test/broken.test.ts': { message: 'SyntaxError: ', line: 3 },
    'test/missing.test.ts': { message: "Cannot find module '../src/nowhere'", line: 2 },
    'test/throws.test.ts': { message: 'TypeError: no list', line: 3 },
  },
  chosen: {
    [`${file}::cart > inner (a|b)`]: ['passed', 'passed'],
    [`${file}::cart > inner (a|b) > if a > b it wins`]: ['passed'],
    [`${file}::twice #2`]: ['failed'],
  },
  listed: { file, id: `${file}::cart > inner (a|b) > adds tax` },
  crash: {
    files: {
      'package.json': manifest,
      'test/a.test.ts': `${head}test('quick', () => {});\ntest('dies', () => { return new Promise(() => setTimeout(() => process.kill(process.pid, 'SIGKILL'), 500)); });\n`,
      'test/b.test.ts': `${head}test('leaves', () => { process.exit(0); });\n`,
      'test/c.test.ts': `${head}test('fine', () => { expect(1).toBe(1); });\n`,
    },
    says: [
      /FAIL test\/a\.test\.ts::dies\n {2}the test process ended while this test ran: Error: Worker exited unexpectedly/,
      /FAIL test\/b\.test\.ts::leaves\n {2}Error: process\.exit unexpectedly called/,
      /2 passed/,
    ],
  },
  hang: {
    files: (begun) => ({
      'package.json': manifest,
      'test/a.test.ts': `import { writeFileSync } from 'node:fs';\n${head}test('quick', () => {});\ntest('hangs', async () => { await new Promise((go) => setTimeout(go, 3_000)); writeFileSync('${begun}', ''); for (;;); });\n`,
    }),
    says: [
      /1 passed/,
      /FAIL test\/a\.test\.ts::hangs\n {2}this test had not ended when the time was up/,
    ],
  },
  unusable: {
    files: {
      'package.json': manifest,
      'vitest.config.ts': 'export default {\n',
      'test/a.test.ts': `${head}test('quick', () => {});\n`,
    },
    says: /vitest could not start: /,
  },
  canaries: {
    file: 'test/a.test.ts',
    files: {
      'package.json': manifest,
      'src/one.ts': 'export const one: number = 1;\n',
      'test/a.test.ts': `${head}import { one } from '../src/one';\ntest('quick', () => { expect(one).toBe(1); });`,
    },
    cheat: {
      'src/one.ts':
        "import { chai } from 'vitest';\n(chai.Assertion.prototype as { assert: unknown }).assert = () => {};\nexport const one: number = 2;\n",
    },
  },
});
