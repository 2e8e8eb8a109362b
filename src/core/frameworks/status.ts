import type { TestResult } from './framework.ts';

/** Did the test run and not do what it should? */
export function isFailing({ status }: Pick<TestResult, 'status'>): boolean {
  return status === 'failed' || status === 'error';
}
