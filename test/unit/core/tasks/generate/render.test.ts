import fc from 'fast-check';
import { expect, it } from 'vitest';
import { code } from '../../../../../src/core/tasks/generate/code.ts';
import { literal } from '../../../../../src/core/tasks/generate/render.ts';

it('writes values that read back as themselves', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.boolean(),
      fc.constantFrom(null, undefined),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(
        fc.string().filter((key) => key !== '__proto__'),
        tie('any'),
        { maxKeys: 3 },
      ),
    ),
  })).any;
  fc.assert(
    fc.property(value, (given) => {
      const read: unknown = new Function(`return (${literal(given)});`)();
      expect(read).toEqual(given);
    }),
  );
});

it('has no literal for functions, maps and the like', () => {
  for (const value of [() => 1, new Map(), [new Set()], { at: new Date() }, Symbol('x')]) {
    expect(literal(value)).toBeUndefined();
  }
});

it('has no literal for what contains itself, arrays with holes and properties that a function gives', () => {
  const self: { inside?: unknown } = {};
  self.inside = [self];
  const holes: unknown[] = [];
  holes.length = 1e9;
  const calls = {
    get now(): never {
      throw new Error('a literal calls nothing');
    },
  };
  for (const value of [self, holes, calls]) expect(literal(value)).toBeUndefined();
  const twice = { a: 1 };
  expect(literal([twice, twice])).toBe('[{ a: 1 }, { a: 1 }]');
});

it('indents values of several lines and leaves empty lines out', () => {
  const inner = 'one();\ntwo();';
  expect(code`
    if (x) {
      ${inner}
      ${''}
    }
    return '\n' + \`\${x}\`;`).toBe(
    ['if (x) {', '  one();', '  two();', '}', "return '\\n' + `$", '{x}`;']
      .join('\n')
      .replace('$\n', '$'),
  );
});
