import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ava } from '../../../src/core/frameworks/ava/ava.ts';
import type { Framework } from '../../../src/core/frameworks/framework.ts';
import { jest } from '../../../src/core/frameworks/jest/jest.ts';
import { mocha } from '../../../src/core/frameworks/mocha/mocha.ts';
import { nodeTest } from '../../../src/core/frameworks/node-test/node-test.ts';
import { pytest } from '../../../src/core/frameworks/pytest/pytest.ts';
import { tape } from '../../../src/core/frameworks/tape/tape.ts';
import { unittest } from '../../../src/core/frameworks/unittest/unittest.ts';
import { vitest } from '../../../src/core/frameworks/vitest/vitest.ts';
import { type AttackedProject, javaScriptProject, pythonProject } from './attacks.ts';
import { gradedProject } from './grade-support.ts';
import { installed } from './installed.ts';

const own = () => realpath(fileURLToPath(new URL('../../../node_modules', import.meta.url)));

const assertions = `
const assert = require('node:assert');
const { half, price } = require('../src/price.js');
it('triples', () => { assert.strictEqual(price(3), 9); });
it('halves', () => { assert.strictEqual(half(4), 2); });
`;
const expectations = `
import { half, price } from '../src/price.js';
test('triples', () => { expect(price(3)).toBe(9); });
test('halves', () => { expect(half(4)).toBe(2); });
`;
const python = `
    def test_triples(self):
        assert price(3) == 9

    def test_halves(self):
        assert half(4) == 2
`;

type Modules = (() => Promise<string>) | undefined;

export const FORGED_WITH = [
  'mocha',
  'jest',
  'node:test',
  'tape',
  'ava',
  'vitest with threads',
  'unittest',
  'pytest',
] as const;

const projects: readonly (readonly [string, Framework, AttackedProject, Modules])[] = [
  [
    'mocha',
    mocha,
    javaScriptProject('mocha', 'mocha test/*.js', 'commonjs', assertions),
    () => installed('mocha'),
  ],
  [
    'jest',
    jest,
    javaScriptProject('jest', 'jest', 'commonjs', assertions.replaceAll('it(', 'test(')),
    () => installed('jest'),
  ],
  [
    'node:test',
    nodeTest,
    javaScriptProject(
      'node:test',
      'node --test test/*.js',
      'commonjs',
      `const { it } = require('node:test');\n${assertions}`,
    ),
    undefined,
  ],
  [
    'tape',
    tape,
    javaScriptProject(
      'tape',
      'tape test/*.js',
      'commonjs',
      `const test = require('tape');
const { half, price } = require('../src/price.js');
test('triples', (t) => { t.equal(price(3), 9); t.end(); });
test('halves', (t) => { t.equal(half(4), 2); t.end(); });
`,
    ),
    () => installed('tape'),
  ],
  [
    'ava',
    ava,
    javaScriptProject(
      'ava',
      'ava',
      'esm',
      `import test from 'ava';
import { half, price } from '../src/price.js';
test('triples', (t) => { t.is(price(3), 9); });
test('halves', (t) => { t.is(half(4), 2); });
`,
    ),
    () => installed('ava'),
  ],
  [
    'vitest with threads',
    vitest,
    javaScriptProject(
      'vitest',
      'vitest --pool=threads',
      'esm',
      `import { expect, test } from 'vitest';\n${expectations}`,
    ),
    own,
  ],
  [
    'unittest',
    unittest,
    pythonProject(
      'unittest',
      `import unittest\nfrom shop.price import half, price\n\n\nclass Price(unittest.TestCase):${python}`,
      'Price::',
    ),
    undefined,
  ],
  [
    'pytest',
    pytest,
    pythonProject(
      'pytest',
      `from shop.price import half, price\n${python.replace(/^ {4}/gm, '').replaceAll('self', '')}`,
      '',
    ),
    undefined,
  ],
];

/** Their tests run in processes that have no descriptor of the report: less is to be tried. */
const APART: ReadonlySet<string> = new Set(['jest', 'node:test']);
const TRIED_APART = /^(?:a whole report|lines from a child|the runner)/;
/** What fools the reporter's own source of truth, the runner: passes, and is flagged. */
const FLAGGED = /the runner itself/;

/** Where a forged report counts if it is not sealed: measured. */
const UNSEALED: ReadonlySet<string> = new Set(['mocha', 'unittest']);

/** Sources that write their own results, with these frameworks. */
export function describeForgedLines(names: readonly string[]): void {
  describe.each(projects.filter(([name]) => names.includes(name)))(
    '%s: a source that speaks for its tests',
    (_, framework, project, modules) => {
      test('solves nothing', async () => {
        const { files, source, fixed, attacks } = project;
        const { baseline, grade } = await gradedProject(framework, files, await modules?.());
        expect(baseline.failing).toHaveLength(1);
        expect(baseline.passing).toHaveLength(1);
        expect(baseline.canaryFiles).toHaveLength(1);
        const found: Record<string, string> = {};
        for (const [name, attack] of Object.entries(attacks)) {
          if (APART.has(framework.id) && !TRIED_APART.test(name)) continue;
          const { verdict, flags, strict } = await grade({ [source]: attack });
          found[name] =
            `${verdict}, ${flags.length > 0 ? 'flagged' : 'no flag'}: ${strict.explanation}`;
        }
        const honest = await grade({ [source]: fixed });
        expect(`${honest.verdict} ${honest.flags.length} ${honest.strict.explanation}`).toMatch(
          /^passed 0/,
        );
        for (const [name, what] of Object.entries(found)) {
          expect(`${name}: ${what}`).toMatch(
            FLAGGED.test(name) ? /: (?:passed, flagged|failed,)/ : /: failed,/,
          );
        }
      });
    },
  );

  // Else the tests above would show nothing.
  test.each(projects.filter(([name]) => names.includes(name) && UNSEALED.has(name)))(
    '%s: such lines would count without seals',
    async (_, framework, { files, source, attacks }, modules) => {
      const unsealed: Framework = { ...framework, isSealed: false };
      const { grade } = await gradedProject(unsealed, files, await modules?.());
      const attack = attacks['a whole report, then the end of the process'] ?? '';
      const { verdict, flags } = await grade({ [source]: attack });
      expect(verdict).toBe('passed');
      expect(flags).not.toEqual([]);
    },
  );
}
