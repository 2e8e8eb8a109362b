import { posix } from 'node:path';
import { sealReport } from '../../frameworks/seal.ts';
import { LIST_COMMAND } from '../../policies/edit-search/scene.ts';
import { readTraceCommand } from '../../policies/edit-search/trace.ts';
import {
  type ExecOptions,
  type ExecResult,
  type ProgramRequest,
  SandboxFailure,
  type SandboxSession,
  WORKSPACE,
} from '../../sandbox/sandbox.ts';
import { languageOf } from '../operators/edit.ts';
import { createMemoryFiles, type MemoryTree } from './memory-files.ts';

/** What a run of tests writes to its report, without seals, and how it ends. */
export interface TestRunAnswer {
  readonly report: Uint8Array;
  readonly log: string;
  /** undefined: stopped after its time. */
  readonly exitCode: number | undefined;
  /** Numbers of instrumented blocks that ran (edit-search/trace.ts); undefined: not known. */
  readonly blocks?: readonly number[];
}

/** @param argv the framework's own command, without the wrapper of `frameworks/run.ts` */
export type TestRuns = (
  tree: ReadonlyMap<string, Buffer>,
  request: ProgramRequest,
  options: ExecOptions,
) => Promise<TestRunAnswer>;

/**
 * A session without processes, for generated tasks: files in memory, test runs answered by
 * `testRuns`, the few programs that the tools start, and of the shell `cat FILE…` and what edit-search
 * asks (which files there are, which blocks run). Anything else is
 * refused as a failure of the sandbox, so such an attempt is `invalid` and never a reward of 0.
 */
export function createMemorySession(tree: MemoryTree, testRuns: TestRuns): SandboxSession {
  let log = '';
  const blocks = new Set<number>();
  const before = new Map<string, Buffer>();
  const shell = (command: string): ExecResult | undefined => {
    if (command === LIST_COMMAND) return ended(0, listing(tree));
    const trace = readTraceCommand(command);
    if (trace?.kind === 'place') {
      blocks.clear();
      for (const [path, text] of trace.texts) {
        const name = posix.relative(WORKSPACE, path);
        before.set(name, tree.get(name) ?? Buffer.alloc(0));
        tree.set(name, Buffer.from(text));
      }
      return ended(0);
    }
    if (trace?.kind === 'restore') {
      for (const [name, content] of before) tree.set(name, content);
      before.clear();
      return ended(0, lines([...blocks].sort((a, b) => a - b)));
    }
    return cat(tree, command);
  };
  return {
    kind: 'none',
    files: createMemoryFiles(tree),
    shell: async (command) => shell(command) ?? refuse(command),
    restartShell: async () => refuse('bash'),
    run: async (request, options) => {
      const [program = '', ...args] = request.argv;
      if (program === 'bash' && args[2] === 'run-tests') {
        const answer = await testRuns(tree, request, options);
        log = answer.log;
        for (const block of answer.blocks ?? []) blocks.add(block);
        return ended(answer.exitCode, sealReport(answer.report, keyOf(request)));
      }
      if (program === 'bash' && args[2] === 'read-log') return ended(0, Buffer.from(log));
      if (program === 'git' && args[0] === 'check-ignore') return ended(1);
      if (program === 'git' && args[0] === 'ls-files')
        return ended(0, sameNames(tree, args.at(-1)));
      // Folders exist as long as files are in them.
      if (program === 'rmdir') return ended(isEmpty(tree, args.at(-1) ?? '') ? 0 : 1);
      return refuse(program);
    },
    close: async () => undefined,
  };
}

/** The key that `frameworks/run.ts` gives to reporters. */
export const keyOf = ({ stdin = Buffer.from('') }: ProgramRequest): string =>
  Buffer.from(stdin).toString('utf8').trim();

/** What `LIST_COMMAND` prints; generated trees have no folders that it leaves out. */
function listing(tree: MemoryTree): Uint8Array {
  const names = [...tree.keys()].filter(
    (path) => posix.basename(path) === 'package.json' || languageOf(path) !== undefined,
  );
  return lines(names.sort());
}

const lines = (values: readonly (string | number)[]): Uint8Array =>
  Buffer.from(values.map((value) => `${value}\n`).join(''));

/** Names that the shell takes as they are. */
const PLAIN_CAT = /^cat((?: +[\w@%+=:,./-]+)+)$/;

function cat(tree: MemoryTree, command: string): ExecResult | undefined {
  const names = PLAIN_CAT.exec(command.trim())?.[1]?.trim().split(/ +/) ?? [];
  const parts = names.map((name) => catOne(tree, name));
  if (parts.length === 0 || !parts.every((part) => part !== undefined)) return undefined;
  return ended(
    parts.every(({ found }) => found) ? 0 : 1,
    Buffer.concat(parts.map(({ text }) => text)),
  );
}

/** What `cat` writes for one name; undefined: one outside of the workspace, or an option. */
function catOne(
  tree: MemoryTree,
  name: string,
): { readonly found: boolean; readonly text: Buffer } | undefined {
  if (name.startsWith('-')) return undefined;
  const path = posix.relative(WORKSPACE, posix.resolve(WORKSPACE, name));
  if (path.startsWith('..')) return undefined;
  const content = tree.get(path);
  // A name with a slash behind it is that of a folder.
  if (content && !name.endsWith('/')) return { found: true, text: content };
  const folder = path === '' || [...tree.keys()].some((other) => other.startsWith(`${path}/`));
  const inFile = [...tree.keys()].some((other) => `${path}/`.startsWith(`${other}/`));
  const reason = folder
    ? 'Is a directory'
    : inFile
      ? 'Not a directory'
      : 'No such file or directory';
  return { found: false, text: Buffer.from(`cat: ${name}: ${reason}\n`) };
}

function refuse(program: string): never {
  throw new SandboxFailure(
    `a rehearsal cannot run ${program}`,
    'Run this attempt in a real sandbox instead.',
  );
}

function ended(code: number | undefined, output: Uint8Array = Buffer.alloc(0)): ExecResult {
  return {
    end: code === undefined ? { kind: 'timeout' } : { kind: 'exited', code },
    output: { head: output, tail: Buffer.alloc(0), omittedBytes: 0 },
    durationMs: 0,
  };
}

// git ls-files -z … :(glob)**/NAME
function sameNames(tree: MemoryTree, pattern = ''): Uint8Array {
  const name = posix.basename(pattern).replace(/\\(.)/g, '$1');
  const found = [...tree.keys()].filter((path) => posix.basename(path) === name).sort();
  return Buffer.from(found.map((path) => `${path}\0`).join(''));
}

function isEmpty(tree: MemoryTree, folder: string): boolean {
  const prefix = `${folder.slice(WORKSPACE.length + 1)}/`;
  return ![...tree.keys()].some((path) => path.startsWith(prefix));
}
