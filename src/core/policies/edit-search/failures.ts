import type { SourcePlace } from '../../frameworks/framework.ts';
import { parseRendered, type RenderedFailure } from '../../tools/run-tests/parse-rendered.ts';

/** A failing test, or a file that could not be loaded, as `run_tests` shows it. */
export interface FailureBlock {
  readonly id: string;
  readonly kind: RenderedFailure['kind'];
  readonly expected: string | undefined;
  readonly actual: string | undefined;
  readonly message: string;
  /** Where the failure was raised. */
  readonly at: SourcePlace | undefined;
  /** First frame outside of the tests. */
  readonly inside: SourcePlace | undefined;
}

export interface TestReport {
  /** All that was asked for ran, and nothing went wrong. */
  readonly passed: boolean;
  readonly failures: readonly FailureBlock[];
  /** Tests that failed and files that could not be loaded, those that are only counted included. */
  readonly failedCount: number;
  /** The run was stopped because it took too long. */
  readonly timedOut: boolean;
}

/** Reads what `run_tests` answers. */
export function readReport(text: string): TestReport {
  const failures = readFailures(text);
  const summary = text.trimStart().split('\n', 1)[0] ?? '';
  let failedCount = 0;
  for (const found of summary.matchAll(
    /(\d+) (?:failed(?! as expected)|files? could not be loaded)/g,
  )) {
    failedCount += Number(found[1]);
  }
  const isWhole = !/^(?:Not found: |The test run broke off)/m.test(text);
  return {
    passed: isWhole && failures.length + failedCount === 0 && /^[1-9]\d* passed\b/.test(summary),
    failures,
    failedCount,
    timedOut: /^The test run did not end in time/.test(summary),
  };
}

/** The blocks of an answer or of the first message. */
export function readFailures(text: string): readonly FailureBlock[] {
  return parseRendered(text).map((block) => ({
    id: block.id,
    kind: block.kind,
    expected: block.expected,
    actual: block.actual,
    message: block.message,
    at: block.place,
    inside: block.ownFrame,
  }));
}

/** The file of a test's id. */
export function fileOf(id: string): string {
  return id.split('::', 1)[0] ?? id;
}
