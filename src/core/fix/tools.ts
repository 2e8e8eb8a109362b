import type { GradeSetup } from '../grading/types.ts';
import type { SandboxSession } from '../sandbox/sandbox.ts';
import { createBashTool } from '../tools/bash/bash.ts';
import { createEditorTool } from '../tools/editor/editor.ts';
import { createRunTestsTool } from '../tools/run-tests/run-tests.ts';
import { createSearchTool } from '../tools/search/search.ts';
import { createSubmitTool } from '../tools/submit.ts';
import type { Tool } from '../tools/tool.ts';

/** An edit can make a loop that never ends: a run that takes much longer than before is stopped. */
const SLOWEST_RUN = 5;
const SHORTEST_LIMIT_MS = 5_000;

/**
 * How long one `run_tests` may take in an attempt.
 *
 * @param baselineMs what the unchanged snapshot took, all runs of the baseline together
 */
export function runTestsLimit(baselineMs: number, limitMs: number): number {
  return Math.min(limitMs, Math.max(SHORTEST_LIMIT_MS, Math.round(SLOWEST_RUN * baselineMs)));
}

/** The tools of every attempt, in the order in which a model reads them. */
export function attemptTools(
  session: SandboxSession,
  setup: Pick<GradeSetup, 'framework' | 'program' | 'projectPath' | 'timeoutMs'>,
  targets: readonly string[],
): readonly Tool[] {
  const { framework, program, projectPath, timeoutMs } = setup;
  return [
    createBashTool(session),
    createEditorTool(session),
    createSearchTool(session),
    createRunTestsTool({ session, framework, program, projectPath, targets, timeoutMs }),
    createSubmitTool(),
  ] as readonly Tool[];
}
