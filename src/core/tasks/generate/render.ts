import type { Chance } from '../random.ts';
import type { Case } from './template.ts';

/**
 * A value as source text; undefined where it has no literal: a function, a date, what contains itself, an
 * array with holes, a property that a function gives.
 */
export function literal(value: unknown): string | undefined {
  return literalIn(value, []);
}

function literalIn(value: unknown, containers: readonly unknown[]): string | undefined {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) return 'null';
  if (containers.includes(value)) return undefined;
  const inside = [...containers, value];
  if (Array.isArray(value)) {
    if (Object.keys(value).length !== value.length) return undefined;
    const parts = value.map((inner) => literalIn(inner, inside));
    return joined(parts, '[', ']', ', ');
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const properties = Object.values(Object.getOwnPropertyDescriptors(value));
  if (properties.some(({ get }) => get !== undefined)) return undefined;
  const entries = Object.entries(value).map(([key, inner]) => {
    const text = literalIn(inner, inside);
    const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key);
    return text === undefined ? undefined : `${name}: ${text}`;
  });
  return entries.length === 0 ? '{}' : joined(entries, '{ ', ' }', ', ');
}

function joined(
  parts: readonly (string | undefined)[],
  open: string,
  close: string,
  separator: string,
): string | undefined {
  return parts.includes(undefined) ? undefined : `${open}${parts.join(separator)}${close}`;
}

function quote(text: string): string {
  const inner = text.replace(/[\\\n\r\t']/g, (char) => ESCAPES[char] ?? char);
  return `'${inner}'`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  "'": "\\'",
};

/** What a case gave on the correct module. */
export type Pinned =
  | { readonly kind: 'value'; readonly text: string; readonly deep: boolean }
  | { readonly kind: 'throws'; readonly name: string };

export interface PinnedCase {
  readonly case: Case;
  readonly expected: Pinned;
}

/** The test file of a module, in one of several styles. */
export function renderTests(
  cases: readonly PinnedCase[],
  module: { readonly name: string; readonly path: string; readonly names: readonly string[] },
  chance: Chance,
): string {
  const grouped = chance.chance(0.35);
  const [suite, test] = grouped
    ? chance.pick([
        ['describe', 'it'],
        ['describe', 'test'],
      ])
    : ['', chance.pick(['test', 'test', 'it'])];
  const equal = chance.pick(['equal', 'equal', 'strictEqual']);
  const used = module.names.filter((name) =>
    cases.some(({ case: [, ...lines] }) => new RegExp(`\\b${name}\\b`).test(lines.join('\n'))),
  );
  const blocks = cases.map(({ case: [title, ...lines], expected }) => {
    const statements = lines.slice(0, -1);
    const expression = lines.at(-1) ?? '';
    const check =
      expected.kind === 'throws'
        ? `assert.throws(() => ${expression}, ${expected.name});`
        : expected.deep
          ? `assert.deepEqual(${expression}, ${expected.text});`
          : `assert.${equal}(${expression}, ${expected.text});`;
    return [
      `${test}(${quote(title)}, () => {`,
      ...[...statements, check].map((line) => `  ${line}`),
      '});',
    ].join('\n');
  });
  const body = grouped
    ? [
        `${suite}(${quote(module.name)}, () => {`,
        blocks.join('\n\n').replace(/^(?=.)/gm, '  '),
        '});',
      ].join('\n')
    : blocks.join('\n\n');
  return `${[
    "import assert from 'node:assert/strict';",
    `import { ${[suite, test].filter((name) => name !== '').join(', ')} } from 'node:test';`,
    `import { ${used.join(', ')} } from '${module.path}';`,
    '',
    body,
  ].join('\n')}\n`;
}
