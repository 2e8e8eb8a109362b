import { describe, expect, it } from 'vitest';
import { createEditSearchPolicy } from '../../../../../src/core/policies/edit-search/edit-search.ts';
import { type Played, play } from './driver.ts';

const policy = createEditSearchPolicy({ turns: 40 });

/** What changed, as `path: line` of the new text. */
function changes(before: Readonly<Record<string, string>>, played: Played): readonly string[] {
  return Object.entries(played.files).flatMap(([path, text]) => {
    const old = new Set((before[path] ?? '').split('\n'));
    return text.split('\n').flatMap((line) => (old.has(line) ? [] : [`${path}: ${line.trim()}`]));
  });
}

const STATS = `'use strict';

/** Plain statistics over lists of numbers. */
function sum(values) {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function mean(values) {
  if (values.length === 0) return 0;
  return sum(values) / values.length;
}

function median(values) {
  const ordered = [...values].sort((a, b) => a - b);
  const middle = Math.floor(ordered.length / 2);
  if (ordered.length % 2 === 1) return ordered[middle];
  return (ordered[middle] + ordered[middle + 1]) / 2;
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

module.exports = { sum, mean, median, clamp };
`;

const STATS_TEST = `const test = require('node:test');
const assert = require('node:assert');
const { mean, median, clamp } = require('../lib/stats');

test('mean', () => assert.strictEqual(mean([1, 2, 3]), 2));
test('median of an even number', () => {
  assert.strictEqual(median([4, 1, 3, 2]), 2.5);
});
test('median of odd numbers', () => {
  assert.strictEqual(median([3, 1, 2]), 2);
  assert.strictEqual(median([5, 4, 3, 2, 1]), 3);
});
test('clamp', () => assert.strictEqual(clamp(5, 1, 3), 3));
`;

describe('edit-search fixes', () => {
  it('one wrong constant of a CommonJS module, and says what it changed', async () => {
    const files = {
      'package.json': '{ "name": "stats" }\n',
      'lib/stats.js': STATS,
      'test/stats.test.js': STATS_TEST,
    };
    const played = await play({
      files,
      targets: ['test/stats.test.js::median of an even number'],
      policy,
    });
    expect(changes(files, played)).toEqual([
      'lib/stats.js: return (ordered[middle] + ordered[middle - 1]) / 2;',
    ]);
    expect(played.summary).toContain('lib/stats.js:19');
    expect(played.summary).toContain('ordered[middle - 1]');
  });

  it('a module behind a package of the workspace, in a file of which the editor shows parts', async () => {
    const filler = Array.from(
      { length: 60 },
      (_, i) => `export const unit${i} = { name: 'u${i}', factor: ${i + 1} };\n`,
    );
    const convert = `${filler.join('')}
export function convert(value, from, to) {
  return value * from.factor * to.factor;
}

export function label(unit, value) {
  return value === 1 ? unit.name : unit.name + 's';
}
`;
    const files = {
      'package.json': '{ "name": "root", "type": "module" }\n',
      'packages/units/package.json': '{\n  "name": "@demo/units",\n  "type": "module"\n}\n',
      'packages/units/src/index.js': "export * from './convert.js';\n",
      'packages/units/src/convert.js': convert,
      'test/units.test.js': `import test from 'node:test';
import assert from 'node:assert/strict';
import { convert, label, unit1, unit5 } from '../packages/units/src/index.js';
test('converts', () => assert.equal(convert(10, unit5, unit1), 30));
test('one', () => assert.equal(label(unit1, 1), 'u1'));
`,
    };
    const played = await play({
      files,
      targets: ['test/units.test.js::converts'],
      policy,
      viewLines: 25,
    });
    expect(played.summary).toContain('packages/units/src/convert.js');
    expect(
      Object.keys(files).filter((path) => played.files[path] !== files[path as keyof typeof files]),
    ).toEqual(['packages/units/src/convert.js']);
  });

  it('two wrong places with two edits, when the first one helps on its own', async () => {
    const files = {
      'package.json': '{}\n',
      'range.js': `function inside(range, value) {
  return value >= range.from && value < range.to;
}

function width(range) {
  return range.to + range.from;
}

module.exports = { inside, width };
`,
      'test/range.test.js': `const test = require('node:test');
const assert = require('node:assert');
const { inside, width } = require('../range.js');
test('the end belongs to a range', () => {
  assert.equal(inside({ from: 1, to: 3 }, 3), true);
  assert.equal(width({ from: 1, to: 3 }), 2);
});
`,
    };
    const played = await play({
      files,
      targets: ['test/range.test.js::the end belongs to a range'],
      policy: createEditSearchPolicy({ turns: 40 }),
    });
    expect(changes(files, played)).toEqual([
      'range.js: return value >= range.from && value <= range.to;',
      'range.js: return range.to - range.from;',
    ]);
  });

  it('Python, through a package and with an exception instead of a value', async () => {
    const files = {
      'shop/__init__.py': 'from .basket import Basket\n',
      'shop/basket.py': `"""A basket with lines."""


class Basket:
    def __init__(self, lines=None):
        self.lines = list(lines or [])

    def add(self, name, price, count=1):
        """Adds a line."""
        self.lines.append((name, count, price))
        return self

    def total(self):
        result = 0
        for name, count, price in self.lines:
            result += price * count
        return result

    def dearest(self):
        return max(self.lines, key=lambda line: line[3])[0]
`,
      'tests/test_basket.py': `from shop import Basket


def basket():
    return Basket().add("pen", 2, 3).add("book", 12)


def test_total():
    assert basket().total() == 18


def test_dearest():
    assert basket().dearest() == "book"
`,
    };
    const played = await play({ files, targets: ['tests/test_basket.py::test_dearest'], policy });
    expect(played.summary).toContain('shop/basket.py');
    expect(changes(files, played)).toHaveLength(1);
    expect(changes(files, played)[0]).toMatch(/line\[2\]/);
  });
});

