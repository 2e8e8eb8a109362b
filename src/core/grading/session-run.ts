import type { Framework, TestRun } from '../frameworks/framework.ts';
import { runTests } from '../frameworks/run.ts';
import type { SandboxSession } from '../sandbox/sandbox.ts';
import { forgedLines } from './report-signs.ts';
import type { GradeSetup } from './types.ts';

/** Runs all tests of the project in a session. `forged`: signs of foreign lines in the report. */
export async function runAll(
  session: SandboxSession,
  setup: GradeSetup,
  signal: AbortSignal | undefined,
): Promise<{ readonly run: TestRun; readonly forged: readonly string[] }> {
  const { framework, program, projectPath, timeoutMs } = setup;
  let forged: readonly string[] = [];
  const watched: Framework = {
    ...framework,
    parse: (report, raw) => {
      forged = forgedLines(report, framework.id);
      return framework.parse(report, raw);
    },
  };
  const request = { program, projectPath, tests: [] };
  const run = await runTests(session, watched, request, { timeoutMs, signal });
  return { run, forged: run.kind === 'ran' ? [...(run.reportSigns ?? []), ...forged] : forged };
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
