import { code } from '../code.ts';
import type { Template } from '../template.ts';

export const numberTemplates: readonly Template[] = [
  {
    family: 'clamp',
    make(v) {
      const fn = v.pick(['clamp', 'limit', 'bound', 'constrain', 'keepWithin']);
      const [x, low, high] = v.names([
        ['value', 'min', 'max'],
        ['n', 'low', 'high'],
        ['amount', 'lower', 'upper'],
        ['x', 'from', 'to'],
      ]);
      const checked = v.chance(0.6);
      const ratio = v.chance(0.5);
      const fraction = v.pick(['fraction', 'progress', 'share']);
      const body = v.pick([
        code`
          ${v.when(`${x} < ${low}`, `return ${low};`)}
          ${v.when(`${x} > ${high}`, `return ${high};`)}
          return ${x};`,
        `return Math.min(Math.max(${x}, ${low}), ${high});`,
        code`
          const raised = Math.max(${low}, ${x});
          ${v.either(`raised > ${high}`, high, 'raised')}`,
      ]);
      const guard = checked
        ? v.when(`${low} > ${high}`, `throw new RangeError('${low} is above ${high}');`)
        : '';
      const a = v.int(-9, 4);
      const b = a + v.int(3, 20);
      return {
        name: fn === 'clamp' ? 'clamp' : fn.toLowerCase(),
        source: code`
          ${v.doc(`Keeps ${x} between ${low} and ${high}.`, 'Both ends belong to the range.')}
          ${v.fn(fn, `${x}, ${low}, ${high}`, `${guard}\n${body}`.trim())}

          ${
            ratio
              ? v.fn(
                  fraction,
                  `${x}, ${low}, ${high}`,
                  code`
                    ${v.when(`${low} === ${high}`, 'return 0;')}
                    return (${fn}(${x}, ${low}, ${high}) - ${low}) / (${high} - ${low});`,
                )
              : ''
          }`,
        cases: [
          ['keeps a value inside', `${fn}(${a + 1}, ${a}, ${b})`],
          ['raises a value below', `${fn}(${a - v.int(1, 9)}, ${a}, ${b})`],
          ['lowers a value above', `${fn}(${b + v.int(1, 9)}, ${a}, ${b})`],
          ['keeps the lower end', `${fn}(${a}, ${a}, ${b})`],
          ['keeps the upper end', `${fn}(${b}, ${a}, ${b})`],
          ['works with a range of one value', `${fn}(${v.int(1, 9)}, ${b}, ${b})`],
          ['works with fractions', `${fn}(${b}.5, ${a}, ${b}.25)`],
          ['handles a range that is turned round', `${fn}(0, ${b}, ${a})`],
          ...(ratio
            ? ([
                ['gives the fraction in the middle', `${fraction}(${a + 2}, ${a}, ${a + 8})`],
                ['gives 0 for an empty range', `${fraction}(5, 5, 5)`],
                ['gives 1 above the range', `${fraction}(${b + 3}, ${a}, ${b})`],
              ] as const)
            : []),
        ],
      };
    },
  },
  {
    family: 'range',
    make(v) {
      const fn = v.pick(['range', 'sequence', 'series', 'numbersFrom']);
      const [start, end, step] = v.names([
        ['start', 'end', 'step'],
        ['from', 'to', 'by'],
        ['first', 'last', 'stride'],
      ]);
      const inclusive = v.chance(0.5);
      const down = v.chance(0.6);
      const list = v.pick(['result', 'numbers', 'values', 'out']);
      const op = inclusive ? '<=' : '<';
      const opDown = inclusive ? '>=' : '>';
      const fallback = v.int(1, 3);
      const up = code`
        for (let i = ${start}; i ${op} ${end}; i += ${step}) {
          ${list}.push(i);
        }`;
      const loop = v.pick([
        up,
        code`
          let next = ${start};
          while (next ${op} ${end}) {
            ${list}.push(next);
            next += ${step};
          }`,
      ]);
      return {
        name: v.pick(['range', 'sequence', 'number-range']),
        source: code`
          ${v.doc(
            inclusive
              ? `All numbers from ${start} to ${end}.`
              : `Numbers up to ${end}, without it.`,
          )}
          ${v.fn(
            fn,
            `${start}, ${end}, ${step} = ${fallback}`,
            code`
              ${v.when(`${step} === 0`, `throw new RangeError('${step} must not be 0');`)}
              const ${list} = [];
              ${
                down
                  ? v.when(
                      `${step} < 0`,
                      code`
                        for (let i = ${start}; i ${opDown} ${end}; i += ${step}) ${list}.push(i);
                        return ${list};`,
                    )
                  : ''
              }
              ${loop}
              return ${list};`,
          )}`,
        cases: [
          ['counts up', `${fn}(${v.int(0, 3)}, ${v.int(6, 9)})`],
          ['takes steps', `${fn}(0, ${v.int(9, 12)}, ${v.int(2, 4)})`],
          ['meets the end exactly', `${fn}(2, 10, 4)`],
          ['is empty when the end comes first', `${fn}(5, 1)`],
          ['handles equal ends', `${fn}(4, 4)`],
          ['starts below zero', `${fn}(-${v.int(2, 5)}, 2)`],
          ['refuses a step of zero', `${fn}(0, 3, 0)`],
          ...(down ? ([['counts down', `${fn}(${v.int(5, 9)}, 1, -2)`]] as const) : []),
        ],
      };
    },
  },
  {
    family: 'average',
    make(v) {
      const [mean, spread, list] = v.names([
        ['mean', 'variance', 'values'],
        ['average', 'spread', 'numbers'],
        ['meanOf', 'varianceOf', 'samples'],
      ]);
      const median = v.pick(['median', 'middle', 'medianOf']);
      const withMedian = v.chance(0.6);
      const empty = v.pick(['0', 'null', 'NaN']);
      const sample = v.chance(0.5);
      const sum = v.pick([
        code`
          let total = 0;
          ${v.each(list, 'value', v.plus('total', 'value'))}
          return total / ${list}.length;`,
        `return ${list}.reduce((total, value) => total + value, 0) / ${list}.length;`,
      ]);
      const few = sample ? 2 : 1;
      return {
        name: v.pick(['statistics', 'stats', 'averages']),
        source: code`
          ${v.doc('The arithmetic mean.')}
          ${v.fn(mean, list, `${v.when(`${list}.length === 0`, `return ${empty};`)}\n${sum}`)}

          ${v.doc('Mean squared distance from the mean.')}
          ${v.fn(
            spread,
            list,
            code`
              ${v.when(`${list}.length < ${few}`, 'return 0;')}
              const centre = ${mean}(${list});
              let sum = 0;
              ${v.each(list, 'value', v.plus('sum', '(value - centre) ** 2'))}
              return sum / ${sample ? `(${list}.length - 1)` : `${list}.length`};`,
          )}

          ${
            withMedian
              ? v.fn(
                  median,
                  list,
                  code`
                    const sorted = [...${list}].sort((a, b) => a - b);
                    const half = Math.floor(sorted.length / 2);
                    ${v.either('sorted.length % 2 === 1', 'sorted[half]', '(sorted[half - 1] + sorted[half]) / 2')}`,
                )
              : ''
          }`,
        cases: [
          ['averages numbers', `${mean}([${v.int(1, 5)}, ${v.int(6, 9)}, ${v.int(10, 20)}, 4])`],
          ['averages one number', `${mean}([${v.int(2, 30)}])`],
          ['handles an empty list', `${mean}([])`],
          ['measures how far numbers lie apart', `${spread}([2, 4, 4, 6])`],
          ['has no spread among equal numbers', `${spread}([3, 3, 3])`],
          ['has no spread for one number', `${spread}([${v.int(2, 9)}])`],
          ['measures two numbers', `${spread}([1, ${v.int(3, 9) * 2 + 1}])`],
          ...(withMedian
            ? ([
                ['finds the middle of an odd count', `${median}([9, ${v.int(1, 4)}, 100, 5, 7])`],
                ['averages the two in the middle', `${median}([10, 2, 8, 4])`],
                [
                  'leaves the list as it was',
                  'const list = [3, 1, 2];',
                  `${median}(list);`,
                  'list',
                ],
              ] as const)
            : []),
        ],
      };
    },
  },
  {
    family: 'rounding',
    make(v) {
      const [round, digits, x] = v.names([
        ['roundTo', 'digits', 'value'],
        ['toFixedNumber', 'places', 'number'],
        ['roundAt', 'decimals', 'x'],
      ]);
      const nearest = v.pick(['nearestMultiple', 'snap', 'roundToStep']);
      const direction = v.pick(['floor', 'ceil', 'round']);
      const step = v.pick(['step', 'size', 'grid']);
      const factor = v.pick([`10 ** ${digits}`, `Math.pow(10, ${digits})`]);
      return {
        name: v.pick(['rounding', 'round', 'precision']),
        source: code`
          ${v.doc(`Rounds to a number of ${digits}.`)}
          ${v.fn(
            round,
            `${x}, ${digits} = ${v.pick([0, 1, 2])}`,
            v.pick([
              code`
                const factor = ${factor};
                return Math.round(${x} * factor) / factor;`,
              code`
                ${v.when(`${digits} < 0`, `throw new RangeError('${digits} must not be negative');`)}
                const factor = ${factor};
                return Math.round(${x} * factor) / factor;`,
            ]),
          )}

          ${v.doc(`The multiple of ${step} that belongs to ${x}.`)}
          ${v.fn(
            nearest,
            `${x}, ${step}${v.chance(0.5) ? ', offset = 0' : ''}`,
            code`
              ${v.when(`${step} <= 0`, `return ${x};`)}
              return Math.${direction}(${x} / ${step}) * ${step};`,
          )}`,
        cases: [
          ['rounds to two places', `${round}(${v.int(1, 9)}.4567, 2)`],
          ['rounds to one place', `${round}(2.25, 1)`],
          ['uses the usual number of places', `${round}(${v.int(1, 9)}.127)`],
          ['keeps whole numbers', `${round}(${v.int(10, 99)}, 3)`],
          ['rounds negative numbers', `${round}(-1.234, 2)`],
          ['goes to a multiple', `${nearest}(${v.int(21, 39)}, 10)`],
          ['keeps a multiple', `${nearest}(${v.int(2, 6) * 5}, 5)`],
          ['works with small steps', `${nearest}(1.6, 0.5)`],
          ['leaves the number alone without a step', `${nearest}(7.3, 0)`],
        ],
      };
    },
  },
  {
    family: 'percent',
    make(v) {
      const [change, share, before, after] = v.names([
        ['percentChange', 'percentOf', 'before', 'after'],
        ['growth', 'shareOf', 'old', 'current'],
        ['changeInPercent', 'portion', 'from', 'to'],
      ]);
      const format = v.pick(['formatPercent', 'asPercent', 'label']);
      const signed = v.chance(0.5);
      return {
        name: v.pick(['percent', 'percentages', 'growth-rate']),
        source: code`
          ${v.doc('How much it grew, in percent.')}
          ${v.fn(
            change,
            `${before}, ${after}`,
            code`
              ${v.when(`${before} === 0`, `return ${v.pick(['0', 'null', 'Infinity'])};`)}
              return ((${after} - ${before}) / ${v.pick([before, `Math.abs(${before})`])}) * 100;`,
          )}

          ${v.fn(share, 'part, total', v.either('total === 0', '0', '(part / total) * 100'))}

          ${v.fn(
            format,
            'value, digits = 1',
            code`
              ${signed ? "const sign = value > 0 ? '+' : '';" : ''}
              return \`${signed ? code`\${sign}` : ''}\${value.toFixed(digits)}${v.pick([' %', '%'])}\`;`,
          )}`,
        cases: [
          ['sees growth', `${change}(${v.int(2, 8) * 10}, ${v.int(9, 14) * 10})`],
          ['sees a loss', `${change}(80, ${v.int(2, 7) * 10})`],
          ['sees no change', `${change}(${v.int(1, 4) * 25}, 75)`],
          ['handles a start at zero', `${change}(0, 5)`],
          ['handles a negative start', `${change}(-10, ${v.int(1, 9)})`],
          ['gives a share', `${share}(${v.int(1, 9)}, 20)`],
          ['gives no share of nothing', `${share}(3, 0)`],
          ['writes a number', `${format}(${v.int(1, 60)}.25)`],
          ['writes without digits', `${format}(${v.int(10, 60)}, 0)`],
          ['writes a negative number', `${format}(-${v.int(1, 9)}.5)`],
        ],
      };
    },
  },
  {
    family: 'divisors',
    make(v) {
      const [gcd, lcm, a, b] = v.names([
        ['gcd', 'lcm', 'a', 'b'],
        ['greatestCommonDivisor', 'leastCommonMultiple', 'x', 'y'],
        ['commonDivisor', 'commonMultiple', 'm', 'n'],
      ]);
      const prime = v.pick(['isPrime', 'isPrimeNumber']);
      const withPrime = v.chance(0.6);
      const algorithm = v.pick([
        code`
          let [p, q] = [Math.abs(${a}), Math.abs(${b})];
          while (q !== 0) {
            [p, q] = [q, p % q];
          }
          return p;`,
        v.either(`${b} === 0`, `Math.abs(${a})`, `${gcd}(${b}, ${a} % ${b})`),
        code`
          let p = Math.abs(${a});
          let q = Math.abs(${b});
          while (q > 0) {
            const rest = p % q;
            p = q;
            q = rest;
          }
          return p;`,
      ]);
      return {
        name: v.pick(['divisors', 'fractions', 'integers']),
        source: code`
          ${v.doc('The largest number that divides both.')}
          ${v.fn(gcd, `${a}, ${b}`, algorithm)}

          ${v.fn(
            lcm,
            `${a}, ${b}`,
            code`
              ${v.when(`${a} === 0 || ${b} === 0`, 'return 0;')}
              return Math.abs(${a} * ${b}) / ${gcd}(${a}, ${b});`,
          )}

          ${
            withPrime
              ? v.fn(
                  prime,
                  'n',
                  code`
                    ${v.when('n < 2', 'return false;')}
                    for (let d = 2; d * d <= n; d += 1) {
                      ${v.when('n % d === 0', 'return false;')}
                    }
                    return true;`,
                )
              : ''
          }`,
        cases: [
          ['finds a common divisor', `${gcd}(${v.int(2, 9) * 6}, ${v.int(2, 9) * 4})`],
          ['gives 1 when nothing is shared', `${gcd}(9, 28)`],
          ['takes zero', `${gcd}(${v.int(3, 12)}, 0)`],
          ['takes negative numbers', `${gcd}(-12, ${v.int(2, 6) * 3})`],
          ['finds a common multiple', `${lcm}(${v.int(2, 9)}, ${v.int(2, 9) * 2})`],
          ['has no multiple with zero', `${lcm}(0, 5)`],
          ['gives positive multiples', `${lcm}(-4, 6)`],
          ...(withPrime
            ? ([
                ['knows small primes', `[2, 3, 5, 7].every((n) => ${prime}(n))`],
                ['knows that squares are not prime', `${prime}(${v.pick([9, 25, 49])})`],
                ['does not count 1', `${prime}(1)`],
              ] as const)
            : []),
        ],
      };
    },
  },
  {
    family: 'units',
    make(v) {
      const [big, small, factor, symbol, unit] = v.names([
        ['toCelsius', 'toFahrenheit', '', '°', ''],
        ['toKilometres', 'toMiles', '1.6', '', ''],
        ['toPounds', 'toKilograms', '0.45', '', ''],
      ]);
      const temperature = factor === '';
      const table = v.pick(['UNITS', 'FACTORS', 'SIZES']);
      const human = v.pick(['formatSize', 'humanSize', 'readableBytes']);
      const base = v.pick([1000, 1024]);
      return {
        name: v.pick(['units', 'convert', 'measures']),
        source: code`
          const ${table} = ['B', 'kB', 'MB', 'GB'];

          ${v.fn(big, 'value', temperature ? 'return ((value - 32) * 5) / 9;' : `return value * ${factor};`)}

          ${v.fn(small, 'value', temperature ? 'return (value * 9) / 5 + 32;' : `return value / ${factor};`)}

          ${v.doc(`A size for people, in steps of ${base}.`)}
          ${v.fn(
            human,
            'bytes',
            code`
              let size = bytes;
              let index = 0;
              while (size >= ${base} && index < ${table}.length - 1) {
                size /= ${base};
                ${v.step('index')}
              }
              const digits = index === 0 ? 0 : 1;
              return \`\${size.toFixed(digits)} \${${table}[index]}\`;`,
          )}`,
        cases: [
          ['converts in one direction', `${big}(${v.int(3, 20) * 9 + 5})`],
          ['converts in the other direction', `${small}(${v.int(1, 9) * 10})`],
          ['comes back to the same number', `Math.round(${small}(${big}(${v.int(20, 90)})))`],
          [`shows small sizes ${symbol}${unit}`.trim(), `${human}(${v.int(1, 900)})`],
          ['shows the first step', `${human}(${base})`],
          ['stays below the first step', `${human}(${base - 1})`],
          ['shows thousands', `${human}(${v.int(2, 9)} * ${base} + ${base / 2})`],
          ['shows millions', `${human}(${v.int(2, 9)} * ${base} ** 2)`],
          ['does not go beyond the last unit', `${human}(${v.int(2, 5)} * ${base} ** 4)`],
          ['shows zero', `${human}(0)`],
        ],
      };
    },
  },
  {
    family: 'intervals',
    make(v) {
      const [overlap, merge, list] = v.names([
        ['overlaps', 'mergeIntervals', 'intervals'],
        ['intersects', 'combine', 'ranges'],
        ['touches', 'joinSpans', 'spans'],
      ]);
      const [s, e] = v.names([
        ['start', 'end'],
        ['from', 'to'],
        ['begin', 'until'],
      ]);
      const total = v.pick(['totalLength', 'coverage', 'covered']);
      const closed = v.chance(0.5);
      const op = closed ? '<=' : '<';
      const item = (a: number, b: number): string => `{ ${s}: ${a}, ${e}: ${b} }`;
      const k = v.int(1, 5);
      return {
        name: v.pick(['intervals', 'spans', 'ranges']),
        source: code`
          ${v.doc(closed ? 'Intervals that only meet overlap.' : 'Intervals that only meet do not overlap.')}
          ${v.fn(overlap, 'a, b', `return a.${s} ${op} b.${e} && b.${s} ${op} a.${e};`)}

          ${v.doc('Puts intervals together that overlap or meet.')}
          ${v.fn(
            merge,
            list,
            code`
              const sorted = [...${list}].sort((a, b) => a.${s} - b.${s});
              const merged = [];
              for (const next of sorted) {
                const last = merged[merged.length - 1];
                if (last && next.${s} <= last.${e}) {
                  last.${e} = Math.max(last.${e}, next.${e});
                } else {
                  merged.push({ ...next });
                }
              }
              return merged;`,
          )}

          ${v.fn(
            total,
            list,
            v.pick([
              `return ${merge}(${list}).reduce((sum, part) => sum + part.${e} - part.${s}, 0);`,
              code`
                let sum = 0;
                for (const part of ${merge}(${list})) {
                  ${v.plus('sum', `part.${e} - part.${s}`)}
                }
                return sum;`,
            ]),
          )}`,
        cases: [
          ['sees an overlap', `${overlap}(${item(k, k + 4)}, ${item(k + 2, k + 9)})`],
          ['sees a gap', `${overlap}(${item(k, k + 2)}, ${item(k + 3, k + 9)})`],
          ['decides about intervals that meet', `${overlap}(${item(0, k)}, ${item(k, k + 1)})`],
          ['sees one inside the other', `${overlap}(${item(k, k + 9)}, ${item(k + 2, k + 3)})`],
          ['merges what overlaps', `${merge}([${item(k, k + 4)}, ${item(k + 2, k + 6)}])`],
          ['merges what meets', `${merge}([${item(0, k)}, ${item(k, k + 2)}])`],
          ['keeps what is apart, in order', `${merge}([${item(9, 10)}, ${item(1, 2)}])`],
          ['keeps the longer end', `${merge}([${item(0, 20)}, ${item(k, k + 2)}])`],
          [
            'counts what is covered once',
            `${total}([${item(0, 5)}, ${item(3, 8)}, ${item(10, 11)}])`,
          ],
          ['covers nothing without intervals', `${total}([])`],
        ],
      };
    },
  },
];
