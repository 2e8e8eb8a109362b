'use strict';

/** Amounts are whole cents. Nothing in this package holds a fraction of a cent. */

const AMOUNT = /^(-?)(\d+)(?:\.(\d{1,2}))?$/;

/**
 * Reads "12", "12.5" or "-12.50" as cents.
 * @param {string} text
 * @returns {number}
 */
function parse(text) {
  const match = AMOUNT.exec(text.trim());
  if (match === null) throw new RangeError(`not an amount: ${text}`);
  const [, sign, units, fraction = ''] = match;
  const cents = Number(units) * 100 + Number(fraction.padEnd(2, '0'));
  return sign === '-' ? -cents : cents;
}

/**
 * @param {number} cents
 * @returns {string} for example "-3.05"
 */
function format(cents) {
  const sign = cents < 0 ? '-' : '';
  const absolute = Math.abs(cents);
  const units = Math.floor(absolute / 100);
  const fraction = String(absolute % 100).padStart(2, '0');
  return `${sign}${units}.${fraction}`;
}

/**
 * A percentage of an amount, rounded to the nearest cent.
 * @param {number} cents
 * @param {number} percent for example 7.5
 */
function percentage(cents, percent) {
  return Math.round((cents * percent) / 100);
}

/**
 * Splits an amount by weights without losing a cent: what is left after rounding down goes to the
 * first shares, one cent each.
 * @param {number} cents not negative
 * @param {number[]} weights
 * @returns {number[]} shares that add up to `cents`
 */
function allocate(cents, weights) {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum <= 0) throw new RangeError('weights must add up to more than zero');
  const shares = weights.map((weight) => Math.round((cents * weight) / sum));
  let left = cents - shares.reduce((total, share) => total + share, 0);
  for (let i = 0; left > 0; i = (i + 1) % shares.length) {
    if (weights[i] === 0) continue;
    shares[i] += 1;
    left -= 1;
  }
  return shares;
}

module.exports = { parse, format, percentage, allocate };
