import { describe, expect, it } from 'vitest';
import { chooseHidden, findTestUnits } from '../../../../src/core/tasks/hide.ts';
import { createChance } from '../../../../src/core/tasks/random.ts';
import { cutRanges } from '../../../../src/core/tasks/views.ts';

const SCRIPT = `import { describe, it, test } from 'node:test';

// about one
test('one', () => {
  run('x');
});

describe('group', () => {
  it('two', () => {});

  it('it\\'s three', async () => {
    await run();
  });
});

for (const n of [1, 2]) test(\`loop \${n}\`, () => {});
test('one more', () => {});
`;

const PYTHON = `import pytest


def test_one():
    assert True


@pytest.mark.parametrize("n", [1, 2])
def test_two(n):
    assert n


class TestThings:
    def test_three(self):
        assert True

    def test_four(self):
        assert True


class TestOne:
    def test_alone(self):
        assert True
`;

const named = (...names: readonly string[]) => names.map((name) => ({ id: name, name }));

describe('test units', () => {
  it('are statements of their own, with the comment above', () => {
    const units = findTestUnits(SCRIPT, 'javascript', named('one', 'two', "it's three", 'loop 1'));
    expect(units.map(({ ids }) => ids)).toEqual([['one'], ['two'], ["it's three"]]);
    const text = cutRanges(SCRIPT, units);
    expect(text).toContain("describe('group', () => {\n});\n");
    expect(text).not.toMatch(/about one|test\('one',|two|three/);
    expect(text).toContain("test('one more'");
    expect(text).toContain('test(`loop');
  });

  it('are not found where two have the same name and no line tells them apart', () => {
    const twice = "test('a', () => {});\ntest('a', () => {});\n";
    expect(findTestUnits(twice, 'javascript', named('a'))).toEqual([]);
    const [unit] = findTestUnits(twice, 'javascript', [{ id: 'a#2', name: 'a', line: 2 }]);
    expect(unit).toEqual({ ids: ['a#2'], from: 21, to: 42 });
  });

  it('hold the tests inside of them, which go with them', () => {
    const source = `test('outer', async (t) => {
  t.plan(3);
  t.test('first', () => {});
  await t.test('second', () => {});
  for (const n of [1]) await t.test(\`loop \${n}\`, () => {});
});
test('first', () => {});
`;
    const inside = (name: string, line: number) => ({
      id: `outer > ${name}`,
      name,
      line,
      within: ['outer'],
    });
    const units = findTestUnits(source, 'javascript', [
      inside('first', 3),
      inside('second', 4),
      inside('loop 1', 5),
      { id: 'first', name: 'first', line: 7, within: [] },
    ]);
    expect(units.map(({ ids }) => ids)).toEqual([
      ['outer > first', 'outer > second', 'outer > loop 1'],
      ['first'],
    ]);
    expect(cutRanges(source, units.slice(0, 1))).toBe("test('first', () => {});\n");
  });

  it('are Python functions with their decorators, all parameters at once', () => {
    const units = findTestUnits(PYTHON, 'python', [
      { id: 'two[1]', name: 'test_two' },
      { id: 'two[2]', name: 'test_two' },
      ...named('test_three'),
    ]);
    expect(units.map(({ ids }) => ids)).toEqual([['two[1]', 'two[2]'], ['test_three']]);
    const text = cutRanges(PYTHON, units);
    expect(text).not.toMatch(/parametrize|test_two|test_three/);
    expect(text).toContain('class TestThings:\n    def test_four(self):');
  });

  it('never leave a Python class empty', () => {
    expect(findTestUnits(PYTHON, 'python', named('test_alone'))).toEqual([]);
  });
});

describe('hidden tests', () => {
  const units = Array.from({ length: 9 }, (_, at) => ({ ids: [`t${at}`] }));
  const ids = units.flatMap((unit) => unit.ids);

  it('are half of all, and leave a failing and a passing one, for every seed', () => {
    for (let seed = 0; seed < 200; seed++) {
      for (const failing of [new Set(['t3']), new Set(ids.slice(1)), new Set(['t0', 't1', 't2'])]) {
        const hidden = chooseHidden(units, ids, failing, createChance(seed)).flatMap((u) => u.ids);
        const visible = ids.filter((id) => !hidden.includes(id));
        expect(hidden.length).toBe(4);
        expect(visible.some((id) => failing.has(id))).toBe(true);
        expect(visible.some((id) => !failing.has(id))).toBe(true);
      }
    }
  });

  it('are the same for the same seed and differ between seeds', () => {
    const choose = (seed: number) =>
      JSON.stringify(chooseHidden(units, ids, new Set(['t0']), createChance(seed)));
    expect(choose(1)).toBe(choose(1));
    expect(new Set([1, 2, 3, 4, 5].map(choose)).size).toBeGreaterThan(1);
  });
});
