import { randomBytes, randomInt } from 'node:crypto';
import type { ExecOutput, SandboxSession } from '../sandbox/sandbox.ts';
import type { Framework, ParsedReport, RunRequest, TestRun } from './framework.ts';
import readLogScript from './read-log.sh';
import { describeExit } from './report.ts';
import wrapper from './run.sh';
import { type OpenedReport, openSealed } from './seal.ts';
import { isAnyChosen } from './select.ts';

export interface RunTestsOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called with the number of tests that have a result so far. */
  readonly onProgress?: (finished: number) => void;
}

/** What `runTests` is asked; `RunRequest` without what it chooses itself. */
export type TestRequest = Pick<RunRequest, 'program' | 'projectPath' | 'tests'> & {
  readonly listOnly?: boolean;
};

const MAX_REPORT_BYTES = 64 * 2 ** 20;
const MAX_LOG_BYTES = 2 ** 20;
const READ_LOG_MS = 20_000;

/**
 * Runs tests (all when `tests` is empty) in a session and reads their report. The report goes to a
 * copy of the session's stdout under a number that the tests are not told; what runner and tests
 * print goes to a bounded log. Rejects only with `SandboxFailure`.
 */
export async function runTests(
  session: Pick<SandboxSession, 'run'>,
  framework: Framework,
  request: TestRequest,
  options: RunTestsOptions,
): Promise<TestRun> {
  const { timeoutMs, signal, onProgress } = options;
  const reportFd = randomInt(20, 200);
  const command = framework.command({
    ...request,
    listOnly: request.listOnly === true,
    reportFd,
  });
  const folder = `prime-run-${randomBytes(8).toString('hex')}`;
  const key = framework.isSealed ? randomBytes(32).toString('hex') : undefined;
  const result = await session.run(
    {
      argv: ['bash', '-c', wrapper, 'run-tests', folder, String(reportFd), ...command.argv],
      cwd: command.cwd,
      env: command.env,
      capture: 'stdout',
      ...(key !== undefined && { stdin: Buffer.from(`${key}\n`) }),
    },
    {
      timeoutMs,
      maxOutputBytes: MAX_REPORT_BYTES,
      signal,
      ...(onProgress && { onOutput: countResults(onProgress) }),
    },
  );
  const log = await readLog(session, folder);
  if (result.end.kind === 'cancelled') return { kind: 'cancelled' };
  const exitCode = result.end.kind === 'exited' ? result.end.code : undefined;
  const { report: lines, signs } = opened(result.output, key);
  const parsed = framework.parse(lines, {
    exitCode,
    log,
    projectPath: request.projectPath,
  });
  const report = onlyChosen(parsed, request.tests);
  const { durationMs } = result;
  if (exitCode === undefined) return { kind: 'timeout', durationMs, log, results: report.results };
  const empty = parsed.results.length === 0 && parsed.collectionErrors.length === 0;
  if (empty && !parsed.complete) {
    return { kind: 'crashed', exitCode, durationMs, log, reason: crashReason(exitCode, log) };
  }
  return {
    kind: 'ran',
    exitCode,
    durationMs,
    log,
    ...(signs.length > 0 && { reportSigns: signs }),
    ...report,
  };
}

/** Runners may run more than was asked for (a whole file): only the chosen tests count. */
function onlyChosen(report: ParsedReport, chosen: readonly string[]): ParsedReport {
  if (chosen.length === 0) return report;
  const files = new Set(chosen.map((id) => id.split('::')[0]));
  return {
    ...report,
    // A file's own result (its process broke) concerns every test chosen from it.
    results: report.results.filter(
      (test) => isAnyChosen(test.id, chosen) || (test.id === test.file && files.has(test.file)),
    ),
  };
}

function opened(output: ExecOutput, key: string | undefined): OpenedReport {
  const report = joined(output);
  return key === undefined
    ? { report, signs: [] }
    : openSealed(report, key, output.omittedBytes > 0);
}

function joined(output: ExecOutput): Uint8Array {
  if (output.omittedBytes === 0 && output.tail.length === 0) return output.head;
  // The cut goes through lines; both halves of one are unreadable and left out.
  return Buffer.concat([output.head, Buffer.from('\n'), output.tail]);
}

/** What runner and tests printed in a run; `folder` is the name that the wrapper was given. */
export async function readLog(
  session: Pick<SandboxSession, 'run'>,
  folder: string,
): Promise<string> {
  const result = await session.run(
    { argv: ['bash', '-c', readLogScript, 'read-log', folder], capture: 'stdout' },
    { timeoutMs: READ_LOG_MS, maxOutputBytes: MAX_LOG_BYTES },
  );
  const { head, tail, omittedBytes } = result.output;
  const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  if (omittedBytes === 0) return decode(head) + decode(tail);
  return `${decode(head)}\n[… ${omittedBytes} bytes left out …]\n${decode(tail)}`;
}

/** Our own launchers explain themselves in a line of their own; else the last line that was printed. */
export function crashReason(exitCode: number, log: string): string {
  const own = [...log.matchAll(/^prime-agent: (.*)$/gm)].at(-1)?.[1];
  if (own) return own;
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const telling =
    lines.findLast((line) => /^(?!.*usage:).*\berror: /.test(line)) ??
    lines.findLast((line) => /^(?:E {2}|[\w.]*Error\b.*:)/.test(line)) ??
    // Maven's first error, and what Gradle says below its heading.
    lines.find((line) => /^\[ERROR\] \w/.test(line)) ??
    lines[lines.indexOf('* What went wrong:') + 1 || lines.length];
  const last = (telling ?? lines.at(-1))?.trim();
  const end = `the test run ended before any test was reported (${describeExit(exitCode)})`;
  return last ? `${end}: ${last.slice(0, 500)}` : end;
}

/** Of our own reporters, or of `go test -json`. */
const RESULT_LINE = /"type": ?"result"|"Action":"(?:pass|fail|skip)",.*"Test":/;

function countResults(onProgress: (finished: number) => void): (chunk: Uint8Array) => void {
  let finished = 0;
  let rest = '';
  return (chunk) => {
    const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    const more = lines.filter((line) => RESULT_LINE.test(line)).length;
    if (more === 0) return;
    finished += more;
    onProgress(finished);
  };
}
