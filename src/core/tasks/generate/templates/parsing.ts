import { code } from '../code.ts';
import type { Template } from '../template.ts';

export const parsingTemplates: readonly Template[] = [
  {
    family: 'query-string',
    make(v) {
      const [parse, build, text] = v.names([
        ['parseQuery', 'buildQuery', 'text'],
        ['readParams', 'writeParams', 'query'],
        ['decode', 'encode', 'search'],
      ]);
      const lists = v.chance(0.6);
      return {
        name: v.pick(['query-string', 'params', 'query']),
        source: code`
          ${v.doc(lists ? 'A name that comes again gives a list.' : 'The last value of a name counts.')}
          ${v.fn(
            parse,
            text,
            code`
              const result = {};
              const start = ${text}.startsWith('?') ? 1 : 0;
              for (const part of ${text}.slice(start).split('&')) {
                ${v.when("part === ''", 'continue;')}
                const at = part.indexOf('=');
                const name = at < 0 ? part : part.slice(0, at);
                const value = at < 0 ? ${v.pick(["''", 'true'])} : decodeURIComponent(part.slice(at + 1));
                ${
                  lists
                    ? code`
                      if (name in result) {
                        result[name] = [].concat(result[name], value);
                      } else {
                        result[name] = value;
                      }`
                    : 'result[name] = value;'
                }
              }
              return result;`,
          )}

          ${v.fn(
            build,
            'values',
            code`
              const parts = Object.entries(values)
                .filter(([, value]) => value !== undefined && value !== null)
                .map(([name, value]) => \`\${name}=\${encodeURIComponent(value)}\`);
              return parts.length > 0 ? \`?\${parts.join('&')}\` : '';`,
          )}`,
        cases: [
          ['reads values', `${parse}('a=1&b=${v.int(2, 99)}')`],
          ['leaves out the mark in front', `${parse}('?page=${v.int(1, 9)}')`],
          ['decodes', `${parse}('q=a%20b%26c')`],
          ['keeps later signs', `${parse}('f=x=y')`],
          ['reads a name alone', `${parse}('debug')`],
          ['decides about names that come again', `${parse}('t=1&t=2')`],
          ['reads nothing', `${parse}('')`],
          ['writes values', `${build}({ a: 1, b: '${v.pick(['x', 'y'])}' })`],
          ['encodes', `${build}({ q: 'a b&c' })`],
          ['leaves missing values out', `${build}({ a: null, b: undefined, c: 0 })`],
          ['writes nothing', `${build}({})`],
        ],
      };
    },
  },
  {
    family: 'csv-line',
    make(v) {
      const [parse, write, line] = v.names([
        ['parseLine', 'formatLine', 'line'],
        ['splitRow', 'joinRow', 'row'],
        ['readFields', 'writeFields', 'text'],
      ]);
      const sep = v.pick([',', ';', '|']);
      const table = v.pick(['toRecords', 'parseTable', 'rowsOf']);
      return {
        name: v.pick(['csv', 'fields', 'table-text']),
        source: code`
          ${v.doc('Quotes may hold the separator; two quotes stand for one.')}
          ${v.fn(
            parse,
            line,
            code`
              const fields = [];
              let field = '';
              let quoted = false;
              for (let i = 0; i < ${line}.length; i += 1) {
                const char = ${line}[i];
                if (char === '"' && quoted && ${line}[i + 1] === '"') {
                  field += '"';
                  i += 1;
                } else if (char === '"') {
                  quoted = !quoted;
                } else if (char === '${sep}' && !quoted) {
                  fields.push(field);
                  field = '';
                } else {
                  field += char;
                }
              }
              fields.push(field);
              return fields;`,
          )}

          ${v.fn(
            write,
            'fields',
            code`
              return fields
                .map((field) => (/["${sep === '|' ? '|' : sep}]/.test(field) ? \`"\${field.replaceAll('"', '""')}"\` : field))
                .join('${sep}');`,
          )}

          ${v.fn(
            table,
            'lines',
            code`
              const [head = '', ...rest] = lines;
              const names = ${parse}(head);
              return rest.map((line) => {
                const fields = ${parse}(line);
                return Object.fromEntries(names.map((name, index) => [name, fields[index] ?? '']));
              });`,
          )}`,
        cases: [
          ['splits fields', `${parse}('a${sep}b${sep}${v.int(1, 99)}')`],
          ['keeps empty fields', `${parse}('a${sep}${sep}c')`],
          ['keeps a last empty field', `${parse}('a${sep}')`],
          ['reads quoted separators', `${parse}('"x${sep}y"${sep}z')`],
          ['reads quotes inside of quotes', `${parse}('"say ""hi"""')`],
          ['reads one field', `${parse}('${v.pick(['one', 'single'])}')`],
          ['writes fields', `${write}(['a', 'b', '${v.int(1, 99)}'])`],
          ['quotes where it must', `${write}(['x${sep}y', 'say "hi"'])`],
          ['makes records', `${table}(['id${sep}name', '1${sep}Ada', '2${sep}Bob'])`],
          ['fills up short lines', `${table}(['a${sep}b', '1'])`],
          ['makes no records of a head', `${table}(['a${sep}b'])`],
        ],
      };
    },
  },
  {
    family: 'config-lines',
    make(v) {
      const [parse, value, text] = v.names([
        ['parseConfig', 'toValue', 'text'],
        ['readSettings', 'convert', 'source'],
        ['parseIni', 'typed', 'content'],
      ]);
      const mark = v.pick(['#', ';']);
      return {
        name: v.pick(['config', 'settings', 'ini']),
        helper: {
          name: 'values',
          source: code`
            ${v.doc('Numbers and yes/no are told from text.')}
            ${v.fn(
              value,
              'text',
              code`
                ${v.when("text === 'true' || text === 'yes'", 'return true;')}
                ${v.when("text === 'false' || text === 'no'", 'return false;')}
                ${v.when("text !== '' && !Number.isNaN(Number(text))", 'return Number(text);')}
                return text;`,
            )}`,
        },
        source: code`
          import { ${value} } from './values.js';

          ${v.fn(
            parse,
            text,
            code`
              const result = {};
              let section = result;
              for (const raw of ${text}.split('\n')) {
                const line = raw.trim();
                ${v.when(`line === '' || line.startsWith('${mark}')`, 'continue;')}
                if (line.startsWith('[') && line.endsWith(']')) {
                  const name = line.slice(1, -1);
                  section = result[name] ?? {};
                  result[name] = section;
                  continue;
                }
                const at = line.indexOf('=');
                ${v.when('at < 0', `throw new SyntaxError(\`no value: \${line}\`);`)}
                section[line.slice(0, at).trim()] = ${value}(line.slice(at + 1).trim());
              }
              return result;`,
          )}`,
        cases: [
          ['reads numbers', `${parse}('port = ${v.int(1000, 9000)}')`],
          ['reads text', `${parse}('name=${v.pick(['demo', 'main'])}')`],
          ['reads yes and no', `${parse}('a = yes\\nb = false')`],
          ['leaves comments out', `${parse}('${mark} nothing\\nx = 1')`],
          ['leaves empty lines out', `${parse}('\\n\\n')`],
          ['reads sections', `${parse}('top = 1\\n[log]\\nlevel = ${v.int(1, 5)}')`],
          ['goes on with a section', `${parse}('[a]\\nx = 1\\n[b]\\ny = 2\\n[a]\\nz = 3')`],
          ['keeps later signs', `${parse}('expr = a=b')`],
          ['keeps empty values', `${parse}('empty =')`],
          ['refuses lines without a value', `${parse}('what is this')`],
        ],
      };
    },
  },
  {
    family: 'version',
    make(v) {
      const [parse, compare, bump] = v.names([
        ['parseVersion', 'compareVersions', 'bump'],
        ['readVersion', 'compare', 'increase'],
        ['split', 'order', 'raise'],
      ]);
      const [a, b, c] = v.names([
        ['major', 'minor', 'patch'],
        ['big', 'medium', 'small'],
      ]);
      const newest = v.pick(['newest', 'latest', 'highest']);
      return {
        name: v.pick(['version', 'versions', 'release']),
        source: code`
          ${v.fn(
            parse,
            'text',
            code`
            const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?$/.exec(text);
            ${v.when('!match', `throw new Error(\`not a version: \${text}\`);`)}
            return [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];`,
          )}

          ${v.doc('Below zero: the first one is older.')}
          ${v.fn(
            compare,
            'a, b',
            code`
              const [left, right] = [${parse}(a), ${parse}(b)];
              for (let i = 0; i < 3; i += 1) {
                ${v.when('left[i] !== right[i]', `return ${v.pick(['left[i] - right[i]', 'left[i] < right[i] ? -1 : 1'])};`)}
              }
              return 0;`,
          )}

          ${v.fn(
            bump,
            'text, part',
            code`
              const [x, y, z] = ${parse}(text);
              ${v.when(`part === '${a}'`, code`return \`\${x + 1}.0.0\`;`)}
              ${v.when(`part === '${b}'`, code`return \`\${x}.\${y + 1}.0\`;`)}
              return \`\${x}.\${y}.\${z + 1}\`;`,
          )}

          ${v.fn(
            newest,
            'versions',
            v.pick([
              `return [...versions].sort(${compare}).at(-1);`,
              `return versions.reduce((best, next) => (${compare}(next, best) > 0 ? next : best));`,
            ]),
          )}`,
        cases: [
          ['reads three numbers', `${parse}('${v.int(1, 9)}.${v.int(0, 20)}.${v.int(0, 9)}')`],
          ['reads two numbers', `${parse}('v${v.int(1, 9)}.4')`],
          ['refuses other text', `${parse}('latest')`],
          ['compares the first number', `${compare}('1.9.9', '2.0.0')`],
          ['compares the second number', `${compare}('1.10.0', '1.9.0')`],
          ['compares the last number', `${compare}('1.2.3', '1.2.${v.int(4, 12)}')`],
          ['sees equal ones', `${compare}('v1.2', '1.2.0')`],
          ['raises the first', `${bump}('1.2.3', '${a}')`],
          ['raises the second', `${bump}('1.2.3', '${b}')`],
          ['raises the last', `${bump}('1.2.${v.int(3, 9)}', '${c}')`],
          ['finds the newest', `${newest}(['1.2.0', '1.10.1', '1.9.${v.int(1, 9)}'])`],
        ],
      };
    },
  },
  {
    family: 'roman',
    make(v) {
      const [to, from, table] = v.names([
        ['toRoman', 'fromRoman', 'NUMERALS'],
        ['writeRoman', 'readRoman', 'SIGNS'],
        ['romanOf', 'valueOf', 'LETTERS'],
      ]);
      return {
        name: v.pick(['roman', 'numerals', 'roman-numbers']),
        source: code`
          const ${table} = [
            ['M', 1000], ['CM', 900], ['D', 500], ['CD', 400], ['C', 100], ['XC', 90],
            ['L', 50], ['XL', 40], ['X', 10], ['IX', 9], ['V', 5], ['IV', 4], ['I', 1],
          ];

          ${v.fn(
            to,
            'number',
            code`
              ${v.when(`number < 1 || number > ${v.pick([3999, 4999])}`, "throw new RangeError('cannot be written');")}
              let rest = number;
              let text = '';
              for (const [letters, value] of ${table}) {
                while (rest >= value) {
                  text += letters;
                  rest -= value;
                }
              }
              return text;`,
          )}

          ${v.fn(
            from,
            'text',
            v.pick([
              code`
                let total = 0;
                let at = 0;
                for (const [letters, value] of ${table}) {
                  while (text.startsWith(letters, at)) {
                    ${v.plus('total', 'value')}
                    at += letters.length;
                  }
                }
                return at === text.length ? total : NaN;`,
              code`
                const values = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 };
                let total = 0;
                for (let i = 0; i < text.length; i += 1) {
                  const value = values[text[i]];
                  const next = values[text[i + 1]] ?? 0;
                  total += value < next ? -value : value;
                }
                return total;`,
            ]),
          )}`,
        cases: [
          ['writes small numbers', `${to}(${v.int(2, 8)})`],
          ['writes four and nine', `[${to}(4), ${to}(9)]`],
          ['writes tens', `${to}(${v.int(30, 99)})`],
          ['writes years', `${to}(${v.int(1900, 2030)})`],
          ['cannot write zero', `${to}(0)`],
          ['cannot write large numbers', `${to}(5000)`],
          ['reads small numbers', `${from}('${v.pick(['VII', 'VIII', 'III'])}')`],
          ['reads what is taken away', `${from}('XCIV')`],
          ['reads years', `${from}('MCM${v.pick(['X', 'L', 'XC'])}I')`],
          ['reads what it writes', `${from}(${to}(${v.int(100, 3000)}))`],
        ],
      };
    },
  },
  {
    family: 'calculator',
    make(v) {
      const [tokens, evaluate, text] = v.names([
        ['tokenize', 'evaluate', 'text'],
        ['lex', 'calculate', 'input'],
        ['scan', 'compute', 'expression'],
      ]);
      const power = v.chance(0.4);
      return {
        name: v.pick(['calculator', 'expressions', 'arithmetic']),
        source: code`
          const RANK = { '+': 1, '-': 1, '*': 2, '/': 2${power ? ", '%': 2" : ''} };

          ${v.fn(tokens, text, `return ${text}.match(/\\d+(?:\\.\\d+)?|[-+*/${power ? '%' : ''}()]/g) ?? [];`)}

          ${v.local(
            'apply',
            'a, operator, b',
            code`
              ${v.when("operator === '+'", 'return a + b;')}
              ${v.when("operator === '-'", 'return a - b;')}
              ${v.when("operator === '*'", 'return a * b;')}
              ${power ? v.when("operator === '%'", 'return a % b;') : ''}
              return a / b;`,
          )}

          ${v.doc('Multiplies before it adds.')}
          ${v.fn(
            evaluate,
            text,
            code`
              const numbers = [];
              const waiting = [];
              const reduce = () => {
                const right = numbers.pop();
                numbers.push(apply(numbers.pop(), waiting.pop(), right));
              };
              for (const token of ${tokens}(${text})) {
                if (token === '(') {
                  waiting.push(token);
                } else if (token === ')') {
                  while (waiting.at(-1) !== '(') reduce();
                  waiting.pop();
                } else if (token in RANK) {
                  while (RANK[waiting.at(-1)] >= RANK[token]) reduce();
                  waiting.push(token);
                } else {
                  numbers.push(Number(token));
                }
              }
              while (waiting.length > 0) reduce();
              return numbers[0] ?? 0;`,
          )}`,
        cases: [
          ['finds numbers and signs', `${tokens}('${v.int(1, 9)} + 2.5*(3)')`],
          ['adds', `${evaluate}('${v.int(1, 9)} + ${v.int(1, 9)}')`],
          ['takes away from left to right', `${evaluate}('10 - 4 - ${v.int(1, 5)}')`],
          ['multiplies first', `${evaluate}('2 + 3 * ${v.int(2, 9)}')`],
          ['divides first', `${evaluate}('20 - 8 / ${v.pick([2, 4])}')`],
          ['takes brackets first', `${evaluate}('(2 + 3) * ${v.int(2, 9)}')`],
          ['takes brackets in brackets', `${evaluate}('2 * (10 - (1 + ${v.int(2, 5)}))')`],
          ['divides from left to right', `${evaluate}('${v.int(2, 9) * 12} / 4 / 3')`],
          ['gives a number as it is', `${evaluate}('${v.int(2, 99)}')`],
          ['gives zero for nothing', `${evaluate}('')`],
        ],
      };
    },
  },
];
