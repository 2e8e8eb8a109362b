'use strict';

const { describe, it } = require('node:test');
const assert = require('node:assert/strict');
const { CouponBook } = require('../src/coupons.js');

const JUNE = Date.UTC(2024, 5, 1);
const JULY = Date.UTC(2024, 6, 1);
const promotion = { name: 'summer', discount: () => 100 };

function bookWith(coupon) {
  const book = new CouponBook();
  book.add('Summer24', { promotion, ...coupon });
  return book;
}

describe('CouponBook', () => {
  it('finds a code in any spelling', () => {
    assert.deepEqual(bookWith({}).check(' summer24 ', 0), { ok: true, promotion });
  });

  it('does not know other codes', () => {
    assert.equal(bookWith({}).check('winter', 0).reason, 'unknown');
  });

  it('is good from its first moment on', () => {
    const book = bookWith({ from: JUNE });
    assert.equal(book.check('summer24', JUNE - 1).reason, 'not yet valid');
    assert.equal(book.check('summer24', JUNE).ok, true);
  });

  it('is good up to the moment it ends', () => {
    assert.equal(bookWith({ from: JUNE, until: JULY }).check('summer24', JULY - 1).ok, true);
    assert.equal(bookWith({ until: JULY }).check('summer24', JULY + 1).reason, 'expired');
  });

  it('is expired at the very moment it ends', () => {
    assert.deepEqual(bookWith({ until: JULY }).check('summer24', JULY), {
      ok: false,
      reason: 'expired',
    });
  });

  it('can be redeemed as often as it says', () => {
    const book = bookWith({ uses: 2 });
    assert.equal(book.redeem('summer24', 0).ok, true);
    assert.equal(book.check('summer24', 0).ok, true);
    assert.equal(book.redeem('summer24', 0).ok, true);
    assert.equal(book.redeem('summer24', 0).reason, 'used up');
  });

  it('refuses a second coupon of the same code', () => {
    assert.throws(() => bookWith({}).add('SUMMER24', { promotion }), /exists already/);
  });
});
