// Loads a reward module and reports what `reward(context)` returns, on descriptor 3: node closes it
// to the processes that the module starts. The report carries a key from descriptor 4, which code
// that the module loads cannot read any more. Argument: the module's path.
import { execFile } from 'node:child_process';
import { closeSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = process.cwd();
// Kept as they are now: what is loaded later may replace them.
const { stringify } = JSON;
const exit = process.exit.bind(process);
const write = writeSync;
const key = readFileSync(4, 'utf8').trim();
closeSync(4);

function report(line) {
  write(3, `${stringify({ type: 'reward', key, ...line })}\n`);
}

/** Runs a program in the workspace; never rejects. */
function run(argv, { timeoutMs = 60_000, cwd = '.', stdin = '' } = {}) {
  const [program, ...args] = argv;
  return new Promise((resolve) => {
    const options = {
      cwd: path.resolve(root, cwd),
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: 2 ** 24,
    };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
  });
}

/** Text of a file of the workspace; undefined when it cannot be read. */
function readText(file) {
  try {
    return readFileSync(path.resolve(root, file), 'utf8');
  } catch {
    return undefined;
  }
}

const context = Object.freeze({ root, run, readText });
try {
  const { reward } = await import(pathToFileURL(process.argv[2]).href);
  if (typeof reward !== 'function')
    report({ problem: 'the module exports no function named reward' });
  else {
    const value = await reward(context);
    if (typeof value === 'boolean') report({ value });
    else
      report({
        problem: `reward(context) returned ${value === null ? 'null' : typeof value}, not true or false`,
      });
  }
} catch (error) {
  report({ problem: `reward(context) threw ${error?.stack ?? error}` });
}
exit(0);
