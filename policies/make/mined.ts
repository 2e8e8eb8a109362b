import { createHash } from 'node:crypto';
import type { SyntaxNode } from '@lezer/common';
import { evaluateAll, runFast } from '../../src/core/tasks/generate/fast-run.ts';
import { generateModule } from '../../src/core/tasks/generate/module.ts';
import { literal } from '../../src/core/tasks/generate/render.ts';
import type { Case, Template } from '../../src/core/tasks/generate/template.ts';
import { grammarOf } from '../../src/core/tasks/operators/grammars.ts';
import { createChance } from '../../src/core/tasks/random.ts';
import type { PackageFile } from './package-code.ts';

/*
 * Functions of real code as families of tasks: what a function gives for some arguments is what its tests
 * expect (characterisation tests). A hundred hand-written templates teach a policy those templates; a
 * thousand functions by other people teach what code is like. They are trained on and never ship.
 */

const LINES = { least: 4, most: 32 } as const;
const MOST_CHARACTERS = 1_100;
const LONGEST_LINE = 100;
const MOST_PARAMETERS = 3;
/** Distinct results that the cases of a function have to show. */
const LEAST_RESULTS = 4;
const LEAST_CASES = 6;
const MOST_CASES = 12;
const PROBES = 90;
const LONGEST_RESULT = 120;

/** What a function may use besides its own names: nothing that differs from run to run or reaches outside. */
const GLOBALS = new Set(
  'Array Boolean Error Infinity JSON Map Math NaN Number Object RangeError RegExp Set String Symbol SyntaxError TypeError decodeURIComponent encodeURIComponent isFinite isNaN parseFloat parseInt undefined'.split(
    ' ',
  ),
);
const REACHES_OUTSIDE =
  /\b(?:this|await|yield|async|console|process|require|import|Date|random|arguments|eval|globalThis|window|prototype|toLocale\w+)\b/;

/** Arguments by kind; a function is asked with several of the kinds that tell most about it. */
const POOLS: Readonly<Record<string, readonly string[]>> = {
  number: ['0', '1', '2', '3', '5', '7', '10', '12', '100', '-1', '-4', '0.5'],
  text: [
    "''",
    "'a'",
    "'abc'",
    "'Hello World'",
    "'foo-bar_baz'",
    "'x=1&y=2'",
    "'  padded '",
    "'12'",
    "'a/b/c.txt'",
    "'camelCaseName'",
    "'#ff8800'",
    "'a, b,, c'",
  ],
  list: ['[]', '[1, 2, 3]', '[3, 1, 2, 1]', "['b', 'a']", '[[1, 2], [3]]', '[0, null, 4]', '[5]'],
  records: ['[{ id: 1 }, { id: 2 }]', "[{ name: 'a' }, { name: 'b' }, { name: 'a' }]"],
  record: [
    '{}',
    '{ a: 1, b: 2 }',
    "{ name: 'x', list: [1, 2] }",
    '{ a: { b: { c: 3 } } }',
    '{ min: 1, max: 5 }',
  ],
  truth: ['true', 'false'],
  nothing: ['null', 'undefined'],
  call: ['(x) => x > 1', '(x) => x', '(a, b) => a - b', '(x) => String(x)'],
};

/** At most so many families from files of JavaScript (package-code.ts). */
export async function mineFiles(
  files: AsyncIterable<PackageFile>,
  count: number,
): Promise<readonly Template[]> {
  const found = new Map<string, Template>();
  for await (const { text } of files) {
    for (const template of minedTemplates(text)) found.set(template.family, template);
    if (found.size >= count) break;
  }
  return [...found.values()].slice(0, count);
}

/** Templates of the functions in a file that stand on their own; most files have none. */
export function minedTemplates(text: string): readonly Template[] {
  const parts = partsOf(text);
  const made: Template[] = [];
  for (const part of parts) {
    const name = part.functionName;
    if (name === undefined) continue;
    const source = sourceOf(part, parts);
    if (source === undefined) continue;
    const cases = casesOf(name, part.parameters, source);
    if (cases === undefined) continue;
    const family = `mined-${createHash('sha256').update(source).digest('hex').slice(0, 12)}`;
    const template: Template = {
      family,
      make: (v) => ({
        name: fileName(name),
        source,
        cases: v.shuffle(cases).slice(0, MOST_CASES),
      }),
    };
    if (isSound(template)) made.push(template);
  }
  return made;
}

interface Part {
  readonly text: string;
  /** Of a plain function with plain parameters. */
  readonly functionName: string | undefined;
  readonly parameters: number;
  readonly defines: readonly string[];
  readonly free: ReadonlySet<string>;
  /** May stand in a module of its own: a function, or a name for a value without calls. */
  readonly movable: boolean;
}

function partsOf(text: string): readonly Part[] {
  const parts: Part[] = [];
  const top = grammarOf('javascript').parse(text).topNode;
  for (let node = top.firstChild; node !== null; node = node.nextSibling) {
    let statement = node;
    if (node.name === 'ExportDeclaration') {
      const inner = node.lastChild;
      if (inner === null || /\bdefault\b/.test(text.slice(node.from, inner.from))) continue;
      statement = inner;
    }
    if (!/^(?:FunctionDeclaration|VariableDeclaration)$/.test(statement.name)) continue;
    parts.push(partOf(statement, text));
  }
  return parts;
}

