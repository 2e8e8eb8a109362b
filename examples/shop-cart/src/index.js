'use strict';

const { Cart } = require('./cart.js');
const { CouponBook } = require('./coupons.js');
const money = require('./money.js');
const promotions = require('./promotions.js');

module.exports = { Cart, CouponBook, money, promotions };
