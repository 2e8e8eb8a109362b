'use strict';

const { describe, it } = require('node:test');
const assert = require('node:assert/strict');
const { percentOff, buyGetFree, amountOff, best } = require('../src/promotions.js');

const line = (sku, price, quantity) => ({ sku, price, quantity });

describe('percentOff', () => {
  it('takes a part of the subtotal', () => {
    assert.equal(percentOff(10).discount([line('tea', 450, 2)]), 90);
  });

  it('applies from the minimum on', () => {
    const promotion = percentOff(10, { minimum: 1000 });
    assert.equal(promotion.discount([line('tea', 999, 1)]), 0);
    assert.equal(promotion.discount([line('tea', 500, 2)]), 100);
  });
});

describe('buyGetFree', () => {
  it('gives nothing before the group is full', () => {
    assert.equal(buyGetFree('tea', 2, 1).discount([line('tea', 400, 1)]), 0);
  });

  it('gives one unit of a full group', () => {
    assert.equal(buyGetFree('tea', 2, 1).discount([line('tea', 400, 3)]), 400);
  });

  it('does not count free units towards the next group', () => {
    const promotion = buyGetFree('tea', 2, 1);
    assert.equal(promotion.discount([line('tea', 400, 5)]), 400);
    assert.equal(promotion.discount([line('tea', 400, 6)]), 800);
    assert.equal(buyGetFree('tea', 3, 2).discount([line('tea', 100, 10)]), 400);
  });

  it('looks at its own article only', () => {
    assert.equal(buyGetFree('tea', 2, 1).discount([line('cup', 900, 6), line('tea', 300, 3)]), 300);
  });
});

describe('amountOff', () => {
  it('never takes more than the goods cost', () => {
    assert.equal(amountOff(500).discount([line('tea', 300, 1)]), 300);
    assert.equal(amountOff(500).discount([line('tea', 300, 2)]), 500);
  });
});

describe('best', () => {
  it('picks the promotion that takes off most', () => {
    const promotions = [amountOff(50), percentOff(20), percentOff(10)];
    const { promotion, cents } = best(promotions, [line('tea', 1000, 1)]);
    assert.equal(promotion.name, '20% off');
    assert.equal(cents, 200);
  });

  it('takes the first of equals', () => {
    const { promotion } = best([amountOff(100), percentOff(10)], [line('tea', 1000, 1)]);
    assert.equal(promotion.name, '100 cents off');
  });

  it('may find none', () => {
    assert.deepEqual(best([], [line('tea', 1000, 1)]), { promotion: undefined, cents: 0 });
  });
});
