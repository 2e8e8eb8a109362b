import type { Files } from './world.ts';

const MANIFEST = '{"name":"tiny","type":"module","scripts":{"test":"node --test"}}\n';

function testFile(imports: string, ...tests: readonly string[]): string {
  return `import assert from 'node:assert/strict';\nimport test from 'node:test';\n${imports}\n\n${tests.join('\n')}\n`;
}

/** One bug that a single operator edit mends; `add.test.js` has one failing and one passing test. */
export const ADD: Files = {
  'package.json': MANIFEST,
  'src/add.js': 'export function add(a, b) {\n  return a - b;\n}\n',
  'test/add.test.js': testFile(
    "import { add } from '../src/add.js';",
    "test('adds', () => assert.equal(add(2, 3), 5));",
    "test('adds zero', () => assert.equal(add(2, 0), 2));",
  ),
};

/** Nothing fails. */
export const PASSING: Files = { ...ADD, 'src/add.js': ADD['src/add.js']?.replace('-', '+') ?? '' };

/** A second module whose bug needs a new statement, and a third test with the cause of the first. */
export const SEVERAL: Files = {
  ...ADD,
  'src/sum.js':
    "import { add } from './add.js';\n\nexport function sum(list) {\n  return list.reduce(add, 0);\n}\n",
  'src/greet.js': 'export function greet(name) {\n  return "Hello " + name;\n}\n',
  'test/greet.test.js': testFile(
    "import { greet } from '../src/greet.js';",
    "test('greets politely', () => assert.equal(greet('Ada'), 'Good evening, Ada.'));",
  ),
  'test/sum.test.js': testFile(
    "import { sum } from '../src/sum.js';",
    "test('sums', () => assert.equal(sum([1, 2, 3]), 6));",
  ),
};

/** Two bugs in one file: next to each other, or `apart` lines from each other. */
export const twoBugs = (apart: number): Files => ({
  'package.json': MANIFEST,
  'src/shape.js': [
    'export const area = (a, b) => a + b;',
    ...Array.from({ length: apart }, (_, index) => `// ${index}`),
    'export const perimeter = (a, b) => 2 * (a - b);\n',
  ].join('\n'),
  'test/area.test.js': testFile(
    "import { area } from '../src/shape.js';",
    "test('area', () => assert.equal(area(2, 3), 6));",
  ),
  'test/perimeter.test.js': testFile(
    "import { perimeter } from '../src/shape.js';",
    "test('perimeter', () => assert.equal(perimeter(2, 3), 10));",
  ),
});

export const PYTHON: Files = {
  'pyproject.toml':
    '[project]\nname = "tiny"\nversion = "0"\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\n',
  'src/tiny.py': 'def at_least(a, b):\n    return a > b\n',
  'tests/test_tiny.py':
    'from tiny import at_least\n\n\ndef test_equal_is_enough():\n    assert at_least(2, 2)\n\n\ndef test_less_is_not():\n    assert not at_least(1, 2)\n',
};

export function nodeProject(source: string, ...tests: readonly string[]): Files {
  return {
    'package.json': MANIFEST,
    'src/main.js': source,
    'test/main.test.js': testFile("import * as main from '../src/main.js';", ...tests),
  };
}
