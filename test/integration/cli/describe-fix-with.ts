import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installed } from '../frameworks/installed.ts';
import { expectFix, type Project, worldWith } from './framework-fix.ts';
import { buildCli, type Files } from './world.ts';

const own = (): Promise<string> =>
  realpath(fileURLToPath(new URL('../../../node_modules', import.meta.url)));

/** `price` forgets the tax; `half` is fine, until somebody "mends" it too. */
const COMMONJS = {
  'src/price.js': 'exports.price = (net, tax) => net - tax;\nexports.half = (n) => n / 2;\n',
};
const MODULE = {
  'src/price.js':
    'export const price = (net, tax) => net - tax;\nexport const half = (n) => n / 2;\n',
};
const load = "const { half, price } = require('../src/price.js');\n";
const use = "import { half, price } from '../src/price.js';\n";

const projects: Readonly<Record<string, Project>> = {
  vitest: {
    modules: own,
    files: {
      ...MODULE,
      'package.json': '{"type":"module","scripts":{"test":"vitest"}}\n',
      'test/price.test.js': `import { expect, test } from 'vitest';\n${use}
test('adds tax', () => { expect(price(10, 2)).toBe(12); });
test('halves', () => { expect(half(4)).toBe(2); });
`,
    },
    target: 'test/price.test.js::adds tax',
  },
  jest: {
    modules: () => installed('jest'),
    files: {
      ...COMMONJS,
      'package.json': '{"scripts":{"test":"jest"}}\n',
      'test/price.test.js': `${load}
test('adds tax', () => { expect(price(10, 2)).toBe(12); });
test('halves', () => { expect(half(4)).toBe(2); });
`,
    },
    target: 'test/price.test.js::adds tax',
  },
  mocha: {
    modules: () => installed('mocha'),
    files: {
      ...COMMONJS,
      'package.json': '{"scripts":{"test":"mocha"}}\n',
      'test/price.js': `const assert = require('node:assert');\n${load}
describe('price', () => { it('adds tax', () => { assert.strictEqual(price(10, 2), 12); }); });
it('halves', () => { assert.strictEqual(half(4), 2); });
`,
    },
    target: 'test/price.js::price > adds tax',
  },
  tape: {
    modules: () => installed('tape'),
    files: {
      ...COMMONJS,
      'package.json': '{"scripts":{"test":"tape test/*.js"}}\n',
      'test/price.js': `const test = require('tape');\n${load}
test('adds tax', (t) => { t.equal(price(10, 2), 12); t.end(); });
test('halves', (t) => { t.equal(half(4), 2); t.end(); });
`,
    },
    target: 'test/price.js::adds tax',
  },
  ava: {
    modules: () => installed('ava'),
    files: {
      ...MODULE,
      'package.json': '{"type":"module","scripts":{"test":"ava"}}\n',
      'test/price.js': `import test from 'ava';\n${use}
test('adds tax', (t) => { t.is(price(10, 2), 12); });
test('halves', (t) => { t.is(half(4), 2); });
`,
    },
    target: 'test/price.js::adds tax',
  },
  unittest: {
    source: 'shop.py',
    files: {
      'shop.py': 'def price(net, tax):\n    return net - tax\n\n\ndef half(n):\n    return n / 2\n',
      'tests/__init__.py': '',
      'tests/test_shop.py': `import unittest

from shop import half, price


class Shop(unittest.TestCase):
    def test_adds_tax(self):
        self.assertEqual(price(10, 2), 12)

    def test_halves(self):
        self.assertEqual(half(4), 2)
`,
    },
    target: 'tests/test_shop.py::Shop::test_adds_tax',
  },
};

export const FIXED_WITH = ['vitest', 'jest', 'mocha', 'tape', 'ava', 'unittest'] as const;

/** A wrong fix and the right one, through the real command line. */
export function describeFixWith(names: readonly string[]): void {
  let cli: Awaited<ReturnType<typeof buildCli>>;
  beforeAll(async () => {
    cli = await buildCli();
  });
  afterAll(() => cli.remove());
  describe.each(Object.entries(projects).filter(([name]) => names.includes(name)))(
    'fix with %s',
    (_, project) => {
      it('grades a wrong fix failed and the right one solved', async () => {
        await expectFix(cli.program, project);
      });
    },
  );
}

/** One repository, three parts, each with a framework of its own. */
export function describeMonorepo(): void {
  let cli: Awaited<ReturnType<typeof buildCli>>;
  beforeAll(async () => {
    cli = await buildCli();
  });
  afterAll(() => cli.remove());
  describe('a repository with several frameworks', () => {
    const test = (imports: string, factory: string): string =>
      `${imports}\nimport { price } from '../src/price.js';\n\n${factory}\n`;
    const files: Files = {
      'package.json': '{"private":true,"workspaces":["packages/*"]}\n',
      'packages/a/package.json': '{"name":"a","type":"module","scripts":{"test":"vitest"}}\n',
      'packages/a/src/price.js': 'export const price = (net, tax) => net - tax;\n',
      'packages/a/test/price.test.js': test(
        "import { expect, test } from 'vitest';",
        "test('adds tax', () => { expect(price(10, 2)).toBe(12); });\ntest('no tax', () => { expect(price(10, 0)).toBe(10); });",
      ),
      'packages/b/package.json': '{"name":"b","type":"module","scripts":{"test":"node --test"}}\n',
      'packages/b/src/price.js': 'export const price = (net, tax) => net - tax;\n',
      'packages/b/test/price.test.js': test(
        "import assert from 'node:assert/strict';\nimport test from 'node:test';",
        "test('adds tax', () => assert.equal(price(10, 2), 12));\ntest('no tax', () => assert.equal(price(10, 0), 10));",
      ),
      'py/pyproject.toml':
        '[project]\nname = "shop"\nversion = "0"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
      'py/shop.py': 'def price(net, tax):\n    return net - tax\n',
      'py/tests/test_shop.py':
        'from shop import price\n\n\ndef test_adds_tax():\n    assert price(10, 2) == 12\n\n\ndef test_no_tax():\n    assert price(10, 0) == 10\n',
    };
    const targets = [
      [
        'vitest',
        'packages/a',
        'packages/a/src/price.js',
        'packages/a/test/price.test.js::adds tax',
      ],
      [
        'node:test',
        'packages/b',
        'packages/b/src/price.js',
        'packages/b/test/price.test.js::adds tax',
      ],
      ['pytest', 'py', 'py/shop.py', 'py/tests/test_shop.py::test_adds_tax'],
    ] as const;

    it('mends each part with its own framework, and nothing but the part that is named', async () => {
      const { run, read } = await worldWith(cli.program, files, { 'packages/a': own });
      for (const [framework, , source, target] of targets) {
        const { code, stdout, stderr } = await run(
          ['fix', '--test', target, '--attempts', '1', '--apply', '--json'],
          { changes: true },
        );
        expect({ framework, ...JSON.parse(stdout) }, stderr).toMatchObject({
          outcome: 'solved',
          solved: [target],
        });
        expect(code).toBe(0);
        expect(await read(source)).toContain('net + tax');
        const later = targets.slice(targets.findIndex(([name]) => name === framework) + 1);
        for (const [, , other] of later) expect(await read(other)).toContain('net - tax');
      }
      // All of them are found without being named, and all pass now.
      const again = await run(['fix']);
      expect(again.stdout).toBe('No test fails: 6 of 6 pass.\n');
    });
  });
}
