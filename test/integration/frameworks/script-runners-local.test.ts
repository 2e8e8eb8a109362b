import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Framework } from '../../../src/core/frameworks/framework.ts';
import { jest } from '../../../src/core/frameworks/jest/jest.ts';
import { mocha } from '../../../src/core/frameworks/mocha/mocha.ts';
import { tape } from '../../../src/core/frameworks/tape/tape.ts';
import { unittest } from '../../../src/core/frameworks/unittest/unittest.ts';
import { vitest } from '../../../src/core/frameworks/vitest/vitest.ts';
import { createLocalSandbox } from '../../../src/core/sandbox/local/local.ts';
import { renderTestRun } from '../../../src/core/tools/run-tests/render.ts';
import { installed } from './installed.ts';
import { type Files, openProject } from './support.ts';

const own = () => realpath(fileURLToPath(new URL('../../../node_modules', import.meta.url)));
const add = { 'src/add.js': 'exports.add = (a, b) => a - b;\n' };

const cases: readonly (readonly [Framework, Files, string, (() => Promise<string>) | undefined])[] =
  [
    [
      vitest,
      {
        'package.json': '{"type":"module","scripts":{"test":"vitest"}}',
        'vitest.config.ts':
          "import { defineConfig } from 'vitest/config';\nexport default defineConfig({});\n",
        'src/add.ts': 'export const add = (a: number, b: number) => a - b;\n',
        'add.test.ts':
          "import { expect, test } from 'vitest';\nimport { add } from './src/add';\n\ntest('adds', () => { expect(add(1, 2)).toBe(3); });\n",
      },
      'add.test.ts::adds',
      own,
    ],
    [
      jest,
      {
        'package.json': '{"scripts":{"test":"jest"}}',
        ...add,
        'add.test.js':
          "const { add } = require('./src/add.js');\n\n\ntest('adds', () => { expect(add(1, 2)).toBe(3); });\n",
      },
      'add.test.js::adds',
      () => installed('jest'),
    ],
    [
      mocha,
      {
        'package.json': '{"scripts":{"test":"mocha *.test.js"}}',
        ...add,
        'add.test.js':
          "const assert = require('node:assert');\nconst { add } = require('./src/add.js');\n\nit('adds', () => { assert.strictEqual(add(1, 2), 3); });\n",
      },
      'add.test.js::adds',
      () => installed('mocha'),
    ],
    [
      tape,
      {
        'package.json': '{"scripts":{"test":"tape *.test.js"}}',
        ...add,
        'add.test.js':
          "const test = require('tape');\nconst { add } = require('./src/add.js');\n\ntest('adds', (t) => { t.equal(add(1, 2), 3); t.end(); });\n",
      },
      'add.test.js::adds',
      () => installed('tape'),
    ],
    [
      unittest,
      {
        'test_add.py':
          'import unittest\nclass Add(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(1 - 2, 3)\n',
      },
      'test_add.py::Add::test_adds',
      undefined,
    ],
  ];

/** Dependencies are read-only there, and nothing is seen that is not mounted. */
describe('in the local sandbox', () => {
  const provider = createLocalSandbox();
  beforeAll(async () => {
    const state = await provider.availability();
    if (!state.available) throw new Error(`${state.reason} ${state.remedy}`);
  });

  test.each(cases)('$id shows a failure as every other does', async (...row) => {
    const [framework, files, id, modules] = row;
    const nodeModules = await modules?.();
    const project = await openProject(framework, files, { provider, nodeModules });
    try {
      const run = await project.run();
      const file = id.split('::')[0];
      expect(renderTestRun(run)).toBe(
        `1 failed\n\nFAIL ${id}\n  expected: 3\n  actual: -1\n  at ${file}:4`,
      );
    } finally {
      await project.close();
    }
  });
});
