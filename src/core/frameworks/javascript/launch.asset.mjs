// Starts a test runner of the project as its test script does: its flags, variables and build steps.
// Argument: JSON {tool: string, run: string, tests: string[], list: boolean}; `run` is our script
// that drives the runner, next to this folder. Reports go to descriptor 3, the log to stdout.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { leadingVariables, projectPlan, runBuild } from './scripts.asset.mjs';
import seal from './seal.asset.cjs';

// First of all: build steps may run code of the project.
const key = seal.takeKey();

const here = process.cwd();
const toolbox = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const request = JSON.parse(process.argv[2]);
const { tool } = request;

function stop(message) {
  process.stderr.write(`prime-agent: ${message}\n`);
  process.exit(1);
}

const isTool = (word) =>
  word === tool ||
  word === `_${tool}` ||
  new RegExp(`(?:^|/)node_modules/(?:\\.bin/${tool}|${tool}/.*\\.[cm]?js)$`).test(word);

const WITH_VALUE = /^(?:--import|--require|-r|--conditions|-C|--loader|--experimental-loader)$/;

function readTool(words) {
  const { env, index } = leadingVariables(words);
  // c8, nyc, npx and the like in front of it.
  const start = words.findIndex((word, at) => at >= index && isTool(word));
  if (start < 0) return undefined;
  const node = words.findIndex(
    (word, at) => at >= index && at < start && /^node(?:js)?$/.test(word),
  );
  const flags = node < 0 ? [] : words.slice(node + 1, start);
  const known = flags.every(
    (word, at) => word.startsWith('-') || WITH_VALUE.test(flags[at - 1] ?? ''),
  );
  return { env, flags: known ? flags : [], args: words.slice(start + 1) };
}

const plan = projectPlan(here, readTool, true) ?? { env: {}, flags: [], args: [], before: [] };
const failed = runBuild(here, plan.before);
if (failed !== undefined) stop(`the build step of the test script failed: ${failed}`);

const { tests, list } = request;
const input = JSON.stringify({ tests, list, args: plan.args });
const child = spawn(process.execPath, [...plan.flags, path.join(toolbox, request.run), input], {
  cwd: here,
  env: { ...process.env, ...plan.env },
  stdio: ['pipe', 'inherit', 'inherit', 3],
});
child.stdin.on('error', () => {});
child.stdin.end(key);
child.on('error', (error) => stop(`node could not be started: ${error.message}`));
child.on('close', (code, signal) => {
  const signals = { SIGSEGV: 11, SIGABRT: 6, SIGTERM: 15 };
  process.exit(signal ? 128 + (signals[signal] ?? 9) : (code ?? 1));
});
