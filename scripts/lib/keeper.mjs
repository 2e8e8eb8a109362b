// Runs a program for as long as its starter is there: `node keeper.mjs PROGRAM ARGUMENTS…`, in a process
// group of its own and with a pipe as standard input. However the starter ends, killed included, that
// pipe closes, and then the whole group ends.
import { spawn } from 'node:child_process';

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
child.once('error', (error) => {
  process.stderr.write(`${program}: ${error.message}\n`);
  process.exit(127);
});
child.once('exit', (code) => process.exit(code ?? 1));
// For the whole group: the program decides when it ends.
process.on('SIGTERM', () => undefined);
process.stdin.once('close', () => process.kill(-process.pid, 'SIGKILL'));
process.stdin.resume();
