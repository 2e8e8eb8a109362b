import { code } from '../code.ts';
import type { Template } from '../template.ts';

const WORDS = ['lamp', 'river', 'stone', 'apple', 'cloud', 'tiger', 'paper', 'green'] as const;

export const textTemplates: readonly Template[] = [
  {
    family: 'slug',
    make(v) {
      const [fn, text] = v.names([
        ['slugify', 'title'],
        ['toSlug', 'text'],
        ['urlName', 'name'],
      ]);
      const max = v.int(12, 24);
      const short = v.pick(['shortSlug', 'clip', 'limitSlug']);
      const sep = v.pick(['-', '_']);
      const unique = v.pick(['uniqueSlug', 'freeName']);
      return {
        name: v.pick(['slug', 'slugs', 'url-name']),
        source: code`
          ${v.fn(
            fn,
            text,
            v.pick([
              code`
                return ${text}
                  .trim()
                  .toLowerCase()
                  .replace(/[^a-z0-9]+/g, '${sep}')
                  .replace(/^${sep}|${sep}$/g, '');`,
              code`
                const words = ${text}.toLowerCase().match(/[a-z0-9]+/g) ?? [];
                return words.join('${sep}');`,
            ]),
          )}

          ${v.doc('Cuts between words where that is possible.')}
          ${v.fn(
            short,
            `${text}, limit = ${max}`,
            code`
              const slug = ${fn}(${text});
              ${v.when('slug.length <= limit', 'return slug;')}
              const cut = slug.lastIndexOf('${sep}', limit);
              return slug.slice(0, cut > 0 ? cut : limit);`,
          )}

          ${v.fn(
            unique,
            `${text}, taken`,
            code`
              const base = ${fn}(${text});
              let slug = base;
              for (let n = 2; taken.includes(slug); n += 1) {
                slug = \`\${base}${sep}\${n}\`;
              }
              return slug;`,
          )}`,
        cases: [
          ['joins words', `${fn}('${v.pick(WORDS)} And ${v.pick(WORDS)}')`],
          ['drops marks at both ends', `${fn}('  Hello, World!  ')`],
          ['takes several marks together', `${fn}('a -- b')`],
          ['has nothing to say about marks', `${fn}('?!')`],
          ['keeps what is short', `${short}('${v.pick(WORDS)} two', ${v.int(12, 30)})`],
          ['cuts between words', `${short}('${v.pick(WORDS)} and a long tail', ${v.int(8, 11)})`],
          ['cuts a long word', `${short}('abcdefghijklmnop', 5)`],
          ['keeps a free name', `${unique}('New Page', ['old'])`],
          ['numbers a taken name', `${unique}('Page', ['page'])`],
          ['goes on counting', `${unique}('Page', ['page', 'page${sep}2', 'page${sep}3'])`],
        ],
      };
    },
  },
  {
    family: 'truncate',
    make(v) {
      const [fn, text, limit] = v.names([
        ['truncate', 'text', 'limit'],
        ['shorten', 'input', 'max'],
        ['ellipsis', 'value', 'length'],
      ]);
      const mark = v.pick(['...', '…']);
      const mid = v.pick(['truncateMiddle', 'shortenPath', 'keepEnds']);
      const wordwise = v.chance(0.5);
      return {
        name: v.pick(['truncate', 'shorten', 'clip-text']),
        source: code`
          const MARK = '${mark}';

          ${v.doc(`The result is never longer than ${limit}.`)}
          ${v.fn(
            fn,
            `${text}, ${limit}`,
            code`
              ${v.when(`${text}.length <= ${limit}`, `return ${text};`)}
              ${
                wordwise
                  ? code`
                    const cut = ${text}.slice(0, ${limit} - MARK.length);
                    const space = cut.lastIndexOf(' ');
                    return (space > 0 ? cut.slice(0, space) : cut) + MARK;`
                  : `return ${text}.slice(0, ${limit} - MARK.length) + MARK;`
              }`,
          )}

          ${v.fn(
            mid,
            `${text}, ${limit}`,
            code`
              ${v.when(`${text}.length <= ${limit}`, `return ${text};`)}
              const room = ${limit} - MARK.length;
              const head = Math.ceil(room / 2);
              const tail = room - head;
              return ${text}.slice(0, head) + MARK + ${text}.slice(${text}.length - tail);`,
          )}`,
        cases: [
          ['keeps short text', `${fn}('${v.pick(WORDS)}', 20)`],
          ['keeps text that just fits', `${fn}('exactly', 7)`],
          ['cuts text by one', `${fn}('exactly', 6)`],
          ['cuts a sentence', `${fn}('the quick brown ${v.pick(WORDS)}', ${v.int(10, 14)})`],
          ['cuts one long word', `${fn}('abcdefghijklmnopqrs', ${v.int(6, 9)})`],
          ['stays within the limit', `${fn}('one two three four five', 12).length <= 12`],
          [
            'keeps both ends',
            `${mid}('src/components/${v.pick(WORDS)}/index.js', ${v.int(12, 18)})`,
          ],
          ['keeps short text in the middle', `${mid}('src', 9)`],
          ['shares an odd room', `${mid}('abcdefghijklmnop', ${v.pick([8, 10])})`],
          ['keeps empty text', `${fn}('', 3)`],
        ],
      };
    },
  },
  {
    family: 'case-style',
    make(v) {
      const [words, camel, snake, text] = v.names([
        ['splitWords', 'camelCase', 'snakeCase', 'text'],
        ['wordsOf', 'toCamel', 'toSnake', 'name'],
        ['parts', 'asCamel', 'asSnake', 'input'],
      ]);
      const title = v.pick(['titleCase', 'toTitle', 'heading']);
      const pascal = v.chance(0.4);
      const sep = v.pick(['_', '-']);
      return {
        name: v.pick(['case-style', 'naming', 'word-case']),
        source: code`
          ${v.local(
            words,
            text,
            code`
              return ${text}
                .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
                .split(/[\s_-]+/)
                .filter((word) => word !== '');`,
          )}

          ${v.local(
            'capital',
            'word',
            v.pick([
              'return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();',
              'return word[0].toUpperCase() + word.slice(1).toLowerCase();',
            ]),
          )}

          ${v.fn(
            camel,
            text,
            code`
              return ${words}(${text})
                .map((word, index) => (index ${pascal ? '>= 0' : '> 0'} ? capital(word) : word.toLowerCase()))
                .join('');`,
          )}

          ${v.fn(snake, text, `return ${words}(${text}).map((word) => word.toLowerCase()).join('${sep}');`)}

          ${v.fn(title, text, `return ${words}(${text}).map(capital).join(' ');`)}`,
        cases: [
          ['joins two words', `${camel}('${v.pick(WORDS)} ${v.pick(WORDS)}')`],
          ['reads other styles', `${camel}('first_name-of USER')`],
          ['keeps one word', `${camel}('${v.pick(WORDS)}')`],
          [
            'splits at capitals',
            `${snake}('${v.pick(WORDS)}And${v.pick(['Moon', 'Sun', 'Sea'])}')`,
          ],
          ['joins with the separator', `${snake}('Total Amount Due')`],
          ['keeps digits together', `${snake}('version2Beta')`],
          ['writes a heading', `${title}('the ${v.pick(WORDS)}_ofLight')`],
          ['lowers the rest of a word', `${title}('LOUD words')`],
          ['takes nothing', `${camel}('')`],
          ['ignores blanks around', `${title}('  a  b ')`],
        ],
      };
    },
  },
  {
    family: 'count-words',
    make(v) {
      const [count, top, text] = v.names([
        ['countWords', 'topWords', 'text'],
        ['wordFrequency', 'mostFrequent', 'input'],
        ['tally', 'commonest', 'line'],
      ]);
      const map = v.chance(0.5);
      const min = v.int(1, 3);
      const add = map
        ? 'counts.set(word, (counts.get(word) ?? 0) + 1);'
        : v.pick([
            'counts[word] = (counts[word] ?? 0) + 1;',
            'counts[word] = (counts[word] || 0) + 1;',
          ]);
      const entries = map ? `[...${count}(${text})]` : `Object.entries(${count}(${text}))`;
      const get = (word: string, from: string): string =>
        map ? `${count}(${from}).get('${word}')` : `${count}(${from}).${word}`;
      const [a, b] = [v.pick(['red', 'one', 'cat']), v.pick(['blue', 'two', 'dog'])];
      return {
        name: v.pick(['word-count', 'words', 'frequency']),
        source: code`
          ${v.doc('How often each word occurs, whatever its case.')}
          ${v.fn(
            count,
            text,
            code`
              const counts = ${map ? 'new Map()' : '{}'};
              const words = ${text}.toLowerCase().match(/[a-z]+/g) ?? [];
              ${v.each('words', 'word', `${min > 1 ? `${v.when(`word.length < ${min}`, 'continue;')}\n` : ''}${add}`)}
              return counts;`,
          )}

          ${v.doc('Most frequent first; the same count in the order of the alphabet.')}
          ${v.fn(
            top,
            `${text}, limit = ${v.int(2, 4)}`,
            code`
              return ${entries}
                .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
                .slice(0, limit)
                .map(([word]) => word);`,
          )}`,
        cases: [
          ['counts a word', get(a, `'${a} ${b} ${a}'`)],
          ['counts words of another case', get(b, `'${b.toUpperCase()} ${a} ${b}, ${b}.'`)],
          ['does not know other words', get('zebra', `'${a}'`)],
          ['decides about short words', get('a', `'a ${a} a'`)],
          ['decides about words of two letters', get('to', `'to be or not to be'`)],
          ['lists the most frequent first', `${top}('${b} ${a} ${a} ${b} ${a} sun', 2)`],
          ['sorts equal counts', `${top}('pear fig plum kiwi', 3)`],
          ['lists fewer when there are fewer', `${top}('${a}')`],
          ['uses the usual number', `${top}('eee ddd ccc bbb aaa zzz')`],
          ['finds nothing in nothing', `${top}('')`],
        ],
      };
    },
  },
  {
    family: 'wrap-text',
    make(v) {
      const [fn, text, width] = v.names([
        ['wrap', 'text', 'width'],
        ['wrapLines', 'input', 'columns'],
        ['breakText', 'paragraph', 'max'],
      ]);
      const pad = v.pick(['indentLines', 'prefixLines', 'quote']);
      const prefix = v.pick(['> ', '  ', '# ']);
      return {
        name: v.pick(['wrap', 'word-wrap', 'lines']),
        source: code`
          ${v.doc('Lines of whole words; a word that is too long has a line of its own.')}
          ${v.fn(
            fn,
            `${text}, ${width}`,
            code`
              const lines = [];
              let line = '';
              for (const word of ${text}.split(/\s+/)) {
                ${v.when("word === ''", 'continue;')}
                if (line === '') {
                  line = word;
                } else if (line.length + 1 + word.length <= ${width}) {
                  line += ' ' + word;
                } else {
                  lines.push(line);
                  line = word;
                }
              }
              ${v.when("line !== ''", 'lines.push(line);')}
              return lines;`,
          )}

          ${v.fn(
            pad,
            `${text}, prefix = '${prefix}'`,
            code`
              return ${text}
                .split('\n')
                .map((line) => (line === '' ? ${v.pick(['line', 'prefix.trimEnd()'])} : prefix + line))
                .join('\n');`,
          )}`,
        cases: [
          ['keeps a short line', `${fn}('two words', 20)`],
          [
            'breaks between words',
            `${fn}('the ${v.pick(WORDS)} and the ${v.pick(WORDS)}', ${v.int(9, 12)})`,
          ],
          ['fills a line exactly', `${fn}('abcd efgh ij', 9)`],
          ['breaks one before it is full', `${fn}('abcd efgh ij', 8)`],
          ['gives long words a line', `${fn}('a extraordinary b', 5)`],
          ['ignores blanks', `${fn}('  a   b ', 3)`],
          ['has no lines for nothing', `${fn}('', 5)`],
          ['puts something in front of lines', `${pad}('one\\ntwo')`],
          ['treats empty lines apart', `${pad}('one\\n\\ntwo')`],
          ['takes another prefix', `${pad}('x', '--')`],
        ],
      };
    },
  },
  {
    family: 'palindrome',
    make(v) {
      const [fn, longest, text] = v.names([
        ['isPalindrome', 'longestPalindrome', 'text'],
        ['readsBothWays', 'longestMirror', 'phrase'],
        ['isMirrored', 'bestMirror', 'input'],
      ]);
      const clean = v.pick([
        `${text}.toLowerCase().replace(/[^a-z0-9]/g, '')`,
        `${text}.toLowerCase().replace(/\\W+/g, '')`,
      ]);
      return {
        name: v.pick(['palindrome', 'mirror', 'mirrored-text']),
        source: code`
          ${v.doc('Only letters and digits count.')}
          ${v.fn(
            fn,
            text,
            v.pick([
              code`
                const letters = ${clean};
                for (let i = 0; i < letters.length / 2; i += 1) {
                  ${v.when('letters[i] !== letters[letters.length - 1 - i]', 'return false;')}
                }
                return true;`,
              code`
                const letters = ${clean};
                let left = 0;
                let right = letters.length - 1;
                while (left < right) {
                  ${v.when('letters[left] !== letters[right]', 'return false;')}
                  ${v.step('left')}
                  right -= 1;
                }
                return true;`,
              code`
                const letters = ${clean};
                return letters === [...letters].reverse().join('');`,
            ]),
          )}

          ${v.fn(
            longest,
            'words',
            code`
              let best = '';
              ${v.each('words', 'word', v.when(`${fn}(word) && word.length > best.length`, 'best = word;'))}
              return best;`,
          )}`,
        cases: [
          [
            'accepts a word of odd length',
            `${fn}('${v.pick(['level', 'radar', 'kayak', 'civic'])}')`,
          ],
          ['accepts a word of even length', `${fn}('${v.pick(['noon', 'abba', 'deed'])}')`],
          ['refuses other words', `${fn}('${v.pick(WORDS)}')`],
          ['refuses a word that differs inside', `${fn}('abcda')`],
          ['ignores case and marks', `${fn}('Never odd, or even!')`],
          ['accepts nothing', `${fn}('')`],
          ['finds the longest', `${longest}(['noon', '${v.pick(WORDS)}s', 'level', 'dad'])`],
          ['keeps the first of equal ones', `${longest}(['dad', 'mum', 'abc'])`],
          ['finds none', `${longest}(['ab', 'cd'])`],
        ],
      };
    },
  },
  {
    family: 'cipher',
    make(v) {
      const [encode, decode, text] = v.names([
        ['encode', 'decode', 'text'],
        ['shiftText', 'unshiftText', 'message'],
        ['rotate', 'rotateBack', 'input'],
      ]);
      const rle = v.pick(['compress', 'runLength', 'squeeze']);
      const min = v.int(1, 2);
      return {
        name: v.pick(['cipher', 'rotation', 'secret']),
        source: code`
          ${v.local(
            'shiftLetter',
            'letter, by',
            code`
              const base = letter >= 'a' && letter <= 'z' ? 97 : letter >= 'A' && letter <= 'Z' ? 65 : 0;
              ${v.when('base === 0', 'return letter;')}
              const place = (letter.charCodeAt(0) - base + by + 26) % 26;
              return String.fromCharCode(base + place);`,
          )}

          ${v.fn(
            encode,
            `${text}, by = ${v.int(2, 13)}`,
            v.pick([
              `return [...${text}].map((letter) => shiftLetter(letter, by)).join('');`,
              code`
                let result = '';
                for (const letter of ${text}) result += shiftLetter(letter, by);
                return result;`,
            ]),
          )}

          ${v.fn(decode, `${text}, by`, `return ${encode}(${text}, -by);`)}

          ${v.doc('aaab becomes 3ab.')}
          ${v.fn(
            rle,
            text,
            code`
              let result = '';
              let count = 1;
              for (let i = 0; i < ${text}.length; i += 1) {
                if (${text}[i] === ${text}[i + 1]) {
                  ${v.step('count')}
                } else {
                  result += (count > ${min} ? count : '${min > 1 ? "' + '" : ''}') + ${text}[i]${min > 1 ? '.repeat(count > 2 ? 1 : count)' : ''};
                  count = 1;
                }
              }
              return result;`,
          )}`,
        cases: [
          ['moves letters', `${encode}('abc', ${v.int(1, 5)})`],
          ['goes round at the end', `${encode}('xyz', ${v.int(3, 6)})`],
          ['keeps capitals and marks', `${encode}('Hi, Bob!', 1)`],
          ['has a usual distance', `${encode}('hello')`],
          ['comes back', `${decode}(${encode}('Attack at Dawn', 7), 7)`],
          ['goes round at the start', `${decode}('abc', 2)`],
          ['shortens runs', `${rle}('aaabccdddd')`],
          ['keeps single letters', `${rle}('abc')`],
          ['takes one long run', `${rle}('${'z'.repeat(v.int(4, 12))}')`],
          ['takes nothing', `${rle}('')`],
        ],
      };
    },
  },
  {
    family: 'plural',
    make(v) {
      const [fn, list, word] = v.names([
        ['pluralize', 'listOf', 'word'],
        ['countLabel', 'sentence', 'noun'],
        ['quantity', 'enumerate', 'name'],
      ]);
      const irregular = v.pick(['IRREGULAR', 'SPECIAL', 'EXCEPTIONS']);
      const last = v.pick(['and', 'or']);
      const max = v.int(3, 4);
      return {
        name: v.pick(['plural', 'wording', 'labels']),
        source: code`
          const ${irregular} = { child: 'children', person: 'people', mouse: 'mice' };

          ${v.fn(
            fn,
            `count, ${word}`,
            code`
              ${v.when('count === 1', `return \`1 \${${word}}\`;`)}
              let many = ${irregular}[${word}] ?? \`\${${word}}s\`;
              if (/(?:s|x|ch|sh)$/.test(${word})) {
                many = \`\${${word}}es\`;
              } else if (/[^aeiou]y$/.test(${word})) {
                many = \`\${${word}.slice(0, -1)}ies\`;
              }
              return \`\${count${v.pick(['', " === 0 ? 'no' : count"])}} \${many}\`;`,
          )}

          ${v.doc('At most a few are named, the others are counted.')}
          ${v.fn(
            list,
            `names, limit = ${max}`,
            code`
              ${v.when('names.length === 0', `return '${v.pick(['nobody', 'nothing', 'none'])}';`)}
              ${v.when('names.length === 1', 'return names[0];')}
              if (names.length > limit) {
                const more = names.length - limit;
                return \`\${names.slice(0, limit).join(', ')} ${last} \${more} more\`;
              }
              const head = names.slice(0, -1).join(', ');
              return \`\${head} ${last} \${names[names.length - 1]}\`;`,
          )}`,
        cases: [
          ['counts one', `${fn}(1, '${v.pick(WORDS)}')`],
          ['counts several', `${fn}(${v.int(2, 9)}, '${v.pick(WORDS)}')`],
          ['counts none', `${fn}(0, 'file')`],
          ['knows words in -ch', `${fn}(3, 'match')`],
          ['knows words in -y', `${fn}(2, 'city')`],
          ['knows words in -ay', `${fn}(2, 'day')`],
          ['knows exceptions', `${fn}(${v.int(2, 5)}, '${v.pick(['child', 'person', 'mouse'])}')`],
          ['names one', `${list}(['Ada'])`],
          ['names two', `${list}(['Ada', 'Bob'])`],
          ['names as many as allowed', `${list}(['A', 'B', 'C', 'D'].slice(0, ${max}))`],
          ['counts the others', `${list}(['A', 'B', 'C', 'D', 'E', 'F'])`],
          ['has a word for none', `${list}([])`],
        ],
      };
    },
  },
  {
    family: 'mask',
    make(v) {
      const [fn, email, text] = v.names([
        ['mask', 'maskEmail', 'value'],
        ['hideDigits', 'hideAddress', 'secret'],
        ['redact', 'redactMail', 'text'],
      ]);
      const sign = v.pick(['*', '#', 'x', '•']);
      const keep = v.int(2, 4);
      const initials = v.pick(['initials', 'monogram', 'shortName']);
      return {
        name: v.pick(['mask', 'privacy', 'masking']),
        source: code`
          ${v.doc(`Only the last ${keep} characters stay readable.`)}
          ${v.fn(
            fn,
            `${text}, visible = ${keep}`,
            code`
              ${v.when(`${text}.length <= visible`, `return '${sign}'.repeat(${text}.length);`)}
              const hidden = ${text}.length - visible;
              return '${sign}'.repeat(hidden) + ${text}.slice(hidden);`,
          )}

          ${v.fn(
            email,
            'address',
            code`
              const at = address.indexOf('@');
              ${v.when('at < 1', `return ${fn}(address, 0);`)}
              const name = address.slice(0, at);
              return name[0] + '${sign}'.repeat(name.length - 1) + address.slice(at);`,
          )}

          ${v.fn(
            initials,
            `name, max = ${v.int(2, 3)}`,
            code`
              return name
                .split(' ')
                .filter((part) => part.length > 0)
                .slice(0, max)
                .map((part) => part[0].toUpperCase())
                .join('${v.pick(['', '.'])}');`,
          )}`,
        cases: [
          ['hides a number', `${fn}('${v.int(10000000, 99999999)}')`],
          ['hides short values completely', `${fn}('${'1'.repeat(keep)}')`],
          ['shows one more than it hides', `${fn}('12345'.slice(0, ${keep + 1}))`],
          ['takes another number', `${fn}('abcdefgh', ${v.int(1, 6)})`],
          ['hides a name', `${email}('${v.pick(WORDS)}@example.org')`],
          ['keeps a name of one letter', `${email}('a@example.org')`],
          ['hides what is no address', `${email}('${v.pick(WORDS)}')`],
          ['takes first letters', `${initials}('ada ${v.pick(WORDS)}')`],
          ['takes only a few', `${initials}('a b c d e')`],
          ['ignores blanks', `${initials}(' grace  hopper ')`],
        ],
      };
    },
  },
];
