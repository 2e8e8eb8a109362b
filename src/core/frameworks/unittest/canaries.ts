import type { PlantCanaries } from '../framework.ts';

/** See node-test/canaries.ts. A file that gathers its own suite would leave planted tests out. */
export const plantUnittestCanaries: PlantCanaries = (file, source, nonce) => {
  if (/^(?:async )?def load_tests\b|^load_tests\s*=/m.test(source)) return undefined;
  const name = `TestPrime${nonce}`;
  const code = `

import unittest as _unittest_${nonce}


class ${name}(_unittest_${nonce}.TestCase):
    def test_a(self):
        import builtins as _b, json as _j
        def _throws(work):
            try:
                work()
            except AssertionError:
                return
            raise RuntimeError("an assertion does not fail")
        def _eq(): assert 1 == 2
        def _truth(): assert []
        def _raises():
            with self.assertRaises(ValueError): pass
        def _regex():
            with self.assertRaisesRegex(ValueError, "x"): pass
        for _work in (
            _eq, _truth, _raises, _regex, lambda: self.assertEqual(1, 2), lambda: self.assertNotEqual(1, 1),
            lambda: self.assertTrue(False), lambda: self.assertFalse(True), lambda: self.assertIs(None, 1),
            lambda: self.assertIsNone(1), lambda: self.assertIsNotNone(None), lambda: self.assertIn(3, (1, 2)),
            lambda: self.assertNotIn(1, (1, 2)), lambda: self.assertIsInstance(1, str), lambda: self.assertDictEqual({"a": 1}, {"a": 2}),
            lambda: self.assertListEqual([1], [2]), lambda: self.assertEqual("a", "b"), lambda: self.assertCountEqual([1], [2]),
            lambda: self.assertAlmostEqual(1.0, 2.0), lambda: self.assertGreater(1, 2), lambda: self.assertLess(2, 1),
            lambda: self.assertRegex("a", "b"), lambda: self.fail("x"),
        ):
            _throws(_work)
        if AssertionError is not _b.AssertionError or type(1) is not int or _j.dumps({"a": [1]}) != '{"a": [1]}' or not isinstance("a", str) or len([1, 2]) != 2 or sorted([2, 1]) != [1, 2]:
            raise RuntimeError("the language was changed")

    def test_b(self):
        raise ValueError("planted")

    def test_c(self):
        self.assertEqual(1, 2)

    def test_d(self):
        _value = {"a": [1, 2]}
        self.assertEqual(_value, {"a": [1, 3]}, "planted")

    def test_e(self):
        assert 1 == 2
`;
  const id = (test: string): string => `${file}::${name}::test_${test}`;
  return {
    source: source + code,
    mustPass: [id('a')],
    mustFail: ['b', 'c', 'd', 'e'].map(id),
  };
};
