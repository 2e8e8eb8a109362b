import type { SyntaxNode } from '@lezer/common';
import type { Language, TextRange } from './operators/edit.ts';
import { grammarOf } from './operators/grammars.ts';
import type { Chance } from './random.ts';

export interface LocatedTest {
  readonly id: string;
  readonly name: string;
  /** 1-based line of the test, where known. */
  readonly line?: number;
  /** Names of the tests and suites that it is part of, outermost first. */
  readonly within?: readonly string[];
}

/** Part of a test file that holds one or more tests (a loop, parameters) and can be cut out. */
export interface TestUnit extends TextRange {
  readonly ids: readonly string[];
}

/**
 * Finds the statements that make tests. Tests that cannot be told from others are left out. Tests
 * inside of a test go with it: the outer one may count them, and goes without them if it is cut.
 */
export function findTestUnits(
  source: string,
  language: Language,
  tests: readonly LocatedTest[],
): readonly TestUnit[] {
  const all = language === 'python' ? pythonTests(source) : scriptTests(source, language);
  const statements = all.filter(
    (inner) =>
      !all.some(
        (outer) =>
          outer !== inner &&
          outer.range.from <= inner.range.from &&
          inner.range.to < outer.range.to,
      ),
  );
  const units = new Map<number, { range: TextRange; ids: string[] }>();
  for (const test of tests) {
    const own = statements.filter(({ name, line, lastLine }) =>
      test.line === undefined
        ? name === test.name
        : line <= test.line &&
          test.line <= lastLine &&
          (name === test.name || test.within?.includes(name)),
    );
    const [found] = own;
    if (found === undefined || own.length > 1) continue;
    const unit = units.get(found.range.from);
    if (unit === undefined) units.set(found.range.from, { range: found.range, ids: [test.id] });
    else unit.ids.push(test.id);
  }
  return [...units.values()]
    .map(({ range, ids }) => ({ ...range, ids }))
    .sort((a, b) => a.from - b.from);
}

/**
 * Which units the agent does not see: half of all tests, but at least one failing and one passing
 * test stay (those without a unit stay anyway).
 */
export function chooseHidden<Unit extends Pick<TestUnit, 'ids'>>(
  units: readonly Unit[],
  all: readonly string[],
  failing: ReadonlySet<string>,
  chance: Chance,
): readonly Unit[] {
  const visible = new Set(all);
  const hidden = new Set<Unit>();
  let left = Math.floor(all.length / 2);
  for (const unit of chance.shuffle(units)) {
    if (unit.ids.length > left) continue;
    const rest = [...visible].filter((id) => !unit.ids.includes(id));
    if (!rest.some((id) => failing.has(id)) || !rest.some((id) => !failing.has(id))) continue;
    for (const id of unit.ids) visible.delete(id);
    left -= unit.ids.length;
    hidden.add(unit);
  }
  return units.filter((unit) => hidden.has(unit));
}

interface Found {
  readonly name: string;
  readonly line: number;
  readonly lastLine: number;
  readonly range: TextRange;
}

/** `test('name', …);` and `it('name', …);` as statements of their own. */
function scriptTests(source: string, language: Language): readonly Found[] {
  const found: Found[] = [];
  grammarOf(language)
    .parse(source)
    .iterate({
      enter(ref) {
        if (ref.name !== 'CallExpression') return;
        const call = ref.node;
        const statement = call.parent;
        const callee = source.slice(call.firstChild?.from ?? 0, call.firstChild?.to ?? 0);
        if (statement?.name !== 'ExpressionStatement') return;
        if (!/^(?:test|it|t\.test)(?:\.\w+)?$/.test(callee)) return;
        const name = call.getChild('ArgList')?.firstChild?.nextSibling;
        if (name?.name !== 'String') return;
        found.push(
          place(source, statement, stringValue(source.slice(name.from, name.to)), call.from),
        );
      },
    });
  return found;
}

/** Functions `test_…`, with their decorators. */
function pythonTests(source: string): readonly Found[] {
  const found: Found[] = [];
  grammarOf('python')
    .parse(source)
    .iterate({
      enter(ref) {
        if (ref.name !== 'FunctionDefinition') return;
        const name = ref.node.getChild('VariableName');
        if (name === null) return;
        const text = source.slice(name.from, name.to);
        if (!text.startsWith('test')) return;
        const { parent } = ref.node;
        const whole = parent?.name === 'DecoratedStatement' ? parent : ref.node;
        // The last statement of a class cannot go: an empty body is no Python.
        const siblings =
          whole.parent?.name === 'Body'
            ? whole.parent.getChildren('FunctionDefinition').length +
              whole.parent.getChildren('DecoratedStatement').length
            : 2;
        if (siblings < 2) return;
        found.push(place(source, whole, text, whole.from));
      },
    });
  return found;
}

/** Whole lines, with a comment right above and the blank lines below. */
function place(source: string, node: SyntaxNode, name: string, at: number): Found {
  let from = source.lastIndexOf('\n', node.from - 1) + 1;
  for (;;) {
    const above = source.lastIndexOf('\n', from - 2) + 1;
    if (from === 0 || !/^[ \t]*(?:\/\/|#)/.test(source.slice(above, from))) break;
    from = above;
  }
  const trimmed = source.slice(node.from, node.to).trimEnd().length + node.from;
  const rest = /^[^\n]*\n(?:[ \t]*\n)*/.exec(source.slice(trimmed))?.[0] ?? '';
  const line = (offset: number): number => source.slice(0, offset).split('\n').length;
  return {
    name,
    line: line(at),
    lastLine: line(trimmed),
    range: { from, to: trimmed + rest.length },
  };
}

function stringValue(text: string): string {
  const body = text.slice(1, -1);
  return body.replace(/\\(u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|.)/gis, (_, code: string) => {
    const named: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0' };
    if (/^[ux]/i.test(code) && code.length > 1) {
      return String.fromCodePoint(Number.parseInt(code.slice(1).replace(/[{}]/g, ''), 16));
    }
    return named[code] ?? code;
  });
}
