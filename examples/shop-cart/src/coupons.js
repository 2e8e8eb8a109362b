'use strict';

/**
 * Coupon codes with a period and a number of uses. `from` is the first moment at which a code is
 * good, `until` the first at which it no longer is (both in milliseconds since 1970).
 */
class CouponBook {
  #coupons = new Map();

  /**
   * @param {string} code
   * @param {{ promotion: object, from?: number, until?: number, uses?: number }} coupon
   */
  add(code, { promotion, from = -Infinity, until = Infinity, uses = Infinity }) {
    const key = normalise(code);
    if (this.#coupons.has(key)) throw new Error(`coupon exists already: ${key}`);
    this.#coupons.set(key, { promotion, from, until, uses, used: 0 });
  }

  /** @returns {{ ok: true, promotion: object } | { ok: false, reason: string }} */
  check(code, now) {
    const coupon = this.#coupons.get(normalise(code));
    if (coupon === undefined) return { ok: false, reason: 'unknown' };
    if (now < coupon.from) return { ok: false, reason: 'not yet valid' };
    if (now > coupon.until) return { ok: false, reason: 'expired' };
    if (coupon.used >= coupon.uses) return { ok: false, reason: 'used up' };
    return { ok: true, promotion: coupon.promotion };
  }

  /** Checks a code and counts one use of it. */
  redeem(code, now) {
    const result = this.check(code, now);
    if (result.ok) this.#coupons.get(normalise(code)).used += 1;
    return result;
  }
}

function normalise(code) {
  return code.trim().toUpperCase();
}

module.exports = { CouponBook };
