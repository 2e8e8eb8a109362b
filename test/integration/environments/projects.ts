import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../fixtures/environments', name), 'utf8');

type Files = Readonly<Record<string, string>>;

/** Its tests need vitest, and its source semver. */
export const VITEST_PROJECT: Files = {
  '.gitignore': 'node_modules/\n',
  'package.json': fixture('vitest/package.json'),
  'package-lock.json': fixture('vitest/package-lock.json'),
  'src/releases.js': `import semver from 'semver';

export function newest(versions) {
  let best = versions[0];
  for (const version of versions) {
    if (semver.gt(version, best)) best = version;
  }
  return best;
}

export function isUpgrade(from, to) {
  if (!semver.valid(to)) return false;
  return semver.gt(to, from) && semver.major(to) === semver.major(from);
}
`,
  'test/releases.test.js': `import { expect, test } from 'vitest';
import { isUpgrade, newest } from '../src/releases.js';

test('newest of several', () => { expect(newest(['1.2.0', '1.10.0', '1.9.3'])).toBe('1.10.0'); });
test('newest of one', () => { expect(newest(['0.1.0'])).toBe('0.1.0'); });
test('a minor version is an upgrade', () => { expect(isUpgrade('1.2.0', '1.3.0')).toBe(true); });
test('a major version is none', () => { expect(isUpgrade('1.2.0', '2.0.0')).toBe(false); });
test('an older version is none', () => { expect(isUpgrade('1.2.0', '1.1.0')).toBe(false); });
test('no version is none', () => { expect(isUpgrade('1.2.0', 'latest')).toBe(false); });
`,
};

/** Its tests need pytest, and its source attrs. */
export const PYTEST_PROJECT: Files = {
  '.gitignore': '__pycache__/\n.pytest_cache/\n',
  'requirements.txt': 'attrs==23.2.0\npytest==8.3.4\n',
  'stock.py': `import attrs


@attrs.define
class Shelf:
    size: int
    used: int = 0

    def free(self):
        return self.size - self.used

    def put(self, count):
        if count > self.free():
            raise ValueError("no room")
        self.used += count


def total(shelves):
    result = 0
    for shelf in shelves:
        result += shelf.used
    return result
`,
  'test_stock.py': `import pytest

from stock import Shelf, total


def test_free():
    assert Shelf(size=5, used=2).free() == 3


def test_put():
    shelf = Shelf(size=5)
    shelf.put(4)
    assert shelf.used == 4


def test_fills_up():
    shelf = Shelf(size=5)
    shelf.put(5)
    assert shelf.free() == 0


def test_no_room():
    with pytest.raises(ValueError):
        Shelf(size=5).put(6)


def test_total():
    assert total([Shelf(size=5, used=2), Shelf(size=5, used=1)]) == 3


def test_total_of_none():
    assert total([]) == 0
`,
};
