import { code } from '../code.ts';
import type { Template } from '../template.ts';

export const checkTemplates: readonly Template[] = [
  {
    family: 'password',
    make(v) {
      const [check, score, input] = v.names([
        ['checkPassword', 'strength', 'password'],
        ['problemsOf', 'scoreOf', 'secret'],
        ['validate', 'rate', 'text'],
      ]);
      const min = v.int(6, 10);
      const max = v.int(16, 24);
      const forbidden = v.pick(['password', 'qwerty', 'letmein']);
      return {
        name: v.pick(['password', 'password-rules', 'strength']),
        source: code`
          const RULES = [
            { test: (text) => text.length >= ${min}, message: 'too short' },
            { test: (text) => text.length <= ${max}, message: 'too long' },
            { test: (text) => /[0-9]/.test(text), message: 'no digit' },
            { test: (text) => /[A-Z]/.test(text), message: 'no capital' },
            { test: (text) => !text.toLowerCase().includes('${forbidden}'), message: 'too common' },
          ];

          ${v.doc('What is wrong with it, in words.')}
          ${v.fn(
            check,
            input,
            v.pick([
              `return RULES.filter((rule) => !rule.test(${input})).map((rule) => rule.message);`,
              code`
                const problems = [];
                for (const { test, message } of RULES) {
                  ${v.when(`!test(${input})`, 'problems.push(message);')}
                }
                return problems;`,
            ]),
          )}

          ${v.fn(
            score,
            input,
            code`
              let points = 0;
              ${v.when(`${input}.length >= ${min}`, v.step('points'))}
              ${v.when(`${input}.length >= ${min + 4}`, v.step('points'))}
              ${v.when(`/[a-z]/.test(${input}) && /[A-Z]/.test(${input})`, v.step('points'))}
              ${v.when(`/[^A-Za-z0-9]/.test(${input})`, v.step('points'))}
              return ['weak', 'weak', 'fair', 'good', 'strong'][points];`,
          )}`,
        cases: [
          ['accepts a good one', `${check}('Green4${'river'.repeat(2)}')`],
          ['finds a short one', `${check}('Ab1${'x'.repeat(min - 4)}')`],
          ['accepts the shortest', `${check}('Ab1${'x'.repeat(min - 3)}')`],
          ['finds a long one', `${check}('Ab1${'x'.repeat(max - 2)}')`],
          ['accepts the longest', `${check}('Ab1${'x'.repeat(max - 3)}')`],
          ['finds missing digits', `${check}('Abcdefghijkl')`],
          ['finds missing capitals', `${check}('abcdefgh${v.int(1000, 9999)}')`],
          ['finds common ones', `${check}('My${forbidden.toUpperCase()}${v.int(1, 9)}')`],
          ['finds several problems', `${check}('ab')`],
          ['rates a weak one', `${score}('abc')`],
          ['rates a fair one', `${score}('${'a'.repeat(min + 4)}')`],
          ['rates a strong one', `${score}('Ab!${'x'.repeat(min + 2)}')`],
        ],
      };
    },
  },
  {
    family: 'checksum',
    make(v) {
      const [luhn, digit, text] = v.names([
        ['isValidCard', 'checkDigit', 'number'],
        ['passesLuhn', 'luhnDigit', 'digits'],
        ['isValid', 'completingDigit', 'code'],
      ]);
      const format = v.pick(['formatCard', 'group', 'spaced']);
      const size = v.pick([3, 4]);
      return {
        name: v.pick(['checksum', 'card-number', 'luhn']),
        source: code`
          ${v.local(
            'luhnSum',
            'digits',
            code`
              let sum = 0;
              for (let i = 0; i < digits.length; i += 1) {
                let value = Number(digits[digits.length - 1 - i]);
                if (i % 2 === 1) {
                  value *= 2;
                  ${v.when('value > 9', 'value -= 9;')}
                }
                ${v.plus('sum', 'value')}
              }
              return sum;`,
          )}

          ${v.fn(
            luhn,
            text,
            code`
              const clean = ${text}.replace(/[ -]/g, '');
              ${v.when(`!/^\\d{${v.pick(['2,', '8,19', '4,'])}}$/.test(clean)`, 'return false;')}
              return luhnSum(clean) % 10 === 0;`,
          )}

          ${v.fn(digit, text, `return (10 - (luhnSum(${text} + '0') % 10)) % 10;`)}

          ${v.fn(
            format,
            text,
            code`
              let result = '';
              for (const [index, char] of [...${text}].entries()) {
                ${v.when(`index > 0 && index % ${size} === 0`, "result += ' ';")}
                result += char;
              }
              return result;`,
          )}`,
        cases: [
          ['accepts a good number', `${luhn}('4539 1488 0343 6467')`],
          ['accepts another good number', `${luhn}('6011-1111-1111-1117')`],
          ['refuses a wrong digit', `${luhn}('4539 1488 0343 646${v.pick([1, 2, 5, 8])}')`],
          ['refuses swapped digits', `${luhn}('5439 1488 0343 6467')`],
          ['refuses letters', `${luhn}('4539 1488 0343 646a')`],
          ['refuses nothing at all', `${luhn}('')`],
          ['finds the last digit', `${digit}('${v.int(1000000, 9999999)}')`],
          ['finds a last digit of zero', `${digit}('0000')`],
          [
            'makes a good number',
            `const number = '${v.int(1000000, 9999999)}';`,
            `${luhn}(number + ${digit}(number))`,
          ],
          ['groups digits', `${format}('${v.int(10000000, 99999999)}')`],
          ['groups short numbers', `${format}('${v.int(10, 99)}')`],
        ],
      };
    },
  },
  {
    family: 'form',
    make(v) {
      const [validate, rules, form] = v.names([
        ['validate', 'RULES', 'form'],
        ['findErrors', 'FIELDS', 'input'],
        ['checkForm', 'CHECKS', 'values'],
      ]);
      const [lowest, highest] = [v.pick([16, 18, 21]), v.pick([99, 110, 120])];
      const ok = v.pick(['isComplete', 'isOk', 'canSend']);
      const who = `{ name: 'Ada', age: ${lowest + v.int(1, 40)}, email: 'ada@example.org' }`;
      return {
        name: v.pick(['form', 'signup', 'form-check']),
        source: code`
          const ${rules} = {
            name: (value) => typeof value === 'string' && value.trim().length >= ${v.int(2, 3)},
            age: (value) => Number.isInteger(value) && value >= ${lowest} && value <= ${highest},
            email: (value) => /^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test(value ?? ''),
          };

          ${v.doc('Names of the fields that are wrong.')}
          ${v.fn(
            validate,
            form,
            v.pick([
              `return Object.keys(${rules}).filter((field) => !${rules}[field](${form}[field]));`,
              code`
                const wrong = [];
                for (const [field, isValid] of Object.entries(${rules})) {
                  ${v.when(`!isValid(${form}[field])`, 'wrong.push(field);')}
                }
                return wrong;`,
            ]),
          )}

          ${v.fn(ok, form, `return ${validate}(${form}).length === 0;`)}

          ${v.fn(
            'summary',
            form,
            code`
              const wrong = ${validate}(${form});
              ${v.when('wrong.length === 0', "return 'ok';")}
              return \`\${wrong.length} of \${Object.keys(${rules}).length} fields: \${wrong.join(', ')}\`;`,
          )}`,
        cases: [
          ['accepts a good form', `${validate}(${who})`],
          ['finds a short name', `${validate}({ ...${who}, name: 'A ' })`],
          ['accepts the lowest age', `${validate}({ ...${who}, age: ${lowest} })`],
          ['finds a lower age', `${validate}({ ...${who}, age: ${lowest - 1} })`],
          ['accepts the highest age', `${ok}({ ...${who}, age: ${highest} })`],
          ['finds a higher age', `${ok}({ ...${who}, age: ${highest + 1} })`],
          ['finds fractions', `${validate}({ ...${who}, age: ${lowest}.5 })`],
          ['finds an address without a point', `${validate}({ ...${who}, email: 'ada@example' })`],
          ['finds everything missing', `${validate}({})`],
          ['sums up a good form', `summary(${who})`],
          ['sums up problems', `summary({ name: 'Ada', age: ${v.int(1, 9)} })`],
        ],
      };
    },
  },
  {
    family: 'brackets',
    make(v) {
      const [balanced, depth, text] = v.names([
        ['isBalanced', 'maxDepth', 'text'],
        ['bracketsMatch', 'deepest', 'source'],
        ['closes', 'nesting', 'input'],
      ]);
      const pairs = v.pick(['PAIRS', 'CLOSING', 'OPENERS']);
      const first = v.pick(['firstProblem', 'errorAt', 'wrongAt']);
      return {
        name: v.pick(['brackets', 'nesting', 'balance']),
        source: code`
          const ${pairs} = { ')': '(', ']': '[', '}': '{' };

          ${v.doc('Place of the first bracket that does not fit, or -1.')}
          ${v.fn(
            first,
            text,
            code`
              const open = [];
              for (let i = 0; i < ${text}.length; i += 1) {
                const char = ${text}[i];
                if ('([{'.includes(char)) {
                  open.push(i);
                } else if (char in ${pairs}) {
                  const last = open.pop();
                  ${v.when(`last === undefined || ${text}[last] !== ${pairs}[char]`, 'return i;')}
                }
              }
              return open.length > 0 ? open[0] : -1;`,
          )}

          ${v.fn(balanced, text, `return ${first}(${text}) === -1;`)}

          ${v.fn(
            depth,
            text,
            code`
              let level = 0;
              let deepest = 0;
              for (const char of ${text}) {
                if (char === '(') {
                  ${v.step('level')}
                  deepest = Math.max(deepest, level);
                } else if (char === ')') {
                  level -= 1;
                }
              }
              return deepest;`,
          )}`,
        cases: [
          ['accepts a pair', `${balanced}('(${v.pick(['a', 'b + c'])})')`],
          ['accepts pairs in pairs', `${balanced}('{[()]}')`],
          ['refuses a mixed order', `${balanced}('([)]')`],
          ['refuses what stays open', `${balanced}('((a)')`],
          ['refuses what was never open', `${balanced}('a)')`],
          ['accepts text without brackets', `${balanced}('${v.pick(['abc', 'x y z'])}')`],
          ['finds the wrong bracket', `${first}('f(a])')`],
          ['finds the open bracket', `${first}('x[1 + (2)')`],
          ['counts depth', `${depth}('(a(b)(c(d)))')`],
          ['counts side by side', `${depth}('()()')`],
          ['counts no depth', `${depth}('')`],
        ],
      };
    },
  },
  {
    family: 'grades',
    make(v) {
      const [grade, summary, list] = v.names([
        ['gradeOf', 'classSummary', 'students'],
        ['letterFor', 'report', 'pupils'],
        ['mark', 'overview', 'results'],
      ]);
      const cuts = v.pick(['90, 80, 70, 60', '85, 70, 55, 40', '88, 76, 64, 50']).split(', ');
      const key = v.pick(['points', 'score', 'percent']);
      const pass = cuts[3] ?? '50';
      const p = (name: string, n: number | string): string => `{ name: '${name}', ${key}: ${n} }`;
      return {
        name: v.pick(['grades', 'exam', 'marks']),
        source: code`
          const LIMITS = [
            ['A', ${cuts[0] ?? ''}],
            ['B', ${cuts[1] ?? ''}],
            ['C', ${cuts[2] ?? ''}],
            ['D', ${cuts[3] ?? ''}],
          ];

          ${v.fn(
            grade,
            key,
            v.pick([
              code`
                for (const [letter, limit] of LIMITS) {
                  ${v.when(`${key} >= limit`, 'return letter;')}
                }
                return 'F';`,
              code`
                const found = LIMITS.find(([, limit]) => ${key} >= limit);
                return found ? found[0] : 'F';`,
            ]),
          )}

          ${v.doc('How many passed, the best one and the mean.')}
          ${v.fn(
            summary,
            list,
            code`
              ${v.when(`${list}.length === 0`, 'return { passed: 0, best: null, mean: 0 };')}
              let total = 0;
              let passed = 0;
              let best = ${list}[0];
              for (const entry of ${list}) {
                ${v.plus('total', `entry.${key}`)}
                ${v.when(`${grade}(entry.${key}) !== 'F'`, v.step('passed'))}
                ${v.when(`entry.${key} > best.${key}`, 'best = entry;')}
              }
              return { passed, best: best.name, mean: total / ${list}.length };`,
          )}`,
        cases: [
          ['gives the best grade', `${grade}(${v.int(92, 100)})`],
          [
            'gives a grade at its limit',
            `${grade}(${v.pick([cuts[0] ?? '', cuts[1] ?? '', cuts[2] ?? ''])})`,
          ],
          ['gives the next grade just below', `${grade}(${Number(cuts[1]) - 1})`],
          ['passes at the limit', `${grade}(${pass})`],
          ['fails below the limit', `${grade}(${Number(pass) - 1})`],
          ['fails with nothing', `${grade}(0)`],
          [
            'counts who passed',
            `${summary}([${p('Ada', 95)}, ${p('Bob', v.int(1, 30))}, ${p('Cid', pass)}]).passed`,
          ],
          [
            'finds the best',
            `${summary}([${p('Ada', 50)}, ${p('Bob', 90)}, ${p('Cid', v.int(60, 80))}]).best`,
          ],
          [
            'prefers the first of equal ones',
            `${summary}([${p('Ada', 70)}, ${p('Bob', 70)}]).best`,
          ],
          ['gives the mean', `${summary}([${p('Ada', 60)}, ${p('Bob', v.int(31, 45) * 2)}]).mean`],
          ['takes an empty class', `${summary}([])`],
        ],
      };
    },
  },
  {
    family: 'access-rights',
    make(v) {
      const [can, roles, user] = v.names([
        ['can', 'ROLES', 'user'],
        ['mayDo', 'GRANTS', 'member'],
        ['isPermitted', 'RIGHTS', 'account'],
      ]);
      const [a, b, c] = v.names([
        ['reader', 'editor', 'admin'],
        ['guest', 'author', 'owner'],
      ]);
      const visible = v.pick(['visibleTo', 'readable', 'listFor']);
      return {
        name: v.pick(['access', 'permissions', 'rights']),
        source: code`
          const ${roles} = {
            ${a}: ['read'],
            ${b}: ['read', 'write'],
            ${c}: ['read', 'write', 'delete'],
          };

          ${v.doc('Who made something may also change it.')}
          ${v.fn(
            can,
            `${user}, action, item`,
            code`
              ${v.when(`${user}.blocked`, 'return false;')}
              const granted = ${roles}[${user}.role] ?? [];
              ${v.when('granted.includes(action)', 'return true;')}
              return item !== undefined && item.owner === ${user}.name && action !== 'delete';`,
          )}

          ${v.fn(
            visible,
            `${user}, items`,
            code`
              return items
                .filter((item) => !item.hidden || item.owner === ${user}.name || ${user}.role === '${c}')
                .map((item) => item.id);`,
          )}`,
        cases: [
          ['lets all read', `${can}({ role: '${a}' }, 'read')`],
          ['does not let all write', `${can}({ role: '${a}' }, 'write')`],
          ['lets some write', `${can}({ role: '${b}' }, 'write')`],
          [
            'lets few delete',
            `[${can}({ role: '${b}' }, 'delete'), ${can}({ role: '${c}' }, 'delete')]`,
          ],
          ['lets makers write', `${can}({ role: '${a}', name: 'ada' }, 'write', { owner: 'ada' })`],
          [
            'does not let others write',
            `${can}({ role: '${a}', name: 'bob' }, 'write', { owner: 'ada' })`,
          ],
          [
            'does not let makers delete',
            `${can}({ role: '${a}', name: 'ada' }, 'delete', { owner: 'ada' })`,
          ],
          ['lets the blocked do nothing', `${can}({ role: '${c}', blocked: true }, 'read')`],
          ['knows no other roles', `${can}({ role: 'ghost' }, 'read')`],
          [
            'shows what is not hidden',
            `${visible}({ role: '${a}', name: 'bob' }, [{ id: 1 }, { id: ${v.int(2, 9)}, hidden: true }])`,
          ],
          [
            'shows makers what they hid',
            `${visible}({ role: '${a}', name: 'ada' }, [{ id: 1, hidden: true, owner: 'ada' }])`,
          ],
          [
            'shows everything to some',
            `${visible}({ role: '${c}' }, [{ id: 1, hidden: true }, { id: 2 }])`,
          ],
        ],
      };
    },
  },
];
