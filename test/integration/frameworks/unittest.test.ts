import { unittest } from '../../../src/core/frameworks/unittest/unittest.ts';
import { checkRows } from './rows.ts';

const file = 'tests/test_cart.py';
const head = 'import unittest\n\n';

checkRows({
  framework: unittest,
  files: {
    'shop/__init__.py': '',
    'shop/cart.py':
      'def total(items):\n    if not isinstance(items, list):\n        raise TypeError("no list")\n    return len(items)\n',
    'tests/__init__.py': '',
    'tests/helper.py': 'SEVEN = 7\n',
    [file]: `import os
import unittest
from shop.cart import total
from .helper import SEVEN


class Cart(unittest.TestCase):
    def test_passes(self):
        print("BODY RAN")
        self.assertEqual(SEVEN, 7)

    def test_adds_tax(self):
        self.assertEqual(total([1]), 12)

    def test_throws_from_the_source(self):
        total(3)

    def test_words(self):
        self.assertEqual(total([1]), 12, "with tax")

    def test_strings(self):
        self.assertEqual("12", 12)

    def test_plain(self):
        assert total([1]) == 12

    def test_more(self):
        self.assertGreater(1, 2)

    @unittest.skip("later")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_known(self):
        self.fail("known")

    @unittest.expectedFailure
    def test_fixed(self):
        pass

    def test_parts(self):
        for n in (1, 2):
            with self.subTest(n=n):
                self.assertEqual(n, 1)


class Async(unittest.IsolatedAsyncioTestCase):
    async def test_waits(self):
        raise KeyError("gone")


class Database(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no database")

    def test_never(self):
        pass


class Each(unittest.TestCase):
    def setUp(self):
        raise OSError("no table")

    def test_hooked(self):
        pass
`,
    'more/test_loose.py': `${head}class Loose(unittest.TestCase):\n    def test_alone(self):\n        pass\n`,
    'other/test_loose.py': `${head}class Loose(unittest.TestCase):\n    def test_other(self):\n        pass\n`,
    'tests/test_broken.py': 'import unittest\n\ndef test_x(:\n    pass\n',
    'tests/test_missing.py': 'import unittest\nfrom shop import nowhere\n',
    'tests/test_throws.py': 'from shop.cart import total\ntotal(3)\n',
  },
  all: {
    [`${file}::Cart::test_passes`]: 'passed',
    [`${file}::Cart::test_adds_tax`]: 'failed',
    [`${file}::Cart::test_throws_from_the_source`]: 'failed',
    [`${file}::Cart::test_words`]: 'failed',
    [`${file}::Cart::test_strings`]: 'failed',
    [`${file}::Cart::test_plain`]: 'failed',
    [`${file}::Cart::test_more`]: 'failed',
    [`${file}::Cart::test_skipped`]: 'skipped',
    [`${file}::Cart::test_known`]: 'xfailed',
    [`${file}::Cart::test_fixed`]: 'failed',
    [`${file}::Cart::test_parts`]: 'failed',
    [`${file}::Async::test_waits`]: 'failed',
    [`${file}::Database`]: 'error',
    [`${file}::Each::test_hooked`]: 'failed',
    'more/test_loose.py::Loose::test_alone': 'passed',
    'other/test_loose.py::Loose::test_other': 'passed',
  },
  failures: {
    [`${file}::Cart::test_adds_tax`]: {
      message: 'Expected values to be equal',
      expected: '12',
      actual: '1',
      place: { file, line: 13 },
    },
    [`${file}::Cart::test_throws_from_the_source`]: {
      message: 'TypeError: no list',
      place: { file, line: 16 },
      ownFrame: { file: 'shop/cart.py', line: 3, function: 'total' },
    },
    [`${file}::Cart::test_words`]: { message: 'with tax', expected: '12', actual: '1' },
    // Without quotes the two would look the same.
    [`${file}::Cart::test_strings`]: { expected: '12', actual: "'12'" },
    [`${file}::Cart::test_plain`]: {
      message: 'assert total([1]) == 12',
      place: { file, line: 25 },
    },
    [`${file}::Cart::test_more`]: { message: '1 not greater than 2' },
    [`${file}::Cart::test_fixed`]: { message: 'passed, but a failure was expected' },
    [`${file}::Cart::test_parts`]: {
      message: '(n=2) Expected values to be equal',
      expected: '1',
      actual: '2',
    },
    [`${file}::Async::test_waits`]: { message: "KeyError: 'gone'" },
    [`${file}::Database`]: { message: 'in setUpClass: OSError: no database' },
    [`${file}::Each::test_hooked`]: { message: 'OSError: no table' },
  },
  errors: {
    'tests/test_broken.py': { message: 'SyntaxError: invalid syntax', line: 3 },
    'tests/test_missing.py': { message: "cannot import name 'nowhere'", line: 2 },
    'tests/test_throws.py': { message: 'TypeError: no list', line: 2 },
  },
  chosen: {
    [`${file}::Cart::test_adds_tax`]: ['failed'],
    [`${file}::Async`]: ['failed'],
    'more/test_loose.py': ['passed'],
    other: ['passed'],
  },
  listed: { file, id: `${file}::Cart::test_adds_tax` },
  crash: {
    files: {
      'test_a.py': `import os\n${head}class A(unittest.TestCase):\n    def test_1_quick(self):\n        pass\n\n    def test_2_leaves(self):\n        os._exit(0)\n\n    def test_3_later(self):\n        pass\n`,
    },
    says: [
      /1 failed, 1 passed/,
      /FAIL test_a\.py::A::test_2_leaves\n {2}the test process ended while this test ran \(exit code 0\)\n {2}at test_a\.py:8/,
      /The test run broke off/,
    ],
  },
  hangMs: 6_000,
  hang: {
    files: (begun) => ({
      'test_a.py': `${head}class A(unittest.TestCase):\n    def test_1_quick(self):\n        pass\n\n    def test_2_hangs(self):\n        open('${begun}', 'w').close()\n        while True:\n            pass\n`,
    }),
    says: [
      /1 passed/,
      /FAIL test_a\.py::A::test_2_hangs\n {2}this test had not ended when the time was up/,
    ],
  },
  canaries: {
    file: 'test_a.py',
    files: {
      'one.py': 'one = 1\n',
      'test_a.py': `${head}from one import one\n\nclass A(unittest.TestCase):\n    def test_quick(self):\n        self.assertEqual(one, 1)`,
    },
    cheat: {
      'one.py': 'import unittest\nunittest.TestCase.assertEqual = lambda *words: None\none = 2\n',
    },
  },
});
