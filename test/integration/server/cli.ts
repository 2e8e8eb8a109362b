import { PassThrough } from 'node:stream';
import type { CliContext } from '../../../src/cli/context.ts';
import { createProgram } from '../../../src/cli/program.ts';

export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of the command line as it is; `answer` is what somebody at a terminal types. */
export async function runCli(
  argv: readonly string[],
  over: Partial<CliContext> = {},
  answer?: string,
): Promise<CliResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const stdin = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  if (answer !== undefined) stdin.end(`${answer}\n`);
  const signal = new AbortController().signal;
  const context = { stdin, stdout, stderr, env: {}, cwd: '/', signal, ...over };
  const code = await createProgram(context).run([...argv]);
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}
