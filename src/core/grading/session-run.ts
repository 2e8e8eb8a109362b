import type { TestRun } from '../frameworks/framework.ts';
import { runTests } from '../frameworks/run.ts';
import type { SandboxSession } from '../sandbox/sandbox.ts';
import type { GradeSetup } from './types.ts';

/** Runs tests in a session by the setup. @param tests empty: all of the project */
export function runIn(
  session: SandboxSession,
  setup: GradeSetup,
  tests: readonly string[],
  signal: AbortSignal | undefined,
): Promise<TestRun> {
  const { framework, program, projectPath, timeoutMs } = setup;
  return runTests(session, framework, { program, projectPath, tests }, { timeoutMs, signal });
}

/** A fresh session for one piece of work; always closed. */
export async function withSession<T>(
  setup: GradeSetup,
  signal: AbortSignal | undefined,
  work: (session: SandboxSession) => Promise<T>,
): Promise<T> {
  const session = await setup.provider.open(setup.spec, signal);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
