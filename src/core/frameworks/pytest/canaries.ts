import type { PlantCanaries } from '../framework.ts';

/** See node-test.ts; the file's own assertion rewriting applies to the planted tests as well. */
export const plantPytestCanaries: PlantCanaries = (file, source, nonce) => {
  const pass = `test_prime_${nonce}_a`;
  const fails = ['b', 'c', 'd', 'e', 'f'].map((letter) => `test_prime_${nonce}_${letter}`);
  const [raise, equal, nested, membership, raises] = fails;
  const code = `

def ${pass}():
    import builtins as _b, json as _j, unittest as _u
    def _throws(work):
        try:
            work()
        except AssertionError:
            return
        raise RuntimeError("an assertion does not fail")
    def _eq(): assert 1 == 2
    def _truth(): assert []
    def _in(): assert 3 in (1, 2)
    def _is(): assert None is not None
    def _deep(): assert {"a": [1]} == {"a": [2]}
    _case = _u.TestCase()
    def _raises():
        with _case.assertRaises(ValueError): pass
    _unit = (
        lambda: _case.assertEqual(1, 2), lambda: _case.assertTrue(False), lambda: _case.assertFalse(True),
        lambda: _case.assertIn(3, (1, 2)), lambda: _case.assertIs(None, 1), lambda: _case.assertNotEqual(1, 1),
        lambda: _case.assertDictEqual({"a": 1}, {"a": 2}), lambda: _case.assertListEqual([1], [2]),
        lambda: _case.assertAlmostEqual(1.0, 2.0), lambda: _case.assertGreater(1, 2), lambda: _case.fail("x"), _raises,
    )
    for _work in (_eq, _truth, _in, _is, _deep, *_unit):
        _throws(_work)
    if AssertionError is not _b.AssertionError or type(1) is not int or _j.dumps({"a": [1]}) != '{"a": [1]}' or not isinstance("a", str) or len([1, 2]) != 2 or sorted([2, 1]) != [1, 2]:
        raise RuntimeError("the language was changed")


def ${raise}():
    raise ValueError("planted")


def ${equal}():
    assert 1 == 2


def ${nested}():
    _value = {"a": [1, 2]}
    assert _value == {"a": [1, 3]}, "planted"


def ${membership}():
    assert "a" in ["b"]


def ${raises}():
    import pytest as _p
    with _p.raises(ValueError):
        pass
`;
  const id = (name: string): string => `${file}::${name}`;
  return { source: source + code, mustPass: [id(pass)], mustFail: fails.map(id) };
};
