import { code } from '../code.ts';
import type { Case, Template } from '../template.ts';

export const structureTemplates: readonly Template[] = [
  {
    family: 'counter',
    make(v) {
      const [make, add, take] = v.names([
        ['createCounter', 'add', 'remove'],
        ['makeTally', 'increase', 'decrease'],
        ['newBag', 'put', 'take'],
      ]);
      const top = v.pick(['top', 'highest', 'leader']);
      const keep = v.chance(0.5);
      return {
        name: v.pick(['counter', 'tally', 'bag']),
        source: code`
          ${v.doc('Counts by name.')}
          ${v.fn(
            make,
            '',
            code`
              const counts = new Map();
              return {
                ${add}(name, by = 1) {
                  counts.set(name, (counts.get(name) ?? 0) + by);
                },
                ${take}(name) {
                  const count = counts.get(name) ?? 0;
                  if (count > 1) {
                    counts.set(name, count - 1);
                  } else {
                    ${keep ? 'counts.set(name, 0);' : 'counts.delete(name);'}
                  }
                },
                count: (name) => counts.get(name) ?? 0,
                total() {
                  let sum = 0;
                  for (const count of counts.values()) ${v.plus('sum', 'count')}
                  return sum;
                },
                ${top}() {
                  let best = null;
                  for (const [name, count] of counts) {
                    ${v.when('best === null || count > counts.get(best)', 'best = name;')}
                  }
                  return best;
                },
                names: () => [...counts.keys()],
              };`,
          )}`,
        cases: [
          ['counts', `const c = ${make}();`, `c.${add}('a');`, `c.${add}('a');`, `c.count('a')`],
          [
            'counts several at once',
            `const c = ${make}();`,
            `c.${add}('a', ${v.int(3, 9)});`,
            `c.${add}('a');`,
            `c.count('a')`,
          ],
          [
            'knows nothing of other names',
            `const c = ${make}();`,
            `c.${add}('a');`,
            `c.count('b')`,
          ],
          [
            'takes one away',
            `const c = ${make}();`,
            `c.${add}('a', ${v.int(3, 6)});`,
            `c.${take}('a');`,
            `c.count('a')`,
          ],
          ['does not go below zero', `const c = ${make}();`, `c.${take}('a');`, `c.count('a')`],
          [
            'decides about names without a count',
            `const c = ${make}();`,
            `c.${add}('a');`,
            `c.${take}('a');`,
            'c.names()',
          ],
          [
            'adds up all counts',
            `const c = ${make}();`,
            `c.${add}('a', 2);`,
            `c.${add}('b', ${v.int(3, 8)});`,
            'c.total()',
          ],
          [
            'finds the highest',
            `const c = ${make}();`,
            `c.${add}('a', 2);`,
            `c.${add}('b', 5);`,
            `c.${add}('c', 3);`,
            `c.${top}()`,
          ],
          [
            'prefers the first of equal ones',
            `const c = ${make}();`,
            `c.${add}('x');`,
            `c.${add}('y');`,
            `c.${top}()`,
          ],
          ['has no highest at first', `${make}().${top}()`],
        ],
      };
    },
  },
  {
    family: 'lru-cache',
    make(v) {
      const [cls, get, set, size] = v.names([
        ['LruCache', 'get', 'set', 'capacity'],
        ['RecentCache', 'read', 'store', 'limit'],
        ['Cache', 'fetch', 'put', 'maxSize'],
      ]);
      const asClass = v.chance(0.5);
      const hits = v.chance(0.5);
      const make = asClass ? `new ${cls}` : `create${cls}`;
      const source = asClass
        ? code`
          ${v.doc('Forgets what was not used for the longest time.')}
          export class ${cls} {
            constructor(${size} = ${v.int(2, 4)}) {
              this.${size} = ${size};
              this.entries = new Map();
              ${hits ? 'this.hits = 0;' : ''}
            }

            ${get}(key) {
              ${v.when('!this.entries.has(key)', 'return undefined;')}
              const value = this.entries.get(key);
              this.entries.delete(key);
              this.entries.set(key, value);
              ${hits ? 'this.hits += 1;' : ''}
              return value;
            }

            ${set}(key, value) {
              this.entries.delete(key);
              this.entries.set(key, value);
              if (this.entries.size > this.${size}) {
                const [oldest] = this.entries.keys();
                this.entries.delete(oldest);
              }
            }

            keys() {
              return [...this.entries.keys()];
            }
          }`
        : code`
          ${v.doc('Forgets what was not used for the longest time.')}
          export function create${cls}(${size} = ${v.int(2, 4)}) {
            const values = {};
            let order = [];

            const touch = (key) => {
              order = order.filter((known) => known !== key);
              order.push(key);
            };
            return {
              ${get}(key) {
                ${v.when('!order.includes(key)', 'return undefined;')}
                touch(key);
                return values[key];
              },
              ${set}(key, value) {
                touch(key);
                values[key] = value;
                if (order.length > ${size}) {
                  const oldest = order.shift();
                  delete values[oldest];
                }
              },
              keys: () => [...order],
            };
          }`;
      const fill = (n: number, ...keys: readonly string[]): [string, ...string[]] => [
        `const cache = ${make}(${n});`,
        ...keys.map((key, at) => `cache.${set}('${key}', ${at + 1});`),
      ];
      return {
        name: v.pick(['lru-cache', 'cache', 'recent']),
        source,
        cases: [
          ['gives what was stored', ...fill(2, 'a'), `cache.${get}('a')`],
          ['does not know other keys', ...fill(2, 'a'), `cache.${get}('b')`],
          ['forgets the oldest', ...fill(2, 'a', 'b', 'c'), `cache.${get}('a')`],
          ['keeps as many as allowed', ...fill(3, 'a', 'b', 'c'), 'cache.keys()'],
          [
            'counts reading as use',
            ...fill(2, 'a', 'b'),
            `cache.${get}('a');`,
            `cache.${set}('c', 3);`,
            'cache.keys()',
          ],
          [
            'counts storing again as use',
            ...fill(2, 'a', 'b'),
            `cache.${set}('a', 9);`,
            `cache.${set}('c', 3);`,
            'cache.keys()',
          ],
          [
            'takes the new value',
            ...fill(2, 'a'),
            `cache.${set}('a', ${v.int(5, 9)});`,
            `cache.${get}('a')`,
          ],
          [
            'remembers values like zero',
            `const cache = ${make}();`,
            `cache.${set}('z', 0);`,
            `cache.${get}('z')`,
          ],
          [
            'has a usual size',
            `const cache = ${make}();`,
            `for (const key of 'abcdefg') cache.${set}(key, key);`,
            'cache.keys()',
          ],
          ['is empty at first', `${make}(2).keys()`],
          ...(asClass && hits
            ? ([
                [
                  'counts hits',
                  ...fill(2, 'a'),
                  `cache.${get}('a');`,
                  `cache.${get}('x');`,
                  'cache.hits',
                ],
              ] satisfies Case[])
            : []),
        ],
      };
    },
  },
  {
    family: 'queue',
    make(v) {
      const [cls, push, shift] = v.names([
        ['Queue', 'enqueue', 'dequeue'],
        ['RingBuffer', 'push', 'shift'],
        ['Fifo', 'add', 'next'],
      ]);
      const cap = v.int(3, 5);
      const drop = v.chance(0.5);
      return {
        name: v.pick(['queue', 'ring-buffer', 'fifo']),
        source: code`
          ${v.doc(drop ? 'When it is full the oldest entry goes.' : 'When it is full nothing is added.')}
          export class ${cls} {
            constructor(capacity = ${cap}) {
              this.slots = new Array(capacity);
              this.head = 0;
              this.length = 0;
            }

            ${push}(value) {
              if (this.length === this.slots.length) {
                ${drop ? `this.${shift}();` : 'return false;'}
              }
              const tail = (this.head + this.length) % this.slots.length;
              this.slots[tail] = value;
              ${v.step('this.length')}
              return true;
            }

            ${shift}() {
              ${v.when('this.length === 0', 'return undefined;')}
              const value = this.slots[this.head];
              this.head = (this.head + 1) % this.slots.length;
              this.length -= 1;
              return value;
            }

            toArray() {
              const list = [];
              for (let i = 0; i < this.length; i += 1) {
                list.push(this.slots[(this.head + i) % this.slots.length]);
              }
              return list;
            }
          }`,
        cases: [
          [
            'gives back in order',
            `const q = new ${cls}();`,
            `q.${push}('a');`,
            `q.${push}('b');`,
            `[q.${shift}(), q.${shift}()]`,
          ],
          ['has nothing at first', `new ${cls}().${shift}()`],
          [
            'knows its length',
            `const q = new ${cls}();`,
            `q.${push}(1);`,
            `q.${push}(${v.int(2, 9)});`,
            `q.${shift}();`,
            'q.length',
          ],
          [
            'decides what happens when it is full',
            `const q = new ${cls}(2);`,
            `q.${push}(1);`,
            `q.${push}(2);`,
            `q.${push}(3);`,
            'q.toArray()',
          ],
          ['says whether it was added', `const q = new ${cls}(1);`, `[q.${push}(1), q.${push}(2)]`],
          [
            'goes round',
            `const q = new ${cls}(3);`,
            `for (const n of [1, 2, 3]) q.${push}(n);`,
            `q.${shift}();`,
            `q.${push}(${v.int(4, 9)});`,
            'q.toArray()',
          ],
          [
            'has a usual capacity',
            `const q = new ${cls}();`,
            `for (let n = 0; n < 9; n += 1) q.${push}(n);`,
            'q.length',
          ],
          ['lists nothing', `new ${cls}().toArray()`],
          [
            'does not count below zero',
            `const q = new ${cls}();`,
            `q.${shift}();`,
            `q.${push}('x');`,
            'q.length',
          ],
        ],
      };
    },
  },
  {
    family: 'history',
    make(v) {
      const [make, record] = v.names([
        ['createHistory', 'push'],
        ['undoStack', 'record'],
        ['makeTimeline', 'save'],
      ]);
      const [undo, redo] = v.names([
        ['undo', 'redo'],
        ['back', 'forward'],
        ['previous', 'next'],
      ]);
      const limit = v.int(3, 6);
      return {
        name: v.pick(['history', 'undo', 'timeline']),
        source: code`
          ${v.doc(`At most ${limit} states, unless told otherwise.`)}
          ${v.fn(
            make,
            `initial, limit = ${limit}`,
            code`
              let states = [initial];
              let at = 0;
              return {
                current: () => states[at],
                ${record}(state) {
                  ${v.when('state === states[at]', 'return;')}
                  states = states.slice(0, at + 1);
                  states.push(state);
                  ${v.when('states.length > limit', 'states.shift();')}
                  at = states.length - 1;
                },
                ${undo}() {
                  ${v.when('at > 0', 'at -= 1;')}
                  return states[at];
                },
                ${redo}() {
                  ${v.when('at < states.length - 1', v.step('at'))}
                  return states[at];
                },
                size: () => states.length,
              };`,
          )}`,
        cases: [
          ['starts with the first state', `${make}('a').current()`],
          ['goes to the new state', `const h = ${make}('a');`, `h.${record}('b');`, 'h.current()'],
          [
            'goes back',
            `const h = ${make}(1);`,
            `h.${record}(2);`,
            `h.${record}(${v.int(3, 9)});`,
            `h.${undo}()`,
          ],
          ['stops at the first state', `const h = ${make}('a');`, `h.${undo}();`, `h.${undo}()`],
          [
            'goes forward again',
            `const h = ${make}(1);`,
            `h.${record}(2);`,
            `h.${undo}();`,
            `h.${redo}()`,
          ],
          ['stops at the last state', `const h = ${make}(1);`, `h.${record}(2);`, `h.${redo}()`],
          [
            'forgets what was undone',
            `const h = ${make}('a');`,
            `h.${record}('b');`,
            `h.${undo}();`,
            `h.${record}('c');`,
            `h.${redo}()`,
          ],
          ['ignores the same state', `const h = ${make}('a');`, `h.${record}('a');`, 'h.size()'],
          [
            'keeps only so many',
            `const h = ${make}(0, 3);`,
            `for (const n of [1, 2, 3, 4]) h.${record}(n);`,
            'h.size()',
          ],
          [
            'keeps the newest',
            `const h = ${make}(0);`,
            `for (let n = 1; n < 10; n += 1) h.${record}(n);`,
            `for (let n = 0; n < 10; n += 1) h.${undo}();`,
            'h.current()',
          ],
        ],
      };
    },
  },
  {
    family: 'priority-queue',
    make(v) {
      const [cls, add, take] = v.names([
        ['PriorityQueue', 'push', 'pop'],
        ['TaskHeap', 'insert', 'extract'],
        ['Agenda', 'add', 'next'],
      ]);
      const sign = v.chance(0.7) ? '<' : '>';
      const heap = v.chance(0.5);
      return {
        name: v.pick(['priority-queue', 'heap', 'agenda']),
        source: heap
          ? code`
            ${v.doc(`The ${sign === '<' ? 'lowest' : 'highest'} priority comes first.`)}
            export class ${cls} {
              constructor() {
                this.heap = [];
              }

              get size() {
                return this.heap.length;
              }

              ${add}(value, priority) {
                this.heap.push({ value, priority });
                let at = this.heap.length - 1;
                while (at > 0) {
                  const parent = Math.floor((at - 1) / 2);
                  ${v.when(`!(this.heap[at].priority ${sign} this.heap[parent].priority)`, 'break;')}
                  this.swap(at, parent);
                  at = parent;
                }
              }

              ${take}() {
                ${v.when('this.heap.length === 0', 'return undefined;')}
                const first = this.heap[0];
                const last = this.heap.pop();
                if (this.heap.length > 0) {
                  this.heap[0] = last;
                  this.sink(0);
                }
                return first.value;
              }

              sink(from) {
                let at = from;
                while (true) {
                  let best = at;
                  for (const child of [2 * at + 1, 2 * at + 2]) {
                    if (child < this.heap.length && this.heap[child].priority ${sign} this.heap[best].priority) best = child;
                  }
                  ${v.when('best === at', 'return;')}
                  this.swap(at, best);
                  at = best;
                }
              }

              swap(a, b) {
                const kept = this.heap[a];
                this.heap[a] = this.heap[b];
                this.heap[b] = kept;
              }
            }`
          : code`
            ${v.doc(`The ${sign === '<' ? 'lowest' : 'highest'} priority comes first.`)}
            export class ${cls} {
              constructor() {
                this.list = [];
              }

              get size() {
                return this.list.length;
              }

              ${add}(value, priority) {
                let at = this.list.length;
                while (at > 0 && priority ${sign} this.list[at - 1].priority) {
                  at -= 1;
                }
                this.list.splice(at, 0, { value, priority });
              }

              ${take}() {
                const first = this.list.shift();
                ${v.pick(['return first?.value;', 'return first ? first.value : undefined;'])}
              }
            }`,
        cases: [
          [
            'gives the first by priority',
            `const q = new ${cls}();`,
            `q.${add}('b', 2);`,
            `q.${add}('a', 1);`,
            `q.${add}('c', 3);`,
            `q.${take}()`,
          ],
          [
            'empties in order',
            `const q = new ${cls}();`,
            `for (const n of [5, ${v.int(6, 9)}, 1, 4, 2, 3]) q.${add}(n, n);`,
            'const order = [];',
            `while (q.size > 0) order.push(q.${take}());`,
            'order',
          ],
          ['has nothing at first', `new ${cls}().${take}()`],
          [
            'knows its size',
            `const q = new ${cls}();`,
            `q.${add}('a', ${v.int(1, 5)});`,
            `q.${add}('b', 2);`,
            `q.${take}();`,
            'q.size',
          ],
          [
            'keeps one entry',
            `const q = new ${cls}();`,
            `q.${add}('only', 7);`,
            `[q.${take}(), q.${take}()]`,
          ],
          [
            'takes equal priorities',
            `const q = new ${cls}();`,
            `q.${add}('x', 1);`,
            `q.${add}('y', 1);`,
            `q.${take}()`,
          ],
          [
            'takes entries in between',
            `const q = new ${cls}();`,
            `q.${add}('b', 2);`,
            `q.${take}();`,
            `q.${add}('c', 3);`,
            `q.${add}('a', ${v.pick([1, 9])});`,
            `q.${take}()`,
          ],
          [
            'takes negative priorities',
            `const q = new ${cls}();`,
            `q.${add}('low', -${v.int(1, 9)});`,
            `q.${add}('zero', 0);`,
            `q.${take}()`,
          ],
        ],
      };
    },
  },
  {
    family: 'account',
    make(v) {
      const [cls, put, take] = v.names([
        ['Account', 'deposit', 'withdraw'],
        ['Wallet', 'credit', 'debit'],
        ['PiggyBank', 'add', 'spend'],
      ]);
      const overdraft = v.int(0, 3) * 50;
      const transfer = v.pick(['transfer', 'move', 'send']);
      return {
        name: v.pick(['account', 'wallet', 'ledger']),
        source: code`
          ${v.local(
            'check',
            'amount',
            code`
            ${v.when('!(amount > 0)', "throw new RangeError('the amount must be positive');")}
            return amount;`,
          )}

          export class ${cls} {
            constructor(balance = 0, overdraft = ${overdraft}) {
              this.balance = balance;
              this.overdraft = overdraft;
              this.log = [];
            }

            ${put}(amount) {
              this.balance += check(amount);
              this.log.push({ kind: '${put}', amount });
              return this.balance;
            }

            ${v.doc('False when there is not enough.')}
            ${take}(amount) {
              ${v.when('check(amount) > this.balance + this.overdraft', 'return false;')}
              this.balance -= amount;
              this.log.push({ kind: '${take}', amount });
              return true;
            }
          }

          ${v.fn(
            transfer,
            'from, to, amount',
            code`
            ${v.when(`!from.${take}(amount)`, 'return false;')}
            to.${put}(amount);
            return true;`,
          )}`,
        cases: [
          ['adds money', `new ${cls}(${v.int(10, 90)}).${put}(5)`],
          [
            'takes money',
            `const a = new ${cls}(100);`,
            `a.${take}(${v.int(10, 60)});`,
            'a.balance',
          ],
          ['takes all there is', `new ${cls}(50, 0).${take}(50)`],
          ['takes no more than there is', `new ${cls}(50, 0).${take}(51)`],
          [
            'may go below zero',
            `const a = new ${cls}(10, ${v.int(2, 9) * 10});`,
            `a.${take}(25);`,
            'a.balance',
          ],
          [
            'has a usual limit',
            `[new ${cls}(0).${take}(${overdraft + 1}), new ${cls}(0).${take}(${Math.max(1, overdraft)})]`,
          ],
          ['refuses to add nothing', `new ${cls}(5).${put}(0)`],
          ['refuses to take a negative amount', `new ${cls}(5).${take}(-3)`],
          ['writes a log', `const a = new ${cls}(9);`, `a.${put}(1);`, `a.${take}(4);`, 'a.log'],
          [
            'moves money',
            `const [a, b] = [new ${cls}(30), new ${cls}(1)];`,
            `${transfer}(a, b, ${v.int(5, 25)});`,
            '[a.balance, b.balance]',
          ],
          [
            'moves nothing when there is not enough',
            `const [a, b] = [new ${cls}(3, 0), new ${cls}(1)];`,
            `[${transfer}(a, b, 4), a.balance, b.balance]`,
          ],
        ],
      };
    },
  },
  {
    family: 'inventory',
    make(v) {
      const [make, add, reserve] = v.names([
        ['createInventory', 'restock', 'reserve'],
        ['createStock', 'receive', 'take'],
        ['openWarehouse', 'store', 'pick'],
      ]);
      const low = v.pick(['lowStock', 'toOrder', 'runningOut']);
      const threshold = v.int(3, 6);
      return {
        name: v.pick(['inventory', 'stock', 'warehouse']),
        helper: {
          name: 'limits',
          source: code`
            export const LOW = ${threshold};

            ${v.fn('isLow', 'count', `return count ${v.pick(['<', '<='])} LOW;`)}`,
        },
        source: code`
          import { isLow } from './limits.js';

          ${v.fn(
            make,
            'start = {}',
            code`
              const stock = { ...start };
              return {
                ${add}(name, count = 1) {
                  stock[name] = (stock[name] ?? 0) + count;
                  return stock[name];
                },
                ${v.doc('All or nothing.')}
                ${reserve}(order) {
                  for (const [name, count] of Object.entries(order)) {
                    ${v.when('(stock[name] ?? 0) < count', 'return false;')}
                  }
                  for (const [name, count] of Object.entries(order)) {
                    stock[name] -= count;
                  }
                  return true;
                },
                count: (name) => stock[name] ?? 0,
                ${low}: () => Object.keys(stock).filter((name) => isLow(stock[name])),
              };`,
          )}`,
        cases: [
          ['adds goods', `${make}({ nuts: ${v.int(2, 9)} }).${add}('nuts', 5)`],
          ['adds new goods', `${make}().${add}('bolts')`],
          ['knows nothing of others', `${make}().count('nuts')`],
          [
            'takes an order',
            `const s = ${make}({ nuts: 9, bolts: 4 });`,
            `s.${reserve}({ nuts: ${v.int(2, 8)}, bolts: 1 });`,
            "[s.count('nuts'), s.count('bolts')]",
          ],
          ['takes everything', `${make}({ nuts: 3 }).${reserve}({ nuts: 3 })`],
          ['refuses too large an order', `${make}({ nuts: 3 }).${reserve}({ nuts: 4 })`],
          [
            'takes nothing of a refused order',
            `const s = ${make}({ nuts: 9, bolts: 1 });`,
            `s.${reserve}({ nuts: 2, bolts: 2 });`,
            "s.count('nuts')",
          ],
          ['names what runs low', `${make}({ a: 1, b: ${threshold}, c: 20 }).${low}()`],
          ['names nothing when all is well', `${make}({ a: ${threshold + 1}, b: 99 }).${low}()`],
          [
            'leaves the start as it was',
            'const start = { a: 5 };',
            `${make}(start).${add}('a');`,
            'start.a',
          ],
        ],
      };
    },
  },
  {
    family: 'event-emitter',
    make(v) {
      const [make, on, emit] = v.names([
        ['createEmitter', 'on', 'emit'],
        ['createBus', 'subscribe', 'publish'],
        ['createSignal', 'listen', 'send'],
      ]);
      const once = v.chance(0.6);
      return {
        name: v.pick(['emitter', 'event-bus', 'signals']),
        source: code`
          ${v.doc('Listeners are called in the order in which they came.')}
          ${v.fn(
            make,
            '',
            code`
              const listeners = {};
              const api = {
                ${on}(name, listener) {
                  listeners[name] = [...(listeners[name] ?? []), listener];
                  return () => {
                    listeners[name] = listeners[name].filter((known) => known !== listener);
                  };
                },
                ${emit}(name, ...values) {
                  const called = listeners[name] ?? [];
                  ${v.each('called', 'listener', 'listener(...values);')}
                  return called.length;
                },
                ${
                  once
                    ? code`
                      once(name, listener) {
                        const stop = api.${on}(name, (...values) => {
                          stop();
                          listener(...values);
                        });
                        return stop;
                      },`
                    : ''
                }
                count: (name) => (listeners[name] ?? []).length,
              };
              return api;`,
          )}`,
        cases: [
          [
            'calls a listener',
            `const bus = ${make}();`,
            'const seen = [];',
            `bus.${on}('x', (value) => seen.push(value));`,
            `bus.${emit}('x', ${v.int(1, 9)});`,
            'seen',
          ],
          [
            'calls several in order',
            `const bus = ${make}();`,
            'const seen = [];',
            `bus.${on}('x', () => seen.push('a'));`,
            `bus.${on}('x', () => seen.push('b'));`,
            `bus.${emit}('x');`,
            'seen',
          ],
          [
            'hands all values over',
            `const bus = ${make}();`,
            'let sum = 0;',
            `bus.${on}('x', (a, b) => { sum = a + b; });`,
            `bus.${emit}('x', 2, ${v.int(3, 9)});`,
            'sum',
          ],
          [
            'says how many were called',
            `const bus = ${make}();`,
            `bus.${on}('x', () => {});`,
            `bus.${on}('x', () => {});`,
            `bus.${emit}('x')`,
          ],
          ['calls nobody', `${make}().${emit}('x')`],
          [
            'stops calling',
            `const bus = ${make}();`,
            'const seen = [];',
            `const stop = bus.${on}('x', () => seen.push(1));`,
            'stop();',
            `bus.${emit}('x');`,
            'seen',
          ],
          [
            'keeps the others',
            `const bus = ${make}();`,
            `const stop = bus.${on}('x', () => {});`,
            `bus.${on}('x', () => {});`,
            'stop();',
            "bus.count('x')",
          ],
          [
            'keeps names apart',
            `const bus = ${make}();`,
            `bus.${on}('x', () => {});`,
            "bus.count('y')",
          ],
          ...(once
            ? ([
                [
                  'calls only once',
                  `const bus = ${make}();`,
                  'const seen = [];',
                  "bus.once('x', (n) => seen.push(n));",
                  `bus.${emit}('x', 1);`,
                  `bus.${emit}('x', 2);`,
                  'seen',
                ],
              ] as const)
            : []),
        ],
      };
    },
  },
];
