import type { TestResult } from '../../core/frameworks/framework.ts';
import { namesOf } from '../tests/test-tree.ts';

/** A selector with its path relative to the folder; `''` is the folder itself. */
export interface RelativeSelector {
  readonly path: string;
  readonly id?: string;
  readonly names: readonly string[];
  /** 1-based. */
  readonly line?: number;
}

/**
 * Which tests somebody means, as precisely as their words allow: by id, else by the names of suites
 * and test, else by the line, else the whole file or folder.
 */
export function matchTests(
  results: readonly TestResult[],
  { path, id, names, line }: RelativeSelector,
): readonly TestResult[] {
  const here = results.filter(({ file }) => isInside(file, path));
  const byId = id === undefined ? [] : here.filter((test) => sameId(test.id, id));
  if (byId.length > 0) return byId;
  if (names.length > 0) {
    const wanted = names.join('');
    const exact = here.filter((test) => namesOf(test.id).join('') === wanted);
    if (exact.length > 0) return exact;
    const below = here.filter((test) => beginsWith(namesOf(test.id), names));
    if (below.length > 0) return below;
  }
  if (line !== undefined) {
    const nearest = nearestAbove(here, line);
    if (nearest.length > 0) return nearest;
  }
  return names.length > 0 ? [] : here;
}

function isInside(file: string, path: string): boolean {
  return path === '' || file === path || file.startsWith(`${path}/`);
}

/** Other extensions write absolute paths where ours are relative to the folder. */
function sameId(own: string, other: string): boolean {
  return own === other || other.endsWith(`/${own}`);
}

/** A suite, a class, or a test without its parameters. */
function beginsWith(names: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((name, index) => {
    const own = names[index];
    return own === name || (index === wanted.length - 1 && own?.startsWith(`${name}[`) === true);
  });
}

/** Tests that begin on the last line at or above the given one. */
function nearestAbove(tests: readonly TestResult[], line: number): readonly TestResult[] {
  const lines = tests.flatMap((test) =>
    test.line !== undefined && test.line <= line ? [test.line] : [],
  );
  const nearest = Math.max(...lines);
  return tests.filter((test) => test.line === nearest);
}
