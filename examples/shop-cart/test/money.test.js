'use strict';

const { describe, it } = require('node:test');
const assert = require('node:assert/strict');
const money = require('../src/money.js');

describe('money', () => {
  it('parses units and cents', () => {
    assert.equal(money.parse('12'), 1200);
    assert.equal(money.parse('12.5'), 1250);
    assert.equal(money.parse(' -0.05 '), -5);
  });

  it('refuses what is not an amount', () => {
    for (const text of ['', '1,50', '1.234', 'ten', '1.']) {
      assert.throws(() => money.parse(text), /not an amount/);
    }
  });

  it('formats with two decimals', () => {
    assert.equal(money.format(305), '3.05');
    assert.equal(money.format(-5), '-0.05');
    assert.equal(money.format(120000), '1200.00');
  });

  it('rounds a percentage to the nearest cent', () => {
    assert.equal(money.percentage(999, 10), 100);
    assert.equal(money.percentage(1004, 10), 100);
    assert.equal(money.percentage(1000, 7.5), 75);
  });

  it('allocates in proportion', () => {
    assert.deepEqual(money.allocate(1000, [1, 1, 2]), [250, 250, 500]);
    assert.deepEqual(money.allocate(100, [1, 0, 3]), [25, 0, 75]);
  });

  it('gives the cents that are left to the first shares', () => {
    assert.deepEqual(money.allocate(100, [1, 1, 1]), [34, 33, 33]);
    assert.deepEqual(money.allocate(100, [0, 1, 1, 1]), [0, 34, 33, 33]);
  });

  it('never allocates more than there is', () => {
    assert.deepEqual(money.allocate(5, [1, 1]), [3, 2]);
    assert.deepEqual(money.allocate(200, [1, 1, 1]), [67, 67, 66]);
  });

  it('needs a positive weight', () => {
    assert.throws(() => money.allocate(100, [0, 0]), RangeError);
  });
});
