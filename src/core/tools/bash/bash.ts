import { z } from 'zod';
import type { SandboxSession } from '../../sandbox/sandbox.ts';
import type { Tool, ToolResult } from '../tool.ts';
import { cleanOutput } from './clean.ts';
import { NUL_IN_COMMAND, OUTPUT_LIMITS, RESTARTED, renderShell } from './render.ts';

/** Kept by the sandbox, both ends together: more than is shown, since cleaning makes it shorter. */
const MAX_OUTPUT_BYTES = 1_000_000;

export interface BashToolOptions {
  /** For calls that name no timeout. Milliseconds; default 60 s. */
  readonly timeoutMs?: number;
  /** The longest timeout that a call may ask for. Milliseconds; default 600 s. */
  readonly maxTimeoutMs?: number;
  /** Characters of output that the model sees; default 16,000. */
  readonly maxOutputChars?: number;
}

const parameters = z
  .strictObject({
    command: z.string().optional().describe('Required unless restart is true.'),
    restart: z.boolean().optional().describe('Start a new shell first.'),
    timeout: z.number().optional().describe('Seconds; default 60, at most 600.'),
  })
  .refine((given) => given.command !== undefined || given.restart === true, {
    message: 'missing parameter "command": a text',
  });

/** The agent's shell. Directory and exported variables last between calls (see `SandboxSession.shell`). */
export function createBashTool(
  session: Pick<SandboxSession, 'shell' | 'restartShell'>,
  options: BashToolOptions = {},
): Tool<typeof parameters> {
  const { timeoutMs = 60_000, maxTimeoutMs = 600_000, maxOutputChars } = options;
  const limits = { ...OUTPUT_LIMITS, maxChars: maxOutputChars ?? OUTPUT_LIMITS.maxChars };
  return {
    name: 'bash',
    description:
      'Run a command in bash. Directory and exported variables last between calls; no terminal, ' +
      'no input, no network.',
    parameters,
    run: async ({ command, restart, timeout }, context): Promise<ToolResult> => {
      if (command?.includes('\0')) return { ok: false, text: NUL_IN_COMMAND };
      if (restart) await session.restartShell();
      if (command === undefined) return { ok: true, text: RESTARTED };

      const asked = timeout === undefined ? timeoutMs : Math.max(1, timeout) * 1_000;
      const milliseconds = Math.min(maxTimeoutMs, asked);
      const decoder = new TextDecoder();
      const result = await session.shell(command, {
        timeoutMs: milliseconds,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        signal: context.signal,
        onOutput: (chunk) =>
          context.onOutput?.(cleanOutput(decoder.decode(chunk, { stream: true }))),
      });
      const output = renderShell(result, milliseconds / 1_000, limits);
      const { end } = result;
      return {
        ok: end.kind === 'exited' && end.code === 0,
        text: restart ? `${RESTARTED}\n${output}` : output,
        detail:
          end.kind === 'exited' ? { exitCode: end.code } : { timedOut: end.kind === 'timeout' },
      };
    },
  };
}
