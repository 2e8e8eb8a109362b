import { execFile } from 'node:child_process';

export interface ProgramResult {
  /** Exit code; 127 when the program could not be started, 128 + n is not used: a signal gives 1. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of the host to its end. Never rejects: a failed start is code 127 with its message. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: {
    readonly cwd?: string;
    readonly timeoutMs?: number;
    readonly env?: NodeJS.ProcessEnv;
  } = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    execFile(
      program,
      [...args],
      {
        cwd: options.cwd,
        env: options.env,
        timeout: options.timeoutMs ?? 0,
        killSignal: 'SIGKILL',
        maxBuffer: 64 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ code: 0, stdout, stderr });
        else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
        else if (error.code === undefined)
          resolve({ code: 1, stdout, stderr: stderr || error.message });
        else resolve({ code: 127, stdout, stderr: error.message });
      },
    );
  });
}
