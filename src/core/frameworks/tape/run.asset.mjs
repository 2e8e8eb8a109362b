// Runs each test file that uses tape in a process of its own, with a hook that reports. Argument:
// JSON {tests: string[], list: boolean, args: string[]}, args of the test script.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import choice from '../javascript/choice.asset.cjs';
import { globToRegExp, walk } from '../javascript/files.asset.mjs';
import shared from '../javascript/report.asset.cjs';
import seal from '../javascript/seal.asset.cjs';

const { tests, list, args } = JSON.parse(process.argv[2]);
const { write } = shared;
const hook = path.join(path.dirname(fileURLToPath(import.meta.url)), 'hook.asset.cjs');
const SCRIPT = /\.[cm]?[jt]sx?$/;

function readArguments() {
  const flags = [];
  const patterns = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (/^(?:-r|--require)$/.test(word)) flags.push('--require', args[++at]);
    else if (/^--(?:require|import)=/.test(word)) flags.push(word);
    else if (/^(?:--import|--loader)$/.test(word)) flags.push(word, args[++at]);
    else if (/^(?:-i|--ignore|--ignore-pattern)$/.test(word)) at += 1;
    else if (!word.startsWith('-')) patterns.push(word);
  }
  return { flags, patterns };
}

const usesTape = (name) => {
  try {
    return SCRIPT.test(name) && /['"]tape['"]/.test(fs.readFileSync(name, 'utf8'));
  } catch {
    return false;
  }
};

function expand(patterns) {
  const found = new Set();
  for (const raw of patterns) {
    const pattern = path.posix.normalize(raw).replace(/\/$/, '');
    const stat = fs.statSync(pattern, { throwIfNoEntry: false });
    if (stat?.isFile()) found.add(pattern);
    else if (stat?.isDirectory()) walk(pattern, (name) => usesTape(name) && found.add(name));
    else {
      const matcher = globToRegExp(pattern);
      walk('', (name) => SCRIPT.test(name) && matcher.test(name) && found.add(name));
    }
  }
  return [...found];
}

/** With no files in the script: those that are named like tests, or lie with them, and use tape. */
function everyFile() {
  const found = [];
  walk('', (name) => {
    const isNamed = /[._-](?:test|spec)\.\w+$|(?:^|\/)test[^/]*\.\w+$|(?:^|\/)tests?\//.test(name);
    if (isNamed && usesTape(name)) found.push(name);
  });
  return found;
}

function runFile(file, flags) {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [...process.execArgv, ...flags, '--require', hook, file],
      {
        env: { ...process.env, ...(list && { PRIME_TAPE_LIST: '1' }) },
        stdio: ['pipe', 'inherit', 'inherit', 'pipe'],
      },
    );
    const key = seal.newKey();
    const read = seal.createReader(key);
    child.stdin.on('error', () => {});
    child.stdin.end(key);
    write({ type: 'running', id: file, key: file, file, name: path.basename(file) });
    let rest = '';
    let running;
    let told = 0;
    let ended = false;
    child.stdio[3].setEncoding('utf8');
    child.stdio[3].on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) {
        const line = read(text);
        if (line === undefined) {
          // Not of the hook: passed on without a seal, and seen to be foreign by who reads the report.
          fs.writeSync(3, `foreign ${text}\n`);
          continue;
        }
        if (line.type === 'running') running = line;
        else if (line.key === running?.key) running = undefined;
        if (line.type === 'fileEnd') ended = true;
        else if (line.type !== 'running') told += 1;
        write(line);
      }
    });
    child.on('error', (error) => {
      process.stderr.write(`prime-agent: node could not be started: ${error.message}\n`);
      process.exit(1);
    });
    child.on('close', (code, signal) => {
      const how = signal ? `was ended by ${signal}` : `exited with code ${code}`;
      const broken = (what) => {
        const message = `the test process ${how} while this ${what} ran`;
        return { message, frames: [], details: message };
      };
      const base = { type: 'result', status: 'error', durationMs: 0 };
      if (running) write({ ...running, ...base, failure: broken('test') });
      else if (!ended || (told === 0 && code !== 0)) {
        const failure = broken('file');
        write({ ...base, id: file, file, name: path.basename(file), failure });
      } else if (told === 0)
        write({ type: 'collectionError', file, message: 'no test was found in it', frames: [] });
      write({ type: 'fileEnd', file });
      resolve(code ?? 1);
    });
  });
}

const { version } = JSON.parse(fs.readFileSync(choice.packageFile('tape'), 'utf8'));
write({ type: 'start', runner: 'tape', version });
const { everything, files: chosen } = choice.readChoice(tests, list);
const { flags, patterns } = readArguments();
const files = everything ? (patterns.length > 0 ? expand(patterns) : everyFile()) : expand(chosen);
let exitCode = files.length === 0 ? 1 : 0;
for (const file of files) exitCode = Math.max(exitCode, await runFile(file, flags));
write({ type: 'end' });
process.exit(exitCode);
