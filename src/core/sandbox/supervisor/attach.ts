import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { SupervisorProcess } from './supervisor-client.ts';

/** The three streams of a supervisor that runs as a child process of this one. */
export function attachSupervisor(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
): SupervisorProcess {
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    // `close`, not `exit`: the last control lines are read first.
    child.once('close', (code, signal) =>
      resolve(signal ? `ended by ${signal}` : `exit code ${code}`),
    );
  });
  return {
    requests: child.stdin,
    output: child.stdout,
    control: child.stderr,
    exited,
    kill: () => {
      child.kill('SIGKILL');
      // Something outside may still hold the streams; waiting for it would never end.
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, 200).unref();
    },
  };
}
