'use strict';

const { percentage } = require('./money.js');
const { best, subtotalOf } = require('./promotions.js');

/**
 * @typedef {{ sku: string, name: string, price: number, options: Record<string, string>, quantity: number }} Line
 */

const MAX_QUANTITY = 99;

const DEFAULT_SHIPPING = { fee: 490, freeFrom: 5000 };

class Cart {
  #lines = new Map();
  #promotions = [];

  /**
   * @param {{ taxPercent?: number, shipping?: { fee: number, freeFrom: number } }} settings
   */
  constructor({ taxPercent = 19, shipping = DEFAULT_SHIPPING } = {}) {
    this.taxPercent = taxPercent;
    this.shipping = shipping;
  }

  /**
   * Adds units of an article. The same article with the same options is one line.
   * @param {{ sku: string, name: string, price: number }} article
   */
  add(article, quantity = 1, options = {}) {
    if (!Number.isInteger(article.price) || article.price < 0) {
      throw new RangeError(`price must be whole cents: ${article.price}`);
    }
    const key = lineKey(article.sku, options);
    const present = this.#lines.get(key);
    const total = (present?.quantity ?? 0) + quantity;
    checkQuantity(total);
    this.#lines.set(key, { ...article, options: { ...options }, quantity: total });
    return this;
  }

  /** Sets the quantity of a line; zero removes it. */
  setQuantity(sku, quantity, options = {}) {
    const key = lineKey(sku, options);
    const line = this.#lines.get(key);
    if (line === undefined) throw new Error(`not in the cart: ${sku}`);
    if (quantity === 0) {
      this.#lines.delete(key);
      return this;
    }
    checkQuantity(quantity);
    this.#lines.set(key, { ...line, quantity });
    return this;
  }

  remove(sku, options = {}) {
    return this.setQuantity(sku, 0, options);
  }

  addPromotion(promotion) {
    this.#promotions.push(promotion);
    return this;
  }

  /** @returns {Line[]} in the order in which they were first added */
  get lines() {
    return [...this.#lines.values()];
  }

  get units() {
    return this.lines.reduce((sum, line) => sum + line.quantity, 0);
  }

  /**
   * All amounts in cents. Prices are net; tax is due on goods and shipping.
   */
  summary() {
    const lines = this.lines;
    const subtotal = subtotalOf(lines);
    const { promotion, cents: discount } = best(this.#promotions, lines);
    const goods = subtotal - discount;
    const shipping = this.#shippingFor(subtotal);
    const tax = percentage(goods + shipping, this.taxPercent);
    return {
      subtotal,
      discount,
      promotion: promotion?.name,
      shipping,
      tax,
      total: goods + shipping + tax,
    };
  }

  #shippingFor(goods) {
    if (this.units === 0) return 0;
    return goods >= this.shipping.freeFrom ? 0 : this.shipping.fee;
  }

  toJSON() {
    return { lines: this.lines, ...this.summary() };
  }
}

function lineKey(sku, options) {
  const parts = Object.keys(options).sort();
  return [sku, ...parts].join('|');
}

function checkQuantity(quantity) {
  if (!Number.isInteger(quantity) || quantity < 1) {
    throw new RangeError(`quantity must be a positive whole number: ${quantity}`);
  }
  if (quantity > MAX_QUANTITY) {
    throw new RangeError(`at most ${MAX_QUANTITY} of one article: ${quantity}`);
  }
}

module.exports = { Cart, MAX_QUANTITY };
