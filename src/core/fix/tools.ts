import type { GradeSetup } from '../grading/types.ts';
import type { SandboxSession } from '../sandbox/sandbox.ts';
import { createBashTool } from '../tools/bash/bash.ts';
import { createEditorTool } from '../tools/editor/editor.ts';
import { createRunTestsTool } from '../tools/run-tests/run-tests.ts';
import { createSearchTool } from '../tools/search/search.ts';
import { createSubmitTool } from '../tools/submit.ts';
import type { Tool } from '../tools/tool.ts';

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
