import { Writable } from 'node:stream';
import type { CliContext } from '../../../src/cli/context.ts';

export interface Captured {
  readonly context: CliContext;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** A context that keeps what is printed. */
export function captured(
  options: { readonly columns?: number; readonly env?: CliContext['env'] } = {},
): Captured {
  const texts = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof texts): CliContext['stdout'] =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _, done) {
          texts[name] += chunk.toString('utf8');
          done();
        },
      }),
      options.columns === undefined ? {} : { isTTY: true, columns: options.columns },
    );
  return {
    context: {
      stdout: stream('stdout'),
      stderr: stream('stderr'),
      env: options.env ?? {},
      cwd: '/nowhere',
      signal: new AbortController().signal,
    },
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
  };
}
