'use strict';

const { percentage } = require('./money.js');

/**
 * A promotion looks at the lines of a cart and says how many cents it takes off.
 * @typedef {{ sku: string, price: number, quantity: number }} Line
 * @typedef {{ name: string, discount(lines: Line[]): number }} Promotion
 */

const subtotalOf = (lines) => lines.reduce((sum, line) => sum + line.price * line.quantity, 0);

/** @returns {Promotion} */
function percentOff(percent, { minimum = 0 } = {}) {
  return {
    name: `${percent}% off`,
    discount(lines) {
      const subtotal = subtotalOf(lines);
      return subtotal >= minimum ? percentage(subtotal, percent) : 0;
    },
  };
}

/**
 * Of every `buy + free` units of one article, `free` cost nothing.
 * @returns {Promotion}
 */
function buyGetFree(sku, buy, free) {
  return {
    name: `buy ${buy}, get ${free} free`,
    discount(lines) {
      let cents = 0;
      for (const line of lines) {
        if (line.sku !== sku) continue;
        const groups = Math.floor(line.quantity / buy);
        cents += groups * free * line.price;
      }
      return cents;
    },
  };
}

/**
 * Takes a fixed amount off, but never more than the goods cost.
 * @returns {Promotion}
 */
function amountOff(cents) {
  return {
    name: `${cents} cents off`,
    discount: (lines) => Math.min(cents, subtotalOf(lines)),
  };
}

/** The promotion that takes off most; the first of equals. */
function best(promotions, lines) {
  let winner;
  let most = 0;
  for (const promotion of promotions) {
    const cents = promotion.discount(lines);
    if (cents > most) {
      winner = promotion;
      most = cents;
    }
  }
  return { promotion: winner, cents: most };
}

module.exports = { percentOff, buyGetFree, amountOff, best, subtotalOf };
