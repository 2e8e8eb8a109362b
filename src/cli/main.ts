import { EXIT } from './exit-codes.ts';
import { createProgram } from './program.ts';

const interrupted = new AbortController();
let interrupts = 0;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    interrupts += 1;
    // The second one means it: whatever is left is cleaned up by the next start.
    if (interrupts > 1) process.exit(EXIT.interrupted);
    interrupted.abort(new Error('interrupted'));
  });
}
// A closed pipe (`prime-agent … | head`) is no error, but nobody waits for the result any more.
// Unheard, an error of a stream would end the process before it has cleaned up.
let unwritten: NodeJS.ErrnoException | undefined;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') unwritten ??= error;
    interrupted.abort(new Error('the output was closed'));
  });
}
process.on('exit', () => {
  if (unwritten) process.exitCode = EXIT.environment;
});

const { stdin, stdout, stderr, env } = process;
const code = await createProgram({
  stdin,
  stdout,
  stderr,
  env,
  cwd: process.cwd(),
  signal: interrupted.signal,
}).run(process.argv.slice(2));
process.exitCode = code;
// Errors of the last write come a moment later.
setImmediate(() => {
  if (unwritten)
    stderr.write(`prime-agent: the output could not be written: ${unwritten.message}\n`);
});
