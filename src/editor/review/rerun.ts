import type { TestRunsPort } from '../ports.ts';
import type { Review } from './model.ts';

/** Runs the tests that the change is for, as the workspace is now. undefined: they did not run. */
export async function rerunTests(
  { input }: Review,
  testRuns: TestRunsPort,
): Promise<Exclude<Review['rerun'], 'running'>> {
  const ids = input.tests.filter(({ after }) => after === 'passed').map(({ id }) => id);
  const results = await testRuns.run(input.folder, ids);
  if (results === undefined) return undefined;
  const passed = new Set(results.filter(({ status }) => status === 'passed').map(({ id }) => id));
  const failed = ids.filter((id) => !passed.has(id));
  return { passed: ids.length - failed.length, failed };
}
