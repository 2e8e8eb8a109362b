import { z } from 'zod';
import type { Framework, TestRun } from '../../frameworks/framework.ts';
import { runTests } from '../../frameworks/run.ts';
import { isFailing } from '../../frameworks/status.ts';
import type { SandboxSession } from '../../sandbox/sandbox.ts';
import type { Tool, ToolResult } from '../tool.ts';
import { renderLog, renderTestRun } from './render.ts';

export interface RunTestsToolOptions {
  readonly session: SandboxSession;
  readonly framework: Framework;
  /** From `ToolchainResult.program`. */
  readonly program: string;
  readonly projectPath: string;
  /** Ids that run when none are named. */
  readonly targets: readonly string[];
  readonly timeoutMs: number;
}

const parameters = z.strictObject({
  tests: z
    .array(z.string().min(1))
    .optional()
    .describe('Test ids or test files, as printed after FAIL. Without it: the target tests.'),
  log: z.boolean().optional().describe("Also show the runner's own output."),
});

export function createRunTestsTool(options: RunTestsToolOptions): Tool<typeof parameters> {
  const { session, framework, program, projectPath, targets, timeoutMs } = options;
  return {
    name: 'run_tests',
    description: 'Run tests and show what fails: the target tests, or those named in `tests`.',
    parameters,
    run: async ({ tests, log }, { signal }) => {
      const chosen = tests && tests.length > 0 ? tests.map(insideWorkspace) : targets;
      const run = await runTests(
        session,
        framework,
        { program, projectPath, tests: chosen },
        { timeoutMs, signal },
      );
      return toResult(run, chosen, log === true);
    },
  };
}

/** Models like absolute paths. */
function insideWorkspace(id: string): string {
  return id.trim().replace(/^\/workspace\/|^\.\//, '');
}

function toResult(run: TestRun, tests: readonly string[], log: boolean): ToolResult {
  const text = renderTestRun(run, { tests });
  const results = run.kind === 'ran' || run.kind === 'timeout' ? run.results : [];
  const passed = results.filter((test) => test.status === 'passed').length;
  const failed = results.filter(isFailing).length;
  const ok =
    run.kind === 'ran' &&
    run.complete &&
    failed === 0 &&
    run.collectionErrors.length === 0 &&
    results.length > 0;
  return {
    ok,
    text: log && run.kind !== 'cancelled' ? `${text}\n\nLog:\n${renderLog(run.log)}` : text,
    detail: { tests: { passed, failed, other: results.length - passed - failed } },
  };
}