describe('edit-search does not', () => {
  it('hand in an edit that breaks another test', async () => {
    const files = {
      'package.json': '{}\n',
      'level.js': `function level(points) {
  if (points > 100) return 'gold';
  return 'none';
}

module.exports = { level };
`,
      'test/level.test.js': `const test = require('node:test');
const assert = require('node:assert');
const { level } = require('../level.js');
test('gold starts at 100', () => assert.equal(level(100), 'gold'));
test('99 is not enough', () => assert.equal(level(99), 'none'));
test('0 is nothing', () => assert.equal(level(0), 'none'));
test('1000 is gold', () => assert.equal(level(1000), 'gold'));
`,
    };
    const played = await play({
      files,
      targets: ['test/level.test.js::gold starts at 100'],
      policy,
    });
    const [line] = changes(files, played);
    expect([
      "level.js: if (points >= 100) return 'gold';",
      "level.js: if (points > 99) return 'gold';",
    ]).toContain(line);
  });

  it('leave anything behind when nothing helps, nor touch a test', async () => {
    const files = {
      'package.json': '{}\n',
      'greet.js': `exports.greet = (name) => {\n  return 'Hello ' + name;\n};\n`,
      'test/greet.test.js': `const test = require('node:test');
const assert = require('node:assert');
const { greet } = require('../greet.js');
test('greets in French', () => assert.equal(greet('Ada'), 'Bonjour, chère Ada !'));
`,
    };
    const played = await play({ files, targets: ['test/greet.test.js::greets in French'], policy });
    expect(played.files).toEqual(files);
    expect(played.summary).toMatch(/^Nothing was changed: \d+ single edits of 1 files were tried/);
  });

  it('go on without a source to edit', async () => {
    const files = {
      'test/alone.test.js': `const test = require('node:test');
const assert = require('node:assert');
test('alone', () => assert.equal(1, 2));
`,
    };
    const played = await play({ files, targets: ['test/alone.test.js::alone'], policy });
    expect(played.turns).toBeLessThan(6);
    expect(played.summary).toMatch(/^Nothing was changed: no source file/);
  });
});

it('does the same for the same seed, and something else for another one', async () => {
  const files = { 'package.json': '{}\n', 'lib/stats.js': STATS, 'test/stats.test.js': STATS_TEST };
  const calls = async (seed: number) => {
    const brief = createEditSearchPolicy({ turns: 14 });
    const played = await play({
      files,
      targets: ['test/stats.test.js::median of an even number'],
      policy: brief,
      seed,
    });
    return JSON.stringify(
      played.messages.map((message) => ('calls' in message ? message.calls : [])),
    );
  };
  const [first, again, other] = [await calls(1), await calls(1), await calls(2)];
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});
