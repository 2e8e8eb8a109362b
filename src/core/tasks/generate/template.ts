import type { Chance } from '../random.ts';

/** A family of modules that do the same thing in many ways. */
export interface Template {
  readonly family: string;
  make(v: Variation): Draft;
}

/** A module before its tests are pinned. */
export interface Draft {
  /** Base name of the module's file, `price-range`. */
  readonly name: string;
  readonly source: string;
  /** A second file, which `source` imports as `./NAME.js`. */
  readonly helper?: { readonly name: string; readonly source: string };
  readonly cases: readonly Case[];
}

/**
 * Title, statements, and last an expression. What the expression gives (or throws) on the correct
 * module is what the test expects.
 */
export type Case = readonly [title: string, ...code: [string, ...string[]]];

/** Ways to write the same thing; the choices that make up a house style are made once per module. */
export interface Variation extends Chance {
  /** A comment in front of something, or nothing. */
  doc(...texts: readonly [string, ...string[]]): string;
  /** An exported function. */
  fn(name: string, parameters: string, body: string): string;
  /** A function of the module's own. */
  local(name: string, parameters: string, body: string): string;
  /** `if (condition) statement`. */
  when(condition: string, statement: string): string;
  /** Returns one of two values. */
  either(condition: string, yes: string, no: string): string;
  /** A loop over a list; `body` must not leave it by `return` of a callback. */
  each(list: string, item: string, body: string): string;
  /** `target += value;`. */
  plus(target: string, value: string): string;
  /** `target += 1` as a statement. */
  step(target: string): string;
  /** One of the tuples, each with names for the same things. */
  names<T extends readonly string[]>(options: readonly [T, ...T[]]): T;
}

export function createVariation(chance: Chance): Variation {
  const arrows = chance.chance(0.3);
  const braces = chance.chance(0.5);
  const indexed = chance.chance(0.3);
  const compound = chance.chance(0.75);
  const comments = chance.pick(['none', 'line', 'block', 'line'] as const);
  const stepping = chance.pick(['++', '+= 1', '+= 1']);

  const body = (text: string): string => `{\n${indent(text)}\n}`;
  const define = (name: string, parameters: string, text: string, exported: string): string => {
    const single = /^return ([^;\n]+);$/.exec(text)?.[1];
    if (arrows && single !== undefined && !single.startsWith('{')) {
      return `${exported}const ${name} = (${parameters}) => ${single};`;
    }
    return arrows
      ? `${exported}const ${name} = (${parameters}) => ${body(text)};`
      : `${exported}function ${name}(${parameters}) ${body(text)}`;
  };
  return {
    ...chance,
    doc(...texts) {
      if (comments === 'none') return '';
      const text = chance.pick(texts);
      return comments === 'line' ? `// ${text}` : `/** ${text} */`;
    },
    fn: (name, parameters, text) => define(name, parameters, text, 'export '),
    local: (name, parameters, text) => define(name, parameters, text, ''),
    when: (condition, statement) =>
      braces || statement.includes('\n')
        ? `if (${condition}) ${body(statement)}`
        : `if (${condition}) ${statement}`,
    either(condition, yes, no) {
      switch (chance.int(0, 2)) {
        case 0:
          return `return ${condition} ? ${yes} : ${no};`;
        case 1:
          return `if (${condition}) {\n  return ${yes};\n}\nreturn ${no};`;
        default:
          return `if (${condition}) return ${yes};\nreturn ${no};`;
      }
    },
    each(list, item, text) {
      if (!indexed || !/^\w+$/.test(list)) return `for (const ${item} of ${list}) ${body(text)}`;
      const step = stepping === '++' ? 'i++' : 'i += 1';
      return `for (let i = 0; i < ${list}.length; ${step}) ${body(`const ${item} = ${list}[i];\n${text}`)}`;
    },
    plus: (target, value) =>
      compound ? `${target} += ${value};` : `${target} = ${target} + ${value};`,
    step: (target) => (stepping === '++' ? `${target}++;` : `${target} += 1;`),
    names: (options) => chance.pick(options),
  };
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
}
