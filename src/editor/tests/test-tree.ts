import type { TestResult } from '../../core/frameworks/framework.ts';

/** Tests as the Test Explorer shows them: files, in them suites, in them tests. */
export interface TestNode {
  /** Unique among its siblings. */
  readonly id: string;
  readonly label: string;
  readonly children: readonly TestNode[];
  /** Of a test; suites and files have none. */
  readonly result?: TestResult;
}

/** The parts of a test's id behind its file: suites or classes, then the test's own name. */
export function namesOf(id: string): readonly string[] {
  const at = id.indexOf('::');
  if (at < 0) return [];
  const rest = id.slice(at + 2);
  // pytest joins with `::` (a parameter may hold anything), node:test with ` > `.
  const parameters = /\[.*\]$/s.exec(rest)?.[0] ?? '';
  const plain = rest.slice(0, rest.length - parameters.length);
  const names = plain.includes('::') ? plain.split('::') : rest.split(' > ');
  if (!plain.includes('::') || parameters === '') return names;
  return [...names.slice(0, -1), `${names.at(-1) ?? ''}${parameters}`];
}

interface Growing {
  readonly id: string;
  readonly label: string;
  readonly children: Map<string, Growing>;
  result?: TestResult;
}

export function testTree(results: readonly TestResult[]): readonly TestNode[] {
  const files = new Map<string, Growing>();
  for (const result of results) {
    let node = childOf(files, result.file, result.file);
    const names = namesOf(result.id);
    // A test of an own command has no name behind its file.
    const path = names.length > 0 ? names : [result.name];
    let id = result.file;
    for (const [index, name] of path.entries()) {
      id = index === path.length - 1 ? result.id : `${id}::${name}`;
      node = childOf(node.children, id, name);
    }
    node.result = result;
  }
  return [...files.values()].map(finished);
}

function childOf(children: Map<string, Growing>, id: string, label: string): Growing {
  const known = children.get(id);
  if (known) return known;
  const made: Growing = { id, label, children: new Map() };
  children.set(id, made);
  return made;
}

function finished({ id, label, children, result }: Growing): TestNode {
  const below = [...children.values()].map(finished);
  return { id, label, children: below, ...(result ? { result } : {}) };
}
