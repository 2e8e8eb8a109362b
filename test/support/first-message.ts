/** Of an attempt at a test whose module adds up numbers. */
export const FIRST_MESSAGE = `Make this failing test pass.

FAIL test/total.test.js::adds up
  expected: 6
  actual: 3
  at test/total.test.js:6

test/total.test.js, lines 5-7:
it('adds up', () => {
  assert.equal(total([1, 2, 3]), 6);
});

It imports src/total.js.`;
