import type { Readable, Writable } from 'node:stream';

/** What a command may touch of the process; given in, so that commands run in tests as they are. */
export interface CliContext {
  /** Where answers come from; without it nobody is asked. */
  readonly stdin?: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
}