function partOf(node: SyntaxNode, text: string): Part {
  const own = text.slice(node.from, node.to);
  const inside = new Set<string>();
  const used = new Set<string>();
  let plain = true;
  let calls = false;
  node.cursor().iterate(({ name, from, to }) => {
    if (name === 'VariableDefinition') inside.add(text.slice(from, to));
    if (name === 'VariableName') used.add(text.slice(from, to));
    if (name === '⚠' || name === 'TaggedTemplateExpression') plain = false;
    if (name === 'CallExpression' || name === 'NewExpression') calls = true;
  });
  const isFunction = node.name === 'FunctionDeclaration';
  const definition = isFunction ? node.getChild('VariableDefinition') : null;
  const parameters = node.getChild('ParamList');
  const listed = parameters?.getChildren('VariableDefinition').length ?? 0;
  const plainParameters =
    parameters !== null && !/[{[=.]/.test(text.slice(parameters.from, parameters.to));
  plain &&=
    !REACHES_OUTSIDE.test(own) &&
    /^[\t\n\x20-\x7e]*$/.test(own) &&
    !/^\s*async|\*/.test(own.slice(0, 12));
  const functionName = definition === null ? undefined : text.slice(definition.from, definition.to);
  const asked = plain && plainParameters && listed >= 1 && listed <= MOST_PARAMETERS;
  return {
    text: own,
    functionName:
      asked && functionName !== undefined && /^\w+$/.test(functionName) ? functionName : undefined,
    parameters: listed,
    defines: isFunction ? (functionName === undefined ? [] : [functionName]) : topNames(node, text),
    free: new Set([...used].filter((name) => !inside.has(name) && !GLOBALS.has(name))),
    movable: plain && (isFunction || !calls),
  };
}

function topNames(node: SyntaxNode, text: string): readonly string[] {
  return node.getChildren('VariableDefinition').map(({ from, to }) => text.slice(from, to));
}

/** The function with what it needs, exported; undefined: it needs what cannot come along. */
function sourceOf(part: Part, parts: readonly Part[]): string | undefined {
  const kept = new Set([part]);
  for (const { free, movable } of kept) {
    if (!movable) return undefined;
    for (const name of free) {
      const found = parts.find(({ defines }) => defines.includes(name));
      if (found === undefined) return undefined;
      kept.add(found);
    }
  }
  const source = parts
    .filter((other) => kept.has(other))
    .map(({ text }) => text.replaceAll('\r', ''))
    .map((text, _, all) => (text === part.text || all.length === 1 ? `export ${text}` : text))
    .join('\n\n');
  const lines = source.split('\n');
  const fits =
    lines.length >= LINES.least &&
    lines.length <= LINES.most &&
    source.length <= MOST_CHARACTERS &&
    lines.every((line) => line.length <= LONGEST_LINE);
  return fits ? source : undefined;
}

/** Calls that show what the function does, from those kinds of arguments that give most results. */
function casesOf(name: string, parameters: number, source: string): readonly Case[] | undefined {
  const path = 'src/mined.js';
  const chance = createChance('mined', source);
  const kinds = Object.keys(POOLS);
  const probes = Array.from({ length: PROBES }, () => {
    const asked = Array.from({ length: parameters }, () => chance.shuffle(kinds)[0] ?? 'number');
    return asked;
  });
  const calls = probes.flatMap((asked) =>
    Array.from({ length: 4 }, () => {
      const args = asked.map((kind) => chance.shuffle(POOLS[kind] ?? [])[0] ?? '0');
      return { kinds: asked.join(), code: `${name}(${args.join(', ')})` };
    }),
  );
  const results = evaluateAll(
    { [path]: `${source}\n` },
    path,
    calls.map(({ code }) => [code]),
  );
  if (results === undefined) return undefined;
  const byKinds = new Map<string, Map<string, string>>();
  for (const [at, { kinds: asked, code }] of calls.entries()) {
    const result = results[at];
    if (result?.kind !== 'value' || result.value === undefined) continue;
    const text = literal(result.value);
    if (text === undefined || text === 'NaN' || text.length > LONGEST_RESULT) continue;
    const told = byKinds.get(asked) ?? new Map<string, string>();
    told.set(code, text);
    byKinds.set(asked, told);
  }
  const distinct = (told: ReadonlyMap<string, string>) => new Set(told.values()).size;
  const best = [...byKinds.values()].sort((a, b) => distinct(b) - distinct(a)).slice(0, 3);
  const cases = new Map<string, string>();
  for (const told of best) for (const [code, text] of told) cases.set(code, text);
  if (cases.size < LEAST_CASES || distinct(cases) < LEAST_RESULTS) return undefined;
  return [...cases.keys()].map((code): Case => [titleOf(code), code]);
}

function titleOf(code: string): string {
  return code
    .replace(/[^\w ()[\],.:=>-]/g, '')
    .replace(/\s+/g, ' ')
    .slice(0, 60);
}

function fileName(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  return words.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'mined';
}

/** Its module can be made, and its tests pass, twice. */
function isSound(template: Template): boolean {
  try {
    const module = generateModule(template, 1, 0);
    const again = runFast(module.files, module.testPath);
    return again.kind === 'ran' && ![...again.tests.values()].includes(false);
  } catch {
    return false;
  }
}
