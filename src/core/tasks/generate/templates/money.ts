import { code } from '../code.ts';
import type { Template } from '../template.ts';

export const moneyTemplates: readonly Template[] = [
  {
    family: 'cart-total',
    make(v) {
      const [items, item, price, quantity] = v.names([
        ['items', 'item', 'price', 'quantity'],
        ['lines', 'line', 'unitPrice', 'count'],
        ['entries', 'entry', 'cost', 'amount'],
      ]);
      const total = v.pick(['subtotal', 'totalOf', 'sumCart', 'cartTotal']);
      const ship = v.pick(['shipping', 'deliveryFee', 'postage']);
      const free = v.int(3, 8) * 10;
      const fee = v.int(3, 9);
      const grand = v.pick(['grandTotal', 'amountDue', 'payable']);
      const entry = (p: number, q: number): string => `{ ${price}: ${p}, ${quantity}: ${q} }`;
      return {
        name: v.pick(['cart', 'basket', 'order-total']),
        source: code`
          const FREE_FROM = ${free};
          const FEE = ${fee};

          ${v.fn(
            total,
            items,
            v.pick([
              code`
                let total = 0;
                ${v.each(items, item, v.plus('total', `${item}.${price} * ${item}.${quantity}`))}
                return total;`,
              `return ${items}.reduce((sum, ${item}) => sum + ${item}.${price} * ${item}.${quantity}, 0);`,
            ]),
          )}

          ${v.doc('Free from a certain amount, and for an empty cart.')}
          ${v.fn(
            ship,
            'sum',
            code`
              ${v.when('sum === 0', 'return 0;')}
              ${v.either('sum >= FREE_FROM', '0', 'FEE')}`,
          )}

          ${v.fn(
            grand,
            items,
            code`
              const sum = ${total}(${items});
              return sum + ${ship}(sum);`,
          )}`,
        cases: [
          ['adds up lines', `${total}([${entry(v.int(2, 9), 2)}, ${entry(v.int(3, 7), 3)}])`],
          ['is zero for an empty cart', `${total}([])`],
          ['charges for small orders', `${ship}(${free - v.int(1, 20)})`],
          ['is free from the limit on', `${ship}(${free})`],
          ['is free above the limit', `${ship}(${free + v.int(1, 50)})`],
          ['charges just below the limit', `${ship}(${free - 1})`],
          ['charges nothing for nothing', `${ship}(0)`],
          ['adds the fee', `${grand}([${entry(v.int(2, 5), v.int(2, 4))}])`],
          ['adds no fee to large orders', `${grand}([${entry(free, 2)}])`],
          ['asks nothing for an empty cart', `${grand}([])`],
        ],
      };
    },
  },
  {
    family: 'discount',
    make(v) {
      const [apply, tiers, amount, rate] = v.names([
        ['applyDiscount', 'TIERS', 'amount', 'percent'],
        ['discounted', 'STEPS', 'price', 'rate'],
        ['reduce', 'LEVELS', 'total', 'off'],
      ]);
      const find = v.pick(['discountFor', 'tierFor', 'levelOf']);
      const one = v.int(2, 5) * 10;
      const two = one + v.int(2, 9) * 10;
      const r1 = v.int(1, 3) * 5;
      const r2 = r1 + v.int(1, 3) * 5;
      const from = v.pick(['from', 'min', 'above']);
      return {
        name: v.pick(['discount', 'rebates', 'price-tiers']),
        source: code`
          ${v.doc('Highest first.')}
          const ${tiers} = [
            { ${from}: ${two}, ${rate}: ${r2} },
            { ${from}: ${one}, ${rate}: ${r1} },
          ];

          ${v.fn(
            find,
            amount,
            v.pick([
              code`
                const tier = ${tiers}.find((entry) => ${amount} >= entry.${from});
                ${v.pick([`return tier ? tier.${rate} : 0;`, `return tier?.${rate} ?? 0;`])}`,
              code`
                ${v.each(tiers, 'tier', v.when(`${amount} >= tier.${from}`, `return tier.${rate};`))}
                return 0;`,
            ]),
          )}

          ${v.fn(
            apply,
            `${amount}${v.chance(0.5) ? ', extra = 0' : ', extra = 5'}`,
            code`
              ${v.when(`${amount} < 0`, `throw new RangeError('${amount} must not be negative');`)}
              const ${rate} = Math.min(${find}(${amount}) + extra, ${v.pick([50, 60, 75])});
              return ${amount} - (${amount} * ${rate}) / 100;`,
          )}`,
        cases: [
          ['gives nothing for small amounts', `${find}(${one - v.int(1, 9)})`],
          ['gives the first level at its limit', `${find}(${one})`],
          ['gives the second level at its limit', `${find}(${two})`],
          ['gives the first level just below the second', `${find}(${two - 1})`],
          ['gives the second level far above', `${find}(${two * 3})`],
          ['takes the discount off', `${apply}(${two}, 0)`],
          ['adds an extra discount', `${apply}(${one * 2}, ${v.int(1, 9)})`],
          ['has an upper limit', `${apply}(100, 90)`],
          ['uses the usual extra', `${apply}(${one - 4})`],
          ['refuses negative amounts', `${apply}(-1)`],
        ],
      };
    },
  },
  {
    family: 'tax',
    make(v) {
      const [gross, net, tax] = v.names([
        ['toGross', 'toNet', 'taxOf'],
        ['addTax', 'removeTax', 'taxIn'],
        ['withVat', 'withoutVat', 'vatOf'],
      ]);
      const rates = v.pick(['RATES', 'TAX', 'PERCENT']);
      const high = v.pick([19, 20, 21, 25]);
      const low = v.pick([5, 7, 9, 10]);
      const kind = v.pick(['kind', 'category', 'type']);
      const [a, b] = v.names([
        ['standard', 'reduced'],
        ['normal', 'food'],
        ['full', 'books'],
      ]);
      return {
        name: v.pick(['tax', 'vat', 'tax-rates']),
        source: code`
          const ${rates} = { ${a}: ${high}, ${b}: ${low} };

          ${v.local(
            'rateOf',
            kind,
            code`
              const rate = ${rates}[${kind}];
              ${v.when('rate === undefined', `throw new Error(\`unknown ${kind}: \${${kind}}\`);`)}
              return rate;`,
          )}

          ${v.doc('Amounts are in cents.')}
          ${v.fn(gross, `cents, ${kind} = '${a}'`, `return Math.round(cents * (1 + rateOf(${kind}) / 100));`)}

          ${v.fn(net, `cents, ${kind} = '${a}'`, `return Math.round(cents / (1 + rateOf(${kind}) / 100));`)}

          ${v.fn(tax, `cents, ${kind} = '${a}'`, `return cents - ${net}(cents, ${kind});`)}`,
        cases: [
          ['adds the usual rate', `${gross}(${v.int(2, 90) * 100})`],
          ['adds the lower rate', `${gross}(${v.int(2, 90) * 100}, '${b}')`],
          ['rounds to whole cents', `${gross}(${v.int(101, 199)})`],
          ['takes the usual rate out', `${net}(${v.int(2, 90) * 100})`],
          ['takes the lower rate out', `${net}(${v.int(200, 900)}, '${b}')`],
          ['says how much tax is in it', `${tax}(${v.int(20, 90) * 100})`],
          ['goes there and back', `${net}(${gross}(${v.int(1000, 9000)}))`],
          ['refuses an unknown rate', `${gross}(100, 'none')`],
          ['taxes nothing with nothing', `${tax}(0)`],
        ],
      };
    },
  },
  {
    family: 'split-amount',
    make(v) {
      const [fn, total, parts] = v.names([
        ['splitEvenly', 'cents', 'people'],
        ['divideBill', 'total', 'guests'],
        ['allocate', 'amount', 'shares'],
      ]);
      const weighted = v.pick(['splitByWeight', 'proportional', 'allocateBy']);
      const first = v.chance(0.5);
      return {
        name: v.pick(['split', 'bill', 'allocation']),
        source: code`
          ${v.doc(`Whole cents; the ${first ? 'first' : 'last'} ones carry what is left over.`)}
          ${v.fn(
            fn,
            `${total}, ${parts}`,
            code`
              ${v.when(`${parts} < 1`, `throw new RangeError('nobody to split between');`)}
              const base = Math.floor(${total} / ${parts});
              const rest = ${total} % ${parts};
              const result = [];
              for (let i = 0; i < ${parts}; i += 1) {
                result.push(i ${first ? '< rest' : `>= ${parts} - rest`} ? base + 1 : base);
              }
              return result;`,
          )}

          ${v.fn(
            weighted,
            `${total}, weights`,
            code`
              const sum = weights.reduce((a, b) => a + b, 0);
              ${v.when('sum === 0', 'return weights.map(() => 0);')}
              const result = weights.map((weight) => Math.floor((${total} * weight) / sum));
              const rest = ${total} - result.reduce((a, b) => a + b, 0);
              result[0] += rest;
              return result;`,
          )}`,
        cases: [
          ['splits without a rest', `${fn}(${v.int(2, 9) * 12}, ${v.pick([2, 3, 4])})`],
          ['spreads the rest', `${fn}(${v.int(3, 9) * 10 + 1}, 4)`],
          ['spreads a rest of two', `${fn}(${v.int(3, 9) * 5 + 2}, 5)`],
          ['gives all to one', `${fn}(${v.int(3, 90)}, 1)`],
          ['splits less than one each', `${fn}(2, 5)`],
          ['refuses nobody', `${fn}(10, 0)`],
          ['splits by weight', `${weighted}(100, [1, ${v.int(1, 3)}, 1])`],
          ['gives the rest to the first', `${weighted}(10, [1, 1, 1])`],
          ['gives nothing without weights', `${weighted}(50, [0, 0])`],
        ],
      };
    },
  },
  {
    family: 'format-money',
    make(v) {
      const [fn, parse, cents] = v.names([
        ['formatMoney', 'parseMoney', 'cents'],
        ['toPrice', 'fromPrice', 'amount'],
        ['showAmount', 'readAmount', 'minor'],
      ]);
      const symbol = v.pick(['$', '€', '£']);
      const group = v.pick([',', ' ', "'"]);
      const front = v.chance(0.6);
      const text = front
        ? `\${sign}${symbol}\${grouped}.\${rest}`
        : `\${sign}\${grouped}.\${rest} ${symbol}`;
      return {
        name: v.pick(['money', 'price-format', 'amounts']),
        source: code`
          ${v.doc('Cents as text with thousands set apart.')}
          ${v.fn(
            fn,
            cents,
            code`
              const sign = ${cents} < 0 ? '-' : '';
              const value = Math.abs(${cents});
              const whole = String(Math.floor(value / 100));
              const rest = String(value % 100).padStart(2, '0');
              let grouped = '';
              for (let i = 0; i < whole.length; i += 1) {
                ${v.when('i > 0 && (whole.length - i) % 3 === 0', `grouped += ${JSON.stringify(group).replace(/^"|"$/g, group === "'" ? '"' : "'")};`)}
                grouped += whole[i];
              }
              return \`${text}\`;`,
          )}

          ${v.fn(
            parse,
            'text',
            code`
              const digits = text.replace(/[^\d.-]/g, '');
              const value = Number(digits);
              ${v.when("digits === '' || Number.isNaN(value)", 'return null;')}
              return Math.round(value * 100);`,
          )}`,
        cases: [
          ['shows whole amounts', `${fn}(${v.int(1, 99) * 100})`],
          ['shows cents', `${fn}(${v.int(101, 998)})`],
          ['fills up the cents', `${fn}(${v.int(1, 9) * 100 + v.int(1, 9)})`],
          ['groups thousands', `${fn}(${v.int(1000, 9999) * 100})`],
          ['groups millions', `${fn}(${v.int(1, 9)}23456789)`],
          ['shows nothing as zero', `${fn}(0)`],
          ['shows debts', `${fn}(-${v.int(100, 999)})`],
          ['reads an amount', `${parse}('${symbol}${v.int(1, 99)}.50')`],
          ['reads a debt', `${parse}('-${v.int(1, 99)}')`],
          ['cannot read words', `${parse}('free')`],
        ],
      };
    },
  },
  {
    family: 'interest',
    make(v) {
      const [fn, rate, years, principal] = v.names([
        ['compound', 'rate', 'years', 'principal'],
        ['grow', 'percent', 'periods', 'amount'],
        ['savings', 'interest', 'months', 'start'],
      ]);
      const until = v.pick(['yearsUntil', 'periodsToReach', 'timeToGoal']);
      const deposit = v.chance(0.6);
      return {
        name: v.pick(['interest', 'savings', 'growth']),
        source: code`
          ${v.doc(`The balance after ${years}, rounded down to whole units.`)}
          ${v.fn(
            fn,
            `${principal}, ${rate}, ${years}${deposit ? ', deposit = 0' : ''}`,
            code`
              let balance = ${principal};
              for (let i = 0; i < ${years}; i += 1) {
                balance = Math.floor(balance * (1 + ${rate} / 100))${deposit ? ' + deposit' : ''};
              }
              return balance;`,
          )}

          ${v.fn(
            until,
            `${principal}, ${rate}, goal`,
            code`
              ${v.when(`${rate} <= 0`, `return ${principal} >= goal ? 0 : Infinity;`)}
              let count = 0;
              let balance = ${principal};
              while (balance < goal && count < ${v.pick([100, 200, 500])}) {
                balance *= 1 + ${rate} / 100;
                ${v.step('count')}
              }
              return count;`,
          )}`,
        cases: [
          ['grows for one period', `${fn}(1000, ${v.int(1, 9)}, 1)`],
          [
            'grows for several periods',
            `${fn}(${v.int(2, 9) * 1000}, ${v.int(2, 6)}, ${v.int(2, 5)})`,
          ],
          ['stays the same without a period', `${fn}(${v.int(100, 900)}, 5, 0)`],
          ['stays the same without interest', `${fn}(${v.int(100, 900)}, 0, 3)`],
          ...(deposit
            ? ([['adds what is paid in', `${fn}(100, 10, 2, ${v.int(10, 50)})`]] as const)
            : []),
          ['counts until the goal', `${until}(100, 10, ${v.int(120, 200)})`],
          ['is there already', `${until}(100, 5, 100)`],
          ['needs one period for little more', `${until}(100, 5, 105)`],
          ['never gets there without interest', `${until}(10, 0, 20)`],
        ],
      };
    },
  },
];
