import type { SyntaxNode } from '@lezer/common';
import { grammarOf } from '../operators/grammars.ts';
import type { Chance } from '../random.ts';
import type { Case, Draft } from './template.ts';

/** One statement of the top level, with the comment in front of it. */
interface Part {
  readonly text: string;
  readonly defines: readonly string[];
  readonly uses: ReadonlySet<string>;
  readonly exported: boolean;
}

/**
 * The same module with only one of its exports, what that needs, and the cases about it. Small modules
 * are what a small policy learns from: half the lines are twice the attempts in the same time, and half
 * the places to look at.
 *
 * @returns undefined: no single export has so many cases of its own
 */
export function focusDraft(draft: Draft, chance: Chance, fewestCases: number): Draft | undefined {
  const parts = partsOf(draft.source);
  const exported = parts.filter((part) => part.exported);
  const names = exported.flatMap(({ defines }) => defines);
  for (const wanted of chance.shuffle(exported)) {
    const kept = neededBy(wanted, parts);
    if (kept.size === parts.length) continue;
    const gone = names.filter((name) => ![...kept].some(({ defines }) => defines.includes(name)));
    const cases = draft.cases.filter(
      (found) => mentions(found, wanted.defines) && !mentions(found, gone),
    );
    if (cases.length < fewestCases) continue;
    // What is exported for others only stays so: whoever imports the module may use it as well.
    const source = parts.filter((part) => kept.has(part)).map(({ text }) => text);
    const { helper } = draft;
    const needsHelper =
      helper !== undefined && source.some((text) => text.includes(`'./${helper.name}.js'`));
    return {
      name: draft.name,
      source: source.join('\n\n'),
      cases,
      ...(needsHelper && { helper }),
    };
  }
  return undefined;
}

function neededBy(wanted: Part, parts: readonly Part[]): ReadonlySet<Part> {
  const kept = new Set([wanted]);
  // A set also visits what is added while it is walked through.
  for (const { uses } of kept) {
    for (const other of parts) {
      if (other.defines.some((name) => uses.has(name))) kept.add(other);
    }
  }
  return kept;
}

function mentions([, ...code]: Case, names: readonly string[]): boolean {
  const words = new Set(code.join('\n').match(/[\w$]+/g));
  return names.some((name) => words.has(name));
}

function partsOf(source: string): readonly Part[] {
  const parts: Part[] = [];
  let from: number | undefined;
  const top = grammarOf('javascript').parse(source).topNode;
  for (let node = top.firstChild; node !== null; node = node.nextSibling) {
    from ??= node.from;
    if (node.name.endsWith('Comment')) continue;
    parts.push({
      text: source.slice(from, node.to),
      defines: definitionsOf(node, source),
      uses: usesOf(node, source),
      exported: node.name === 'ExportDeclaration',
    });
    from = undefined;
  }
  return parts;
}

/** Names that a statement gives to the module, not those inside of its functions. */
function definitionsOf(statement: SyntaxNode, source: string): readonly string[] {
  const names: string[] = [];
  statement.cursor().iterate((node) => {
    if (node.name === 'VariableDefinition') names.push(source.slice(node.from, node.to));
    return !/^(?:Block|ParamList|ArrowFunction|FunctionExpression|ClassBody)$/.test(node.name);
  });
  return names;
}

function usesOf(statement: SyntaxNode, source: string): ReadonlySet<string> {
  const names = new Set<string>();
  statement.cursor().iterate((node) => {
    if (node.name === 'VariableName') names.add(source.slice(node.from, node.to));
  });
  return names;
}
