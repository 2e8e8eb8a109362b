import { code } from '../code.ts';
import type { Template } from '../template.ts';

export const gridTemplates: readonly Template[] = [
  {
    family: 'matrix',
    make(v) {
      const [transpose, multiply, m] = v.names([
        ['transpose', 'multiply', 'matrix'],
        ['flip', 'product', 'rows'],
        ['swapAxes', 'times', 'grid'],
      ]);
      const trace = v.pick(['trace', 'diagonalSum', 'diagonal']);
      const anti = v.chance(0.4);
      return {
        name: v.pick(['matrix', 'matrices', 'linear']),
        source: code`
          ${v.fn(
            transpose,
            m,
            v.pick([
              code`
                ${v.when(`${m}.length === 0`, 'return [];')}
                return ${m}[0].map((_, column) => ${m}.map((row) => row[column]));`,
              code`
                const result = [];
                for (let c = 0; c < (${m}[0] ?? []).length; c += 1) {
                  const column = [];
                  for (let r = 0; r < ${m}.length; r += 1) {
                    column.push(${m}[r][c]);
                  }
                  result.push(column);
                }
                return result;`,
            ]),
          )}

          ${v.doc('The width of the first must be the height of the second.')}
          ${v.fn(
            multiply,
            'a, b',
            code`
              ${v.when('a[0].length !== b.length', "throw new RangeError('sizes do not fit');")}
              return a.map((row) =>
                b[0].map((_, column) => {
                  let sum = 0;
                  for (let i = 0; i < row.length; i += 1) {
                    ${v.plus('sum', 'row[i] * b[i][column]')}
                  }
                  return sum;
                }),
              );`,
          )}

          ${v.fn(
            trace,
            m,
            `return ${m}.reduce((sum, row, index) => sum + row[${anti ? 'row.length - 1 - index' : 'index'}], 0);`,
          )}`,
        cases: [
          ['turns rows into columns', `${transpose}([[1, 2, ${v.int(3, 9)}], [4, 5, 6]])`],
          ['turns a column', `${transpose}([[1], [${v.int(2, 9)}]])`],
          ['turns nothing', `${transpose}([])`],
          ['multiplies', `${multiply}([[1, 2], [3, 4]], [[${v.int(5, 9)}, 6], [7, 8]])`],
          ['multiplies with one', `${multiply}([[1, 0], [0, 1]], [[3, ${v.int(4, 9)}], [5, 6]])`],
          [
            'multiplies a row with a column',
            `${multiply}([[1, 2, 3]], [[4], [5], [${v.int(6, 9)}]])`,
          ],
          ['refuses sizes that do not fit', `${multiply}([[1, 2]], [[1, 2]])`],
          ['adds a diagonal', `${trace}([[1, 2, 3], [4, ${v.int(5, 9)}, 6], [7, 8, 10]])`],
          ['adds a diagonal of one', `${trace}([[${v.int(2, 9)}]])`],
        ],
      };
    },
  },
  {
    family: 'neighbours',
    make(v) {
      const [count, step, grid] = v.names([
        ['countNeighbours', 'nextGeneration', 'grid'],
        ['livingAround', 'evolve', 'cells'],
        ['around', 'tick', 'world'],
      ]);
      const wrap = v.chance(0.3);
      const [x, y] = v.names([
        ['x', 'y'],
        ['column', 'row'],
      ]);
      const cell = wrap
        ? `${grid}[(${y} + dy + ${grid}.length) % ${grid}.length][(${x} + dx + ${grid}[0].length) % ${grid}[0].length]`
        : `${grid}[${y} + dy]?.[${x} + dx] ?? 0`;
      const blinker =
        '[[0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]';
      return {
        name: v.pick(['neighbours', 'life', 'cells']),
        source: code`
          ${v.doc(wrap ? 'The field has no edges.' : 'Beyond the edge nothing lives.')}
          ${v.fn(
            count,
            `${grid}, ${x}, ${y}`,
            code`
              let sum = 0;
              for (let dy = -1; dy <= 1; dy += 1) {
                for (let dx = -1; dx <= 1; dx += 1) {
                  ${v.when('dx === 0 && dy === 0', 'continue;')}
                  sum += ${cell};
                }
              }
              return sum;`,
          )}

          ${v.fn(
            step,
            grid,
            code`
              return ${grid}.map((line, ${y}) =>
                line.map((alive, ${x}) => {
                  const living = ${count}(${grid}, ${x}, ${y});
                  ${v.pick([
                    'return living === 3 || (alive === 1 && living === 2) ? 1 : 0;',
                    code`
                    ${v.when('alive === 1', 'return living === 2 || living === 3 ? 1 : 0;')}
                    return living === 3 ? 1 : 0;`,
                  ])}
                }),
              );`,
          )}

          ${v.fn('population', grid, `return ${grid}.flat().filter((cell) => cell === 1).length;`)}`,
        cases: [
          ['counts all around', `${count}([[1, 1, 1], [1, 0, 1], [1, 1, 1]], 1, 1)`],
          ['does not count itself', `${count}([[0, 0, 0], [0, 1, 0], [0, 0, 0]], 1, 1)`],
          [
            'counts at the corner',
            `${count}([[0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], 0, 0)`,
          ],
          [
            'counts at the edge',
            `${count}([[0, 0, 0], [1, 0, 0], [0, 0, ${v.pick([0, 1])}]], 0, 1)`,
          ],
          ['turns a line', `${step}(${blinker})`],
          ['turns it back', `${step}(${step}(${blinker}))`],
          ['keeps a block', `${step}([[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]])`],
          ['lets the lonely die', `population(${step}([[0, 0, 0], [0, 1, 0], [0, 0, 0]]))`],
          ['counts the living', `population([[1, 0], [1, ${v.pick([0, 1])}]])`],
        ],
      };
    },
  },
  {
    family: 'binary-search',
    make(v) {
      const [search, insert, list] = v.names([
        ['indexOf', 'insertSorted', 'sorted'],
        ['binarySearch', 'insertInto', 'list'],
        ['findIndex', 'addInOrder', 'values'],
      ]);
      const [low, high] = v.names([
        ['low', 'high'],
        ['left', 'right'],
        ['from', 'to'],
      ]);
      const count = v.pick(['countBelow', 'position', 'lowerBound']);
      const middle = v.pick([`Math.floor((${low} + ${high}) / 2)`, `(${low} + ${high}) >> 1`]);
      return {
        name: v.pick(['binary-search', 'sorted-list', 'bisect']),
        source: code`
          ${v.doc('-1 when it is not in the list.')}
          ${v.fn(
            search,
            `${list}, wanted`,
            code`
              let ${low} = 0;
              let ${high} = ${list}.length - 1;
              while (${low} <= ${high}) {
                const middle = ${middle};
                ${v.when(`${list}[middle] === wanted`, 'return middle;')}
                if (${list}[middle] < wanted) {
                  ${low} = middle + 1;
                } else {
                  ${high} = middle - 1;
                }
              }
              return -1;`,
          )}

          ${v.fn(
            count,
            `${list}, limit`,
            code`
              let ${low} = 0;
              let ${high} = ${list}.length;
              while (${low} < ${high}) {
                const middle = ${middle};
                if (${list}[middle] < limit) {
                  ${low} = middle + 1;
                } else {
                  ${high} = middle;
                }
              }
              return ${low};`,
          )}

          ${v.fn(
            insert,
            `${list}, value`,
            code`
              const at = ${count}(${list}, value);
              return [...${list}.slice(0, at), value, ...${list}.slice(at)];`,
          )}`,
        cases: [
          ['finds in the middle', `${search}([1, 3, ${v.int(4, 6)}, 7, 9], 7)`],
          ['finds the first', `${search}([2, 4, 6, 8], 2)`],
          ['finds the last', `${search}([2, 4, 6, ${v.int(8, 19)}], 6)`],
          ['finds the only one', `${search}([5], 5)`],
          ['does not find what is between', `${search}([1, 3, 5], ${v.pick([2, 4])})`],
          ['finds nothing in nothing', `${search}([], 1)`],
          ['counts what is below', `${count}([1, 2, 2, 3, ${v.int(5, 9)}], 3)`],
          ['counts nothing below the first', `${count}([4, 5], 4)`],
          ['counts all below more than the last', `${count}([1, 2, 3], ${v.int(4, 9)})`],
          ['inserts in order', `${insert}([1, 3, 5], ${v.pick([2, 4])})`],
          ['inserts at the end', `${insert}([1, 3], 9)`],
          ['inserts into nothing', `${insert}([], ${v.int(1, 9)})`],
        ],
      };
    },
  },
  {
    family: 'edit-distance',
    make(v) {
      const [distance, suggest, a, b] = v.names([
        ['distance', 'suggest', 'a', 'b'],
        ['editDistance', 'closest', 'from', 'to'],
        ['levenshtein', 'didYouMean', 'left', 'right'],
      ]);
      const max = v.int(2, 3);
      return {
        name: v.pick(['edit-distance', 'spelling', 'suggestions']),
        source: code`
          ${v.fn(
            distance,
            `${a}, ${b}`,
            code`
              let previous = Array.from({ length: ${b}.length + 1 }, (_, index) => index);
              for (let i = 1; i <= ${a}.length; i += 1) {
                const row = [i];
                for (let j = 1; j <= ${b}.length; j += 1) {
                  const cost = ${a}[i - 1] === ${b}[j - 1] ? 0 : 1;
                  row.push(Math.min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + cost));
                }
                previous = row;
              }
              return previous[${b}.length];`,
          )}

          ${v.doc('The nearest known word, if one is near enough.')}
          ${v.fn(
            suggest,
            `word, known, limit = ${max}`,
            code`
              let best = null;
              let least = limit + 1;
              ${v.each(
                'known',
                'candidate',
                code`
                const steps = ${distance}(word, candidate);
                if (steps < least) {
                  best = candidate;
                  least = steps;
                }`,
              )}
              return best;`,
          )}`,
        cases: [
          ['counts changed letters', `${distance}('cat', '${v.pick(['cut', 'bat', 'car'])}')`],
          ['counts added letters', `${distance}('chat', 'chatter')`],
          ['counts removed letters', `${distance}('${v.pick(['stone', 'store'])}', 'toe')`],
          ['counts mixed changes', `${distance}('kitten', 'sitting')`],
          ['sees equal words', `${distance}('same', 'same')`],
          ['counts all letters against nothing', `${distance}('', '${'x'.repeat(v.int(2, 6))}')`],
          ['counts all letters to nothing', `${distance}('abcd', '')`],
          ['suggests the nearest', `${suggest}('comit', ['clone', 'commit', 'config'])`],
          ['suggests nothing far away', `${suggest}('zzzzzz', ['push', 'pull'])`],
          ['prefers the first of equal ones', `${suggest}('pul', ['pull', 'pula'])`],
          ['obeys another limit', `${suggest}('psh', ['push'], 0)`],
          ['keeps known words', `${suggest}('push', ['pull', 'push'])`],
        ],
      };
    },
  },
  {
    family: 'path-finding',
    make(v) {
      const [reach, shortest, graph] = v.names([
        ['reachable', 'shortestPath', 'graph'],
        ['connectedTo', 'route', 'links'],
        ['explore', 'findPath', 'edges'],
      ]);
      const cyc = v.pick(['hasCycle', 'isCyclic', 'loops']);
      const g = "{ a: ['b', 'c'], b: ['d'], c: ['d', 'e'], d: ['f'], e: ['f'], f: [] }";
      return {
        name: v.pick(['graph', 'routes', 'paths']),
        source: code`
          ${v.doc('Everything that can be reached, the start included.')}
          ${v.fn(
            reach,
            `${graph}, start`,
            code`
              const seen = new Set([start]);
              const waiting = [start];
              while (waiting.length > 0) {
                const node = waiting.${v.pick(['pop', 'shift'])}();
                for (const next of ${graph}[node] ?? []) {
                  ${v.when('seen.has(next)', 'continue;')}
                  seen.add(next);
                  waiting.push(next);
                }
              }
              return [...seen].sort();`,
          )}

          ${v.fn(
            shortest,
            `${graph}, start, goal`,
            code`
              const paths = [[start]];
              const seen = new Set([start]);
              while (paths.length > 0) {
                const path = paths.shift();
                const last = path[path.length - 1];
                ${v.when('last === goal', 'return path;')}
                for (const next of ${graph}[last] ?? []) {
                  if (!seen.has(next)) {
                    seen.add(next);
                    paths.push([...path, next]);
                  }
                }
              }
              return null;`,
          )}

          ${v.fn(
            cyc,
            graph,
            code`
            return Object.keys(${graph}).some((node) =>
              ${graph}[node].some((next) => ${reach}(${graph}, next).includes(node)),
            );`,
          )}`,
        cases: [
          ['reaches everything', `${reach}(${g}, 'a')`],
          ['reaches a part', `${reach}(${g}, '${v.pick(['c', 'd', 'e'])}')`],
          ['reaches itself', `${reach}(${g}, 'f')`],
          ['finds a path', `${shortest}(${g}, 'a', 'd')`],
          [
            'finds the shortest path',
            `${shortest}({ a: ['b', 'd'], b: ['c'], c: ['d'], d: [] }, 'a', 'd')`,
          ],
          ['is there already', `${shortest}(${g}, 'b', 'b')`],
          ['finds no path', `${shortest}(${g}, 'd', 'a')`],
          ['comes to an end in a circle', `${reach}({ x: ['y'], y: ['x'] }, 'x')`],
          ['sees a circle', `${cyc}({ x: ['y'], y: ['z'], z: ['x'] })`],
          ['sees no circle', `${cyc}(${g})`],
        ],
      };
    },
  },
  {
    family: 'nested-values',
    make(v) {
      const [get, set, flat] = v.names([
        ['getPath', 'setPath', 'flatten'],
        ['valueAt', 'withValue', 'toFlat'],
        ['lookup', 'assign', 'leaves'],
      ]);
      const sep = v.pick(['.', '/']);
      return {
        name: v.pick(['nested', 'object-path', 'deep']),
        source: code`
          ${v.fn(
            get,
            'object, path, fallback',
            v.pick([
              code`
                let value = object;
                for (const key of path.split('${sep}')) {
                  ${v.when('value === null || value === undefined', 'return fallback;')}
                  value = value[key];
                }
                return value === undefined ? fallback : value;`,
              code`
                const found = path.split('${sep}').reduce((value, key) => value?.[key], object);
                return found ?? fallback;`,
            ]),
          )}

          ${v.doc('A copy with one value changed.')}
          ${v.fn(
            set,
            'object, path, value',
            code`
              const [key, ...rest] = path.split('${sep}');
              ${v.when('rest.length === 0', 'return { ...object, [key]: value };')}
              return { ...object, [key]: ${set}(object[key] ?? {}, rest.join('${sep}'), value) };`,
          )}

          ${v.fn(
            flat,
            "object, prefix = ''",
            code`
              const result = {};
              for (const [key, value] of Object.entries(object)) {
                const name = prefix === '' ? key : \`\${prefix}${sep}\${key}\`;
                if (typeof value === 'object' && value !== null) {
                  Object.assign(result, ${flat}(value, name));
                } else {
                  result[name] = value;
                }
              }
              return result;`,
          )}`,
        cases: [
          ['finds a value', `${get}({ a: { b: ${v.int(1, 99)} } }, 'a${sep}b')`],
          [
            'finds a value in a list',
            `${get}({ list: [{ id: 7 }, { id: ${v.int(8, 20)} }] }, 'list${sep}1${sep}id')`,
          ],
          [
            'gives the fallback',
            `${get}({ a: {} }, 'a${sep}b${sep}c', '${v.pick(['none', 'x'])}')`,
          ],
          ['keeps false values', `${get}({ a: { on: false } }, 'a${sep}on', true)`],
          ['has no fallback', `${get}({}, 'a')`],
          ['sets a value', `${set}({ a: 1 }, 'b', ${v.int(2, 9)})`],
          ['sets a deep value', `${set}({ a: { b: 1, c: 2 } }, 'a${sep}b', ${v.int(3, 9)})`],
          ['makes what is missing', `${set}({}, 'x${sep}y', true)`],
          [
            'leaves the object as it was',
            'const object = { a: { b: 1 } };',
            `${set}(object, 'a${sep}b', 2);`,
            'object',
          ],
          ['flattens', `${flat}({ a: 1, b: { c: ${v.int(2, 9)}, d: { e: null } } })`],
          ['flattens nothing', `${flat}({})`],
        ],
      };
    },
  },
];
