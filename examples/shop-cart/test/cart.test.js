'use strict';

const { describe, it } = require('node:test');
const assert = require('node:assert/strict');
const { Cart, promotions } = require('../src/index.js');

const shirt = { sku: 'shirt', name: 'T-shirt', price: 1900 };
const mug = { sku: 'mug', name: 'Mug', price: 850 };

describe('lines', () => {
  it('adds up units of the same article', () => {
    const cart = new Cart().add(mug).add(shirt).add(mug, 2);
    assert.deepEqual(
      cart.lines.map((line) => [line.sku, line.quantity]),
      [
        ['mug', 3],
        ['shirt', 1],
      ],
    );
    assert.equal(cart.units, 4);
  });

  it('treats options in any order as the same', () => {
    const cart = new Cart()
      .add(shirt, 1, { size: 'M', colour: 'red' })
      .add(shirt, 1, { colour: 'red', size: 'M' });
    assert.equal(cart.lines.length, 1);
  });

  it('keeps an article with other options apart', () => {
    const cart = new Cart().add(shirt, 2, { size: 'M' }).add(shirt, 1, { size: 'L' });
    assert.deepEqual(
      cart.lines.map((line) => [line.options.size, line.quantity]),
      [
        ['M', 2],
        ['L', 1],
      ],
    );
  });

  it('changes and removes a line', () => {
    const cart = new Cart().add(mug, 4).add(shirt);
    cart.setQuantity('mug', 2);
    assert.equal(cart.units, 3);
    cart.remove('shirt');
    assert.deepEqual(
      cart.lines.map((line) => line.sku),
      ['mug'],
    );
    assert.throws(() => cart.remove('shirt'), /not in the cart/);
  });

  it('accepts 1 to 99 units', () => {
    assert.equal(new Cart().add(mug, 99).units, 99);
    assert.throws(() => new Cart().add(mug, 99).add(mug), /at most 99/);
    assert.throws(() => new Cart().add(mug, 0), /positive/);
    assert.throws(() => new Cart().add(mug, 1.5), /whole number/);
  });

  it('refuses prices that are not whole cents', () => {
    assert.throws(() => new Cart().add({ sku: 'x', name: 'X', price: 9.99 }), RangeError);
  });
});

describe('summary', () => {
  it('of an empty cart is zero', () => {
    assert.equal(new Cart().summary().total, 0);
  });

  it('adds shipping and tax', () => {
    const summary = new Cart({ taxPercent: 10 }).add(mug).summary();
    assert.deepEqual(summary, {
      subtotal: 850,
      discount: 0,
      promotion: undefined,
      shipping: 490,
      tax: 134,
      total: 1474,
    });
  });

  it('ships for free from the limit on', () => {
    const settings = { taxPercent: 0, shipping: { fee: 500, freeFrom: 1700 } };
    assert.equal(new Cart(settings).add(mug, 2).summary().shipping, 0);
    assert.equal(new Cart(settings).add(mug, 1).summary().shipping, 500);
  });

  it('looks at what is paid for the goods to decide on shipping', () => {
    const settings = { taxPercent: 0, shipping: { fee: 500, freeFrom: 1700 } };
    const cart = new Cart(settings).add(mug, 2).addPromotion(promotions.percentOff(10));
    assert.deepEqual(cart.summary(), {
      subtotal: 1700,
      discount: 170,
      promotion: '10% off',
      shipping: 500,
      tax: 0,
      total: 2030,
    });
  });

  it('takes tax off the discounted goods', () => {
    const cart = new Cart({ taxPercent: 10, shipping: { fee: 0, freeFrom: 0 } })
      .add(shirt)
      .addPromotion(promotions.amountOff(900));
    assert.equal(cart.summary().tax, 100);
    assert.equal(cart.summary().total, 1100);
  });

  it('is part of the JSON form', () => {
    const json = JSON.parse(JSON.stringify(new Cart().add(mug)));
    assert.equal(json.lines[0].name, 'Mug');
    assert.equal(json.subtotal, 850);
  });
});
