import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AGENT_VERSION } from '../../core/fix/version.ts';
import { openDesk } from '../../core/outbox/desk.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { plural } from '../render/style.ts';

export interface SendCommandOptions {
  readonly server: string;
  readonly fingerprint?: string;
  /** Holds the token; without it PRIME_AGENT_TOKEN does. Never an argument: others see those. */
  readonly tokenFile?: string;
  readonly json: boolean;
}

/** Puts what is allowed into the outbox, then sends what waits there. */
export async function outboxSendCommand(
  options: SendCommandOptions,
  context: CliContext,
): Promise<ExitCode> {
  const token = await readToken(options, context);
  const desk = openDesk(context);
  if ((await desk.consents.list()).length === 0) {
    context.stderr.write(
      'prime-agent: no workspace is allowed, so nothing new is sent. Allow one with: prime-agent outbox allow\n',
    );
  }
  const offered = await desk.offer();
  for (const { attempt, result } of offered) {
    if (result.kind !== 'full' && result.kind !== 'too-large' && result.kind !== 'unreadable')
      continue;
    context.stderr.write(`! ${attempt.attemptId}: ${result.message}\n`);
  }
  const report = await desk.send(
    {
      url: options.server,
      token,
      ...(options.fingerprint === undefined ? {} : { fingerprint: options.fingerprint }),
    },
    { client: { name: 'prime-agent', version: AGENT_VERSION } },
  );
  const stay = offered.filter(({ result }) => result.kind === 'local').length;
  if (options.json) context.stdout.write(`${JSON.stringify({ ...report, stay })}\n`);
  else {
    const { sent, refused, waiting, files } = report;
    context.stdout.write(
      `${plural(sent, 'attempt')} sent, ${refused} refused, ${waiting} waiting; ${stay} stay here\n`,
    );
    if (files.sent + files.refused + files.waiting > 0) {
      context.stdout.write(
        `The files before them: ${files.sent} sent, ${files.refused} refused, ${files.waiting} waiting\n`,
      );
    }
  }
  const unsent = [report, report.files].some(({ refused, waiting }) => refused + waiting > 0);
  return unsent ? EXIT.notSolved : EXIT.ok;
}

async function readToken(
  { tokenFile }: SendCommandOptions,
  { cwd, env }: CliContext,
): Promise<string> {
  const text =
    tokenFile === undefined
      ? env.PRIME_AGENT_TOKEN
      : await readFile(resolve(cwd, tokenFile), 'utf8');
  const token = text?.trim();
  if (token) return token;
  throw new Error(
    'there is no token: set PRIME_AGENT_TOKEN, or name a file with --token-file. `prime-agent token create` at the server makes one',
  );
}
