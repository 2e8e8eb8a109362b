import { code } from '../code.ts';
import type { Template } from '../template.ts';

export const stateTemplates: readonly Template[] = [
  {
    family: 'order-states',
    make(v) {
      const [table, next, can] = v.names([
        ['TRANSITIONS', 'advance', 'canMove'],
        ['RULES', 'transition', 'isAllowed'],
        ['FLOW', 'apply', 'allows'],
      ]);
      const [a, b, c, d, e] = v.names([
        ['new', 'paid', 'shipped', 'done', 'cancelled'],
        ['draft', 'review', 'approved', 'published', 'archived'],
        ['open', 'assigned', 'fixed', 'closed', 'rejected'],
      ]);
      const path = v.pick(['isValidPath', 'checkPath', 'allowsAll']);
      return {
        name: v.pick(['states', 'workflow', 'lifecycle']),
        source: code`
          const ${table} = {
            ${a}: ['${b}', '${e}'],
            ${b}: ['${c}', '${e}'],
            ${c}: ['${d}'],
            ${d}: [],
            ${e}: [],
          };

          ${v.fn(
            can,
            'from, to',
            v.pick([
              `return (${table}[from] ?? []).includes(to);`,
              `const targets = ${table}[from] ?? [];\nreturn targets.includes(to);`,
            ]),
          )}

          ${v.doc('A new item in the new state.')}
          ${v.fn(
            next,
            'item, to',
            code`
              if (!${can}(item.state, to)) {
                throw new Error(\`cannot go from \${item.state} to \${to}\`);
              }
              return { ...item, state: to, changes: (item.changes ?? 0) + 1 };`,
          )}

          ${v.fn('isFinal', 'state', `return ${table}[state] !== undefined && ${table}[state].length === 0;`)}

          ${v.fn(
            path,
            'states',
            v.pick([
              code`
                for (let i = 1; i < states.length; i += 1) {
                  ${v.when(`!${can}(states[i - 1], states[i])`, 'return false;')}
                }
                return true;`,
              `return states.every((state, index) => index === 0 || ${can}(states[index - 1], state));`,
            ]),
          )}`,
        cases: [
          ['allows the next step', `${can}('${a}', '${b}')`],
          ['does not allow to skip', `${can}('${a}', '${c}')`],
          ['does not allow to go back', `${can}('${c}', '${b}')`],
          ['knows no other states', `${can}('lost', '${a}')`],
          ['moves an item', `${next}({ id: ${v.int(1, 9)}, state: '${b}' }, '${c}')`],
          ['counts changes', `${next}({ state: '${a}', changes: ${v.int(1, 5)} }, '${e}').changes`],
          ['refuses other moves', `${next}({ state: '${d}' }, '${a}')`],
          ['knows where it ends', `[isFinal('${d}'), isFinal('${b}')]`],
          ['does not end in unknown states', "isFinal('lost')"],
          ['accepts a path', `${path}(['${a}', '${b}', '${c}', '${d}'])`],
          ['refuses a path with a gap', `${path}(['${a}', '${b}', '${d}'])`],
          ['accepts a path of one state', `${path}(['${c}'])`],
        ],
      };
    },
  },
  {
    family: 'traffic-light',
    make(v) {
      const [next, at, colours] = v.names([
        ['nextColour', 'colourAt', 'PHASES'],
        ['advance', 'phaseAt', 'CYCLE'],
        ['following', 'lightAt', 'STEPS'],
      ]);
      const [g, y, r] = [v.int(10, 40), v.int(2, 5), v.int(10, 30)];
      const wait = v.pick(['secondsUntilGreen', 'waitFor', 'timeToGreen']);
      return {
        name: v.pick(['traffic-light', 'phases', 'signal']),
        source: code`
          const ${colours} = [
            { name: 'green', seconds: ${g} },
            { name: 'yellow', seconds: ${y} },
            { name: 'red', seconds: ${r} },
          ];

          ${v.local('cycleLength', '', `return ${colours}.reduce((sum, phase) => sum + phase.seconds, 0);`)}

          ${v.fn(
            next,
            'name',
            code`
              const index = ${colours}.findIndex((phase) => phase.name === name);
              ${v.when('index < 0', `throw new Error(\`no such phase: \${name}\`);`)}
              return ${colours}[(index + 1) % ${colours}.length].name;`,
          )}

          ${v.doc('The phase after so many seconds from the start.')}
          ${v.fn(
            at,
            'second',
            code`
              let rest = second % cycleLength();
              ${v.each(
                colours,
                'phase',
                code`
                ${v.when('rest < phase.seconds', 'return phase.name;')}
                rest -= phase.seconds;`,
              )}
              return ${colours}[0].name;`,
          )}

          ${v.fn(
            wait,
            'second',
            code`
              const rest = second % cycleLength();
              ${v.either(`rest < ${colours}[0].seconds`, '0', 'cycleLength() - rest')}`,
          )}`,
        cases: [
          ['goes to yellow', `${next}('green')`],
          ['goes to red', `${next}('yellow')`],
          ['starts again', `${next}('red')`],
          ['knows no other colours', `${next}('blue')`],
          ['starts green', `${at}(0)`],
          ['is green to the last second', `${at}(${g - 1})`],
          ['changes in time', `${at}(${g})`],
          ['is red in the end', `${at}(${g + y + 1})`],
          ['goes round', `${at}(${g + y + r + v.int(1, 5)})`],
          ['need not wait', `${wait}(${v.int(0, g - 1)})`],
          ['waits for the next round', `${wait}(${g + v.int(1, 10)})`],
        ],
      };
    },
  },
  {
    family: 'vending',
    make(v) {
      const [pay, change, coins] = v.names([
        ['buy', 'giveChange', 'COINS'],
        ['purchase', 'changeFor', 'VALUES'],
        ['order', 'coinsFor', 'UNITS'],
      ]);
      const list = v.pick(['50, 20, 10, 5', '100, 50, 20, 10', '25, 10, 5, 1']);
      const least = Number(list.split(', ').at(-1));
      const p1 = v.int(2, 6) * 20;
      const p2 = p1 + v.int(1, 4) * 20;
      return {
        name: v.pick(['vending', 'coins', 'machine']),
        source: code`
          const ${coins} = [${list}];
          const PRICES = { tea: ${p1}, juice: ${p2} };

          ${v.doc('As few coins as possible, the largest first.')}
          ${v.fn(
            change,
            'amount',
            code`
              const result = [];
              let rest = amount;
              ${v.each(
                coins,
                'coin',
                code`
                while (rest >= coin) {
                  result.push(coin);
                  rest -= coin;
                }`,
              )}
              return result;`,
          )}

          ${v.fn(
            pay,
            'name, inserted',
            code`
              const price = PRICES[name];
              ${v.when('price === undefined', "return { error: 'unknown', change: inserted };")}
              const paid = inserted.reduce((sum, coin) => sum + coin, 0);
              ${v.when('paid < price', "return { error: 'short', missing: price - paid };")}
              return { name, change: ${change}(paid - price) };`,
          )}`,
        cases: [
          ['gives change', `${change}(${v.int(3, 9) * 10 + 5 * (least <= 5 ? 1 : 0)})`],
          ['gives a single coin', `${change}(${list.split(', ')[1]})`],
          ['gives the same coin twice', `${change}(${2 * Number(list.split(', ')[0])})`],
          ['gives nothing', `${change}(0)`],
          ['takes the exact price', `${pay}('tea', [${p1}])`],
          ['gives back what is too much', `${pay}('tea', [100, 100])`],
          ['needs the whole price', `${pay}('juice', [${p2 - least}])`],
          ['adds coins up', `${pay}('juice', [${p2 - 20}, 20])`],
          ['gives all back for unknown goods', `${pay}('soup', [50, ${v.int(1, 4) * 10}])`],
          ['asks for everything when nothing is paid', `${pay}('tea', [])`],
        ],
      };
    },
  },
  {
    family: 'game-score',
    make(v) {
      const [winner, lines, board] = v.names([
        ['winner', 'LINES', 'board'],
        ['findWinner', 'ROWS', 'cells'],
        ['whoWon', 'WINS', 'squares'],
      ]);
      const status = v.pick(['status', 'outcome', 'stateOf']);
      const [x, o, none] = v.names([
        ['X', 'O', ' '],
        ['A', 'B', '.'],
        ['x', 'o', '-'],
      ]);
      return {
        name: v.pick(['tic-tac-toe', 'three-in-a-row', 'board']),
        source: code`
          const ${lines} = [
            [0, 1, 2],
            [3, 4, 5],
            [6, 7, 8],
            [0, 3, 6],
            [1, 4, 7],
            [2, 5, 8],
            [0, 4, 8],
            [2, 4, 6],
          ];

          ${v.fn(
            winner,
            board,
            code`
              for (const [a, b, c] of ${lines}) {
                const mark = ${board}[a];
                ${v.when(`mark !== '${none}' && mark === ${board}[b] && mark === ${board}[c]`, 'return mark;')}
              }
              return null;`,
          )}

          ${v.fn(
            'turn',
            board,
            code`
            const count = [...${board}].filter((mark) => mark !== '${none}').length;
            ${v.either('count % 2 === 0', `'${x}'`, `'${o}'`)}`,
          )}

          ${v.fn(
            status,
            board,
            code`
              const won = ${winner}(${board});
              ${v.when('won !== null', code`return \`\${won} wins\`;`)}
              ${v.either(`${board}.includes('${none}')`, `\`\${turn(${board})} to move\``, "'draw'")}`,
          )}`,
        cases: [
          ['sees a row', `${winner}('${x}${x}${x}${o}${o}${none}${none}${none}${none}')`],
          ['sees a column', `${winner}('${o}${x}${x}${o}${x}${none}${o}${none}${none}')`],
          ['sees a diagonal', `${winner}('${x}${o}${none}${o}${x}${none}${none}${none}${x}')`],
          ['sees the other diagonal', `${winner}('${x}${o}${o}${x}${o}${none}${o}${none}${x}')`],
          ['sees no winner', `${winner}('${x}${o}${x}${o}${x}${o}${o}${x}${o}')`],
          ['sees no winner on an empty board', `${winner}('${none.repeat(9)}')`],
          ['begins with the first', `turn('${none.repeat(9)}')`],
          ['goes on with the second', `turn('${x}${none.repeat(8)}')`],
          ['tells who won', `${status}('${o}${o}${o}${x}${x}${none}${x}${none}${none}')`],
          ['tells who moves', `${status}('${x}${o}${none.repeat(7)}')`],
          ['tells a draw', `${status}('${x}${o}${x}${x}${o}${o}${o}${x}${x}')`],
        ],
      };
    },
  },
  {
    family: 'robot',
    make(v) {
      const [run, turn, table] = v.names([
        ['run', 'turn', 'MOVES'],
        ['drive', 'rotate', 'STEPS'],
        ['follow', 'face', 'WAYS'],
      ]);
      const size = v.int(4, 9);
      const [l, r, f] = v.names([
        ['L', 'R', 'F'],
        ['<', '>', '^'],
        ['l', 'r', 'g'],
      ]);
      return {
        name: v.pick(['robot', 'rover', 'walker']),
        source: code`
          const ORDER = ['N', 'E', 'S', 'W'];
          const ${table} = { N: [0, 1], E: [1, 0], S: [0, -1], W: [-1, 0] };

          ${v.fn(
            turn,
            'direction, by',
            code`
            const index = ORDER.indexOf(direction);
            return ORDER[(index + by + ORDER.length) % ORDER.length];`,
          )}

          ${v.doc('It stays inside of a square field.')}
          ${v.fn(
            run,
            `commands, start = { x: 0, y: 0, direction: 'N' }, size = ${size}`,
            code`
              let { x, y, direction } = start;
              for (const command of commands) {
                if (command === '${l}') {
                  direction = ${turn}(direction, -1);
                } else if (command === '${r}') {
                  direction = ${turn}(direction, 1);
                } else if (command === '${f}') {
                  const [dx, dy] = ${table}[direction];
                  x = Math.min(Math.max(x + dx, 0), size - 1);
                  y = Math.min(Math.max(y + dy, 0), size - 1);
                } else {
                  throw new Error(\`unknown command: \${command}\`);
                }
              }
              return { x, y, direction };`,
          )}

          ${v.fn('distance', 'a, b', v.pick(['return Math.abs(a.x - b.x) + Math.abs(a.y - b.y);', 'return Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y));']))}`,
        cases: [
          ['turns right', `${turn}('${v.pick(['N', 'E', 'S'])}', 1)`],
          ['turns left from north', `${turn}('N', -1)`],
          ['turns right from west', `${turn}('W', 1)`],
          ['goes forward', `${run}('${f}${f}')`],
          ['goes round a corner', `${run}('${f}${r}${f}${f}')`],
          ['turns on the spot', `${run}('${l}${l}')`],
          ['stops at the edge', `${run}('${f.repeat(size + 3)}').y`],
          ['does not leave at the other side', `${run}('${l}${f}${f}').x`],
          [
            'starts elsewhere',
            `${run}('${f}${l}${f}', { x: 2, y: ${v.int(1, 3)}, direction: 'E' })`,
          ],
          ['refuses other commands', `${run}('${f}?')`],
          ['measures a distance', `distance({ x: 1, y: 2 }, { x: ${v.int(4, 9)}, y: 0 })`],
        ],
      };
    },
  },
];
