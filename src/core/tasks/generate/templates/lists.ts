import { code } from '../code.ts';
import type { Template } from '../template.ts';

export const listTemplates: readonly Template[] = [
  {
    family: 'chunk',
    make(v) {
      const [fn, list, size] = v.names([
        ['chunk', 'items', 'size'],
        ['batches', 'list', 'limit'],
        ['groupsOf', 'values', 'length'],
      ]);
      const windows = v.pick(['windows', 'slidingWindows', 'neighbours']);
      const split = v.pick([
        code`
          const result = [];
          for (let i = 0; i < ${list}.length; i += ${size}) {
            result.push(${list}.slice(i, i + ${size}));
          }
          return result;`,
        code`
          const result = [];
          let part = [];
          for (const item of ${list}) {
            part.push(item);
            if (part.length === ${size}) {
              result.push(part);
              part = [];
            }
          }
          ${v.when('part.length > 0', 'result.push(part);')}
          return result;`,
      ]);
      const n = v.int(5, 9);
      const items = `[${Array.from({ length: n }, (_, i) => i + v.int(1, 3)).join(', ')}]`;
      return {
        name: v.pick(['chunk', 'batches', 'list-parts']),
        source: code`
          ${v.doc('The last part may be shorter.')}
          ${v.fn(
            fn,
            `${list}, ${size}`,
            code`
            ${v.when(`${size} < 1`, `throw new RangeError('${size} must be at least 1');`)}
            ${split}`,
          )}

          ${v.doc('Every run of neighbours.')}
          ${v.fn(
            windows,
            `${list}, ${size}${v.chance(0.5) ? ', step = 1' : ', step = 2'}`,
            code`
              const result = [];
              for (let i = 0; i + ${size} <= ${list}.length; i += step) {
                result.push(${list}.slice(i, i + ${size}));
              }
              return result;`,
          )}`,
        cases: [
          ['makes equal parts', `${fn}([1, 2, 3, 4], 2)`],
          ['leaves a shorter last part', `${fn}(${items}, ${n - 2})`],
          ['makes one part', `${fn}([1, 2], 5)`],
          ['makes parts of one', `${fn}(['a', 'b'], 1)`],
          ['makes no parts of nothing', `${fn}([], 3)`],
          ['refuses parts of nothing', `${fn}([1], 0)`],
          ['slides over a list', `${windows}(${items}, 3)`],
          ['slides with a step', `${windows}([1, 2, 3, 4, 5, 6, 7], 2, ${v.int(2, 3)})`],
          ['sees the whole list once', `${windows}([1, 2, 3], 3)`],
          ['sees nothing in a short list', `${windows}([1, 2], 3)`],
        ],
      };
    },
  },
  {
    family: 'group-by',
    make(v) {
      const [fn, list, key] = v.names([
        ['groupBy', 'items', 'key'],
        ['bucket', 'rows', 'field'],
        ['collect', 'records', 'property'],
      ]);
      const count = v.pick(['countBy', 'tallyBy', 'sizes']);
      const other = v.pick(['other', 'unknown', 'none']);
      const put = v.pick([
        code`
          ${v.when('!groups[name]', 'groups[name] = [];')}
          groups[name].push(item);`,
        '(groups[name] ??= []).push(item);',
        code`
          const known = groups[name];
          if (known) {
            known.push(item);
          } else {
            groups[name] = [item];
          }`,
      ]);
      const rows = `[{ id: 1, ${key}: 'a' }, { id: 2, ${key}: 'b' }, { id: ${v.int(3, 9)}, ${key}: 'a' }]`;
      return {
        name: v.pick(['group-by', 'groups', 'grouping']),
        source: code`
          ${v.doc(`Items without the ${key} are under '${other}'.`)}
          ${v.fn(
            fn,
            `${list}, ${key}`,
            code`
              const groups = {};
              ${v.each(list, 'item', `const name = item[${key}] ?? '${other}';\n${put}`)}
              return groups;`,
          )}

          ${v.fn(
            count,
            `${list}, ${key}, least = ${v.int(1, 2)}`,
            code`
              const counts = {};
              for (const [name, members] of Object.entries(${fn}(${list}, ${key}))) {
                ${v.when('members.length >= least', 'counts[name] = members.length;')}
              }
              return counts;`,
          )}`,
        cases: [
          ['puts equal ones together', `${fn}(${rows}, '${key}')`],
          ['keeps what has no value apart', `${fn}([{ id: 1 }, { id: 2, ${key}: 'x' }], '${key}')`],
          ['keeps zero as a value', `${fn}([{ n: 0 }, { n: ${v.int(1, 5)} }, { n: 0 }], 'n')`],
          ['has no groups for nothing', `${fn}([], '${key}')`],
          ['counts members', `${count}(${rows}, '${key}', 1)`],
          ['leaves small groups out', `${count}(${rows}, '${key}', 2)`],
          ['has a usual least size', `${count}(${rows}, '${key}')`],
          ['counts what has no value', `${count}([{}, {}, {}], '${key}')`],
        ],
      };
    },
  },
  {
    family: 'unique',
    make(v) {
      const [fn, by, list] = v.names([
        ['unique', 'uniqueBy', 'items'],
        ['distinct', 'distinctBy', 'list'],
        ['dedupe', 'dedupeBy', 'values'],
      ]);
      const twice = v.pick(['duplicates', 'repeated', 'moreThanOnce']);
      const sets = v.chance(0.5);
      const keepLast = v.chance(0.3);
      const simple = v.pick([
        `return [...new Set(${list})];`,
        `return ${list}.filter((item, index) => ${list}.indexOf(item) === index);`,
        code`
          const seen = [];
          ${v.each(list, 'item', v.when('!seen.includes(item)', 'seen.push(item);'))}
          return seen;`,
      ]);
      return {
        name: v.pick(['unique', 'distinct', 'dedupe']),
        source: code`
          ${v.fn(fn, list, simple)}

          ${v.doc(keepLast ? 'The last of equal ones stays.' : 'The first of equal ones stays.')}
          ${v.fn(
            by,
            `${list}, keyOf`,
            keepLast
              ? code`
                const found = new Map();
                ${v.each(list, 'item', 'found.set(keyOf(item), item);')}
                return [...found.values()];`
              : code`
                const seen = new Set();
                return ${list}.filter((item) => {
                  const key = keyOf(item);
                  ${v.when('seen.has(key)', 'return false;')}
                  seen.add(key);
                  return true;
                });`,
          )}

          ${v.fn(
            twice,
            list,
            sets
              ? code`
                const once = new Set();
                const again = new Set();
                ${v.each(list, 'item', 'if (once.has(item)) again.add(item);\nonce.add(item);')}
                return [...again];`
              : `return ${fn}(${list}.filter((item, index) => ${list}.indexOf(item) < index));`,
          )}`,
        cases: [
          ['drops what comes again', `${fn}([3, 1, 3, ${v.int(4, 9)}, 1])`],
          ['keeps different ones', `${fn}(['b', 'a', 'c'])`],
          ['takes an empty list', `${fn}([])`],
          ['tells numbers from text', `${fn}([1, '1', 1])`],
          [
            'compares by a key',
            `${by}([{ id: 1, n: 'a' }, { id: 2, n: 'b' }, { id: 1, n: 'c' }], (item) => item.id)`,
          ],
          ['compares by length', `${by}(['to', 'be', 'or', 'not'], (word) => word.length)`],
          ['finds what comes twice', `${twice}([1, 2, ${v.int(3, 9)}, 2, 1])`],
          ['names each only once', `${twice}(['x', 'x', 'x'])`],
          ['finds no repeats', `${twice}([1, 2, 3])`],
        ],
      };
    },
  },
  {
    family: 'paginate',
    make(v) {
      const [fn, list, page, size] = v.names([
        ['paginate', 'items', 'page', 'perPage'],
        ['pageOf', 'rows', 'number', 'size'],
        ['slicePage', 'results', 'index', 'pageSize'],
      ]);
      const links = v.pick(['pageNumbers', 'visiblePages', 'pageLinks']);
      const around = v.int(1, 2);
      const first = v.chance(0.7) ? 1 : 0;
      const usual = v.int(3, 10);
      return {
        name: v.pick(['paginate', 'pages', 'pagination']),
        source: code`
          ${v.doc(`Pages are counted from ${first}.`)}
          ${v.fn(
            fn,
            `${list}, ${page} = ${first}, ${size} = ${usual}`,
            code`
              const pages = Math.max(1, Math.ceil(${list}.length / ${size}));
              const current = Math.min(Math.max(${page}, ${first}), ${first === 1 ? 'pages' : 'pages - 1'});
              const start = ${first === 1 ? '(current - 1)' : 'current'} * ${size};
              return {
                items: ${list}.slice(start, start + ${size}),
                page: current,
                pages,
                hasNext: current < ${first === 1 ? 'pages' : 'pages - 1'},
                hasPrevious: current > ${first},
              };`,
          )}

          ${v.doc('Numbers to show around the current page.')}
          ${v.fn(
            links,
            `current, pages, around = ${around}`,
            code`
              const numbers = [];
              const from = Math.max(1, current - around);
              const to = Math.min(pages, current + around);
              for (let n = from; n <= to; n += 1) {
                numbers.push(n);
              }
              return numbers;`,
          )}`,
        cases: [
          ['gives a first page', `${fn}(['a', 'b', 'c', 'd', 'e'], ${first}, 2)`],
          ['gives a last page', `${fn}(['a', 'b', 'c', 'd', 'e'], ${first + 2}, 2)`],
          ['gives a page in the middle', `${fn}([1, 2, 3, 4, 5, 6], ${first + 1}, 2)`],
          ['stays on the last page', `${fn}([1, 2, 3], ${first + 8}, 2).page`],
          ['stays on the first page', `${fn}([1, 2, 3], -2, 2).page`],
          ['has one page of nothing', `${fn}([])`],
          ['uses the usual size', `${fn}(Array.from({ length: 12 }, (_, n) => n)).items.length`],
          ['needs no more pages than full ones', `${fn}([1, 2, 3, 4], ${first}, 2).pages`],
          ['shows neighbours', `${links}(5, ${v.int(8, 12)})`],
          ['stops at the first', `${links}(1, 9)`],
          ['stops at the last', `${links}(${v.int(6, 9)}, ${v.int(6, 9)}, 2)`],
        ],
      };
    },
  },
  {
    family: 'sort-by',
    make(v) {
      const [fn, list, key] = v.names([
        ['sortBy', 'items', 'key'],
        ['orderBy', 'rows', 'field'],
        ['sorted', 'records', 'column'],
      ]);
      const rank = v.pick(['rank', 'ranking', 'places']);
      const [name, score] = v.names([
        ['name', 'score'],
        ['title', 'points'],
        ['team', 'goals'],
      ]);
      const nulls = v.chance(0.5);
      const dense = v.chance(0.4);
      const people = `[{ ${name}: 'B', ${score}: ${v.int(2, 4)} }, { ${name}: 'A', ${score}: ${v.int(5, 9)} }, { ${name}: 'C', ${score}: 1 }]`;
      return {
        name: v.pick(['sort-by', 'ordering', 'ranking']),
        source: code`
          ${v.doc('A new list; numbers and text are both compared.')}
          ${v.fn(
            fn,
            `${list}, ${key}, descending = false`,
            code`
              const sign = descending ? -1 : 1;
              return [...${list}].sort((a, b) => {
                const [x, y] = [a[${key}], b[${key}]];
                ${nulls ? 'if (x === undefined) return y === undefined ? 0 : 1;\nif (y === undefined) return -1;' : ''}
                ${v.when('x < y', 'return -sign;')}
                ${v.when('x > y', 'return sign;')}
                return 0;
              });`,
          )}

          ${v.doc('Equal values share a place.')}
          ${v.fn(
            rank,
            list,
            code`
              const order = ${fn}(${list}, '${score}', true);
              let place = 0;
              return order.map((entry, index) => {
                if (index === 0 || entry.${score} < order[index - 1].${score}) {
                  place = ${dense ? 'place + 1' : 'index + 1'};
                }
                return { ${name}: entry.${name}, place };
              });`,
          )}`,
        cases: [
          ['sorts numbers', `${fn}(${people}, '${score}')`],
          ['sorts text', `${fn}(${people}, '${name}')`],
          ['sorts the other way round', `${fn}(${people}, '${score}', true)`],
          ['keeps the order of equal ones', `${fn}([{ a: 1, b: 'x' }, { a: 1, b: 'y' }], 'a')`],
          [
            'leaves the list as it was',
            'const list = [{ a: 2 }, { a: 1 }];',
            `${fn}(list, 'a');`,
            'list',
          ],
          ['gives places', `${rank}(${people})`],
          [
            'shares places',
            `${rank}([{ ${name}: 'A', ${score}: 5 }, { ${name}: 'B', ${score}: 5 }, { ${name}: 'C', ${score}: 3 }])`,
          ],
          ['ranks nobody', `${rank}([])`],
          ...(nulls
            ? ([
                ['puts missing values last', `${fn}([{ id: 1 }, { id: 2, a: 1 }, { id: 3 }], 'a')`],
              ] as const)
            : []),
        ],
      };
    },
  },
  {
    family: 'zip',
    make(v) {
      const [zip, unzip, a, b] = v.names([
        ['zip', 'unzip', 'left', 'right'],
        ['pair', 'unpair', 'first', 'second'],
        ['combine', 'separate', 'keys', 'values'],
      ]);
      const flat = v.pick(['interleave', 'alternate', 'weave']);
      const longest = v.chance(0.5);
      const filler = v.pick(['null', "''", '0']);
      return {
        name: v.pick(['zip', 'pairs', 'interleave']),
        source: code`
          ${v.doc(longest ? `The shorter list is filled up with ${filler}.` : 'Ends with the shorter list.')}
          ${v.fn(
            zip,
            `${a}, ${b}`,
            code`
              const length = Math.${longest ? 'max' : 'min'}(${a}.length, ${b}.length);
              const pairs = [];
              for (let i = 0; i < length; i += 1) {
                pairs.push([${longest ? `${a}[i] ?? ${filler}, ${b}[i] ?? ${filler}` : `${a}[i], ${b}[i]`}]);
              }
              return pairs;`,
          )}

          ${v.fn(
            unzip,
            'pairs',
            v.pick([
              'return [pairs.map((entry) => entry[0]), pairs.map((entry) => entry[1])];',
              code`
              const [one, two] = [[], []];
              for (const [x, y] of pairs) {
                one.push(x);
                two.push(y);
              }
              return [one, two];`,
            ]),
          )}

          ${v.fn(
            flat,
            `${a}, ${b}`,
            code`
              const result = [];
              for (let i = 0; i < Math.max(${a}.length, ${b}.length); i += 1) {
                ${v.when(`i < ${a}.length`, `result.push(${a}[i]);`)}
                ${v.when(`i < ${b}.length`, `result.push(${b}[i]);`)}
              }
              return result;`,
          )}`,
        cases: [
          ['pairs lists', `${zip}([1, ${v.int(2, 9)}], ['a', 'b'])`],
          ['pairs lists of different length', `${zip}([1, 2, ${v.int(3, 9)}], ['a'])`],
          ['pairs with a longer second list', `${zip}([1], ['a', 'b'])`],
          ['pairs nothing', `${zip}([], [])`],
          ['takes pairs apart', `${unzip}([[1, 'a'], [${v.int(2, 9)}, 'b']])`],
          ['takes no pairs apart', `${unzip}([])`],
          ['takes turns', `${flat}([1, 3, 5], [2, 4, ${v.int(6, 9)}])`],
          ['goes on with the longer first list', `${flat}([1, 3, 5], [2])`],
          ['goes on with the longer second list', `${flat}([1], [2, 4, 6])`],
        ],
      };
    },
  },
  {
    family: 'running-total',
    make(v) {
      const [fn, moving, list] = v.names([
        ['runningTotal', 'movingAverage', 'values'],
        ['cumulative', 'smooth', 'numbers'],
        ['accumulate', 'rolling', 'series'],
      ]);
      const drop = v.pick(['largestDrop', 'worstFall', 'maxDrawdown']);
      const reset = v.chance(0.4);
      return {
        name: v.pick(['running-total', 'series', 'trends']),
        source: code`
          ${v.fn(
            fn,
            list,
            v.pick([
              code`
                let total = 0;
                return ${list}.map((value) => {
                  ${v.plus('total', 'value')}
                  ${reset ? v.when('total < 0', 'total = 0;') : ''}
                  return total;
                });`,
              code`
                const result = [];
                let total = 0;
                ${v.each(
                  list,
                  'value',
                  code`
                  total ${reset ? '= Math.max(0, total + value)' : '+= value'};
                  result.push(total);`,
                )}
                return result;`,
            ]),
          )}

          ${v.doc('Mean of the last few values, from where there are enough.')}
          ${v.fn(
            moving,
            `${list}, size = ${v.int(2, 3)}`,
            code`
              const result = [];
              let sum = 0;
              for (let i = 0; i < ${list}.length; i += 1) {
                sum += ${list}[i];
                ${v.when('i >= size', `sum -= ${list}[i - size];`)}
                ${v.when('i >= size - 1', 'result.push(sum / size);')}
              }
              return result;`,
          )}

          ${v.fn(
            drop,
            list,
            code`
              let highest = -Infinity;
              let worst = 0;
              ${v.each(
                list,
                'value',
                code`
                highest = Math.max(highest, value);
                worst = Math.max(worst, highest - value);`,
              )}
              return worst;`,
          )}`,
        cases: [
          ['adds up', `${fn}([1, ${v.int(2, 9)}, 3])`],
          ['adds negative numbers', `${fn}([2, -${v.int(3, 5)}, 4])`],
          ['adds nothing', `${fn}([])`],
          ['smooths with the usual size', `${moving}([2, 4, 6, 8, ${v.int(1, 9)}])`],
          ['smooths with another size', `${moving}([1, 2, 3, 4, 5], 4)`],
          ['keeps values for size one', `${moving}([3, ${v.int(4, 9)}], 1)`],
          ['needs enough values', `${moving}([1, 2], 5)`],
          ['finds the deepest fall', `${drop}([5, ${v.int(8, 12)}, 4, 9, 6])`],
          ['sees no fall while it rises', `${drop}([1, 2, 3])`],
          ['sees no fall in nothing', `${drop}([])`],
        ],
      };
    },
  },
  {
    family: 'set-operations',
    make(v) {
      const [union, both, minus] = v.names([
        ['union', 'intersection', 'difference'],
        ['either', 'shared', 'without'],
        ['mergeTags', 'commonTags', 'removeTags'],
      ]);
      const [a, b] = v.names([
        ['a', 'b'],
        ['left', 'right'],
        ['mine', 'theirs'],
      ]);
      const similar = v.pick(['similarity', 'overlap', 'jaccard']);
      const sets = v.chance(0.5);
      return {
        name: v.pick(['sets', 'tags', 'set-operations']),
        source: code`
          ${v.fn(union, `${a}, ${b}`, `return [...new Set([...${a}, ...${b}])];`)}

          ${v.fn(
            both,
            `${a}, ${b}`,
            sets
              ? `const known = new Set(${b});\nreturn ${a}.filter((item) => known.has(item));`
              : `return ${a}.filter((item) => ${b}.includes(item));`,
          )}

          ${v.fn(
            minus,
            `${a}, ${b}`,
            sets
              ? `const known = new Set(${b});\nreturn ${a}.filter((item) => !known.has(item));`
              : `return ${a}.filter((item) => !${b}.includes(item));`,
          )}

          ${v.doc('1: the same members, 0: none in common.')}
          ${v.fn(
            similar,
            `${a}, ${b}`,
            code`
            const all = ${union}(${a}, ${b});
            ${v.when('all.length === 0', 'return 1;')}
            return ${both}(${a}, ${b}).length / all.length;`,
          )}`,
        cases: [
          ['joins lists', `${union}(['x', 'y'], ['y', '${v.pick(['z', 'w'])}'])`],
          ['joins with nothing', `${union}([], [${v.int(1, 9)}])`],
          ['finds what is in both', `${both}([1, 2, 3, ${v.int(4, 9)}], [3, 2, 10])`],
          ['finds nothing in common', `${both}(['a'], ['b'])`],
          ['takes away', `${minus}([1, 2, 3, ${v.int(4, 9)}], [2])`],
          ['takes nothing away', `${minus}(['a', 'b'], [])`],
          ['takes all away', `${minus}([1, 2], [2, 1, 0])`],
          ['measures likeness', `${similar}(['a', 'b', 'c'], ['b', 'c', 'd'])`],
          ['sees equal lists', `${similar}([1, 2], [2, 1])`],
          ['sees different lists', `${similar}([1], [2])`],
          ['takes empty lists as equal', `${similar}([], [])`],
        ],
      };
    },
  },
];
