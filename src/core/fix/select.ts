import type { TestResult } from '../frameworks/framework.ts';
import type { Baseline } from '../grading/types.ts';
import { notLoadable } from './not-loadable.ts';
import { type PrepareProblem, problem } from './prepare.ts';

export type Selection =
  | { readonly kind: 'targets'; readonly targets: readonly TestResult[] }
  | { readonly kind: 'unknown'; readonly problem: PrepareProblem };

/**
 * Which of the failing tests are meant.
 * @param wanted ids, files, or plain names; empty: all that fail
 */
export function selectTargets(baseline: Baseline, wanted: readonly string[]): Selection {
  if (wanted.length === 0) return { kind: 'targets', targets: baseline.failing };
  const chosen = new Map<string, TestResult>();
  for (const name of wanted) {
    const matching = baseline.results.filter((test) => matches(test, name));
    if (matching.length === 0) {
      const broken = brokenFiles(baseline, name);
      if (broken.length > 0) return { kind: 'unknown', problem: notLoadable(broken) };
      const known = baseline.failing.map((test) => `  ${test.id}`).join('\n');
      return {
        kind: 'unknown',
        problem: problem(
          'usage',
          `No test is called “${name}”.`,
          known ? `Failing tests are:\n${known}` : 'List the tests with: prime-agent tests',
        ),
      };
    }
    const failing = baseline.failing.filter((test) => matches(test, name));
    for (const test of failing) chosen.set(test.id, test);
  }
  return { kind: 'targets', targets: [...chosen.values()] };
}

/** Is there something by that name: a test, or a file that could not be loaded? */
export function isNamed(baseline: Baseline, name: string): boolean {
  return (
    baseline.results.some((test) => matches(test, name)) || brokenFiles(baseline, name).length > 0
  );
}

function brokenFiles({ collectionErrors }: Baseline, name: string): Baseline['collectionErrors'] {
  return collectionErrors.filter(({ file }) => name === file || name.startsWith(`${file}::`));
}

function matches(test: TestResult, name: string): boolean {
  return (
    test.id === name ||
    test.file === name ||
    test.name === name ||
    test.id.endsWith(`::${name}`) ||
    test.id.endsWith(` > ${name}`)
  );
}
