import { describe, expect, it } from 'vitest';
import { isNamed, selectTargets } from '../../../src/core/fix/select.ts';
import type { TestResult } from '../../../src/core/frameworks/framework.ts';
import type { Baseline } from '../../../src/core/grading/types.ts';

const test = (file: string, name: string, status: TestResult['status']): TestResult => ({
  id: `${file}::suite > ${name}`,
  file,
  name,
  status,
  durationMs: 1,
});
const results = [
  test('a.test.js', 'adds', 'failed'),
  test('a.test.js', 'subtracts', 'passed'),
  test('b.test.js', 'divides', 'failed'),
];
const baseline: Baseline = {
  results,
  failing: results.filter((result) => result.status === 'failed'),
  passing: [],
  flaky: [],
  collectionErrors: [],
  canaryFiles: [],
  durationMs: 1,
};
const ids = (wanted: string[]) => {
  const selection = selectTargets(baseline, wanted);
  return selection.kind === 'targets'
    ? selection.targets.map((target) => target.name)
    : selection.problem;
};

describe('which tests are meant', () => {
  it('means every failing test when none is named', () => {
    expect(ids([])).toEqual(['adds', 'divides']);
  });

  it('takes ids, files and plain names, each once', () => {
    expect(ids(['a.test.js::suite > adds', 'a.test.js', 'divides'])).toEqual(['adds', 'divides']);
  });

  it('leaves out named tests that pass', () => {
    expect(ids(['subtracts'])).toEqual([]);
  });

  it('says which tests fail when a name is unknown', () => {
    expect(ids(['nothing like it'])).toMatchObject({
      cause: 'usage',
      reason: expect.stringContaining('nothing like it'),
      remedy: expect.stringContaining('a.test.js::suite > adds'),
    });
  });

  it('knows a name by its tests, and by files that could not be loaded', () => {
    const broken = { ...baseline, collectionErrors: [{ file: 'c.test.js', message: 'x' }] };
    expect(isNamed(broken, 'subtracts')).toBe(true);
    expect(isNamed(broken, 'c.test.js::suite > any')).toBe(true);
    expect(isNamed(broken, 'd.test.js')).toBe(false);
  });
});
