import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { posix } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import tellText from '../../frameworks/javascript/tell.asset.cjs';
import failureText from '../../frameworks/node-test/failure.asset.cjs';
import { isTraceNotes } from '../../policies/edit-search/trace.ts';
import { WORKSPACE } from '../../sandbox/sandbox.ts';
import { createLoader, type FastRun, guarded, type Sources } from '../generate/fast-run.ts';

/** How many frames Node keeps of a stack. */
const STACK_FRAMES = 10;

interface Ended {
  readonly names: readonly string[];
  readonly line: number;
  /** undefined: passed. */
  readonly error?: unknown;
}

export type QuickReport =
  /** What our reporter writes for this run. `ended` false: a test or the module has no end. */
  | {
      readonly kind: 'report';
      readonly report: Uint8Array;
      readonly ended: boolean;
      /** Numbers that instrumented code notes (edit-search/trace.ts). */
      readonly blocks: readonly number[];
    }
  /** Only a real run can tell: the module cannot be loaded, or an error cannot be handed over. */
  | { readonly kind: 'unknown' };

type FailureOf = (error: unknown) => Readonly<Record<string, unknown>>;

/** Scripts of the reporter of node:test; they say what a failure looks like. */
const SCRIPTS: Readonly<Record<string, string>> = {
  './failure.asset.cjs': failureText,
  '../javascript/tell.asset.cjs': tellText,
};
const nodeModule = createRequire(import.meta.url);
const failureOf = (load('./failure.asset.cjs') as Teller).createTeller(WORKSPACE).failureOf;

interface Teller {
  createTeller(here: string): { readonly failureOf: FailureOf };
}

function load(name: string): unknown {
  const text = SCRIPTS[name];
  if (text === undefined) return nodeModule(name);
  const module = { exports: {} };
  new Function('module', 'require', text)(module, load);
  return module.exports;
}

/**
 * A run of one test file of a generated module inside this process (`generate/fast-run.ts`), told in
 * the words of the reporter that real runs have.
 *
 * @param chosen ids of tests, suites or the file: nothing else runs, and none chosen is all
 */
export function quickReport(
  sources: Sources,
  testPath: string,
  chosen: readonly string[],
): QuickReport {
  const ended: Ended[] = [];
  let current: string | undefined;
  const notes = new Set<number>();
  const run = noting(notes, () => {
    ended.length = 0;
    notes.clear();
    const collected: { names: readonly string[]; line: number; run: () => unknown }[] = [];
    const suites: string[] = [];
    const test = (name: string, body: () => unknown): void => {
      collected.push({ names: [...suites, name], line: callerLine(testPath), run: body });
    };
    const describe = (name: string, body: () => void): void => {
      suites.push(name);
      body();
      suites.pop();
    };
    const runner = { test, it: test, describe, suite: describe, default: test };
    const builtins = { 'node:test': runner, 'node:assert/strict': { default: assert } };
    createLoader(sources, builtins, `${WORKSPACE}/`)(testPath);
    for (const { names, line, run: body } of collected) {
      if (!isChosen(chosen, base(testPath, names, line).id)) continue;
      current = names.join(' > ');
      try {
        body();
        ended.push({ names, line });
      } catch (error) {
        ended.push({ names, line, error });
      }
    }
    current = undefined;
    return { kind: 'ran', tests: new Map() };
  });
  if (run.kind === 'not-loaded') return { kind: 'unknown' };
  const lines: unknown[] = [{ type: 'start', runner: 'node:test', version: process.version }];
  if (run.kind === 'timeout') {
    // While modules are loaded no test has begun; what a real run then says is known to a real run.
    if (current === undefined) return { kind: 'unknown' };
    // A loop keeps the process of the file from telling of the tests before it.
    const name = posix.basename(testPath);
    lines.push({ type: 'running', id: testPath, key: testPath, file: testPath, name });
  } else {
    for (const test of ended) {
      const told = toldAs(testPath, test);
      if (told === undefined) return { kind: 'unknown' };
      lines.push(told);
    }
    lines.push({ type: 'end' });
  }
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return {
    kind: 'report',
    report: Buffer.from(text),
    ended: run.kind === 'ran',
    blocks: [...notes],
  };
}

function isChosen(chosen: readonly string[], id: string): boolean {
  if (chosen.length === 0) return true;
  return chosen.some(
    (one) => id === one || id.startsWith(`${one}::`) || id.startsWith(`${one} > `),
  );
}

/** Runs guarded; what instrumented code would append to its notes is taken instead of written. */
function noting(notes: Set<number>, run: () => FastRun): FastRun {
  const { getBuiltinModule } = process;
  const appendFileSync = (file: unknown, text: unknown): void => {
    if (isTraceNotes(file)) notes.add(Number(text));
  };
  try {
    process.getBuiltinModule = ((name: string) =>
      name === 'node:fs'
        ? { appendFileSync }
        : getBuiltinModule(name)) as typeof process.getBuiltinModule;
    return guarded(run, STACK_FRAMES);
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
}

function base(file: string, names: readonly string[], line: number) {
  const name = names.join(' > ');
  const id = `${file}::${name}`;
  return { id, key: id, file, line, name };
}

function toldAs(file: string, { names, line, ...test }: Ended): unknown {
  const common = { type: 'result', ...base(file, names, line), durationMs: 0 };
  if (!('error' in test)) return { ...common, status: 'passed' };
  const error = handedOver(test.error);
  if (error === undefined) return undefined;
  return { ...common, status: 'failed', failure: failureOf({ cause: error }) };
}

/**
 * What is left of an error on its way from the process of the test file to the reporter: its kind
 * and own properties, cloned. undefined: this one takes another way.
 */
function handedOver(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  const { name, message, stack } = error;
  try {
    const own = deserialize(serialize({ ...error })) as object;
    return Object.assign(Object.create(null), own, { name, message, stack });
  } catch {
    return undefined;
  }
}

/** Of the call that is being made in the test file, from 1. */
function callerLine(testPath: string): number {
  const at = new Error('place').stack?.indexOf(`${WORKSPACE}/${testPath}:`) ?? -1;
  const rest = new Error('place').stack?.slice(at + WORKSPACE.length + testPath.length + 2) ?? '';
  return Number(/^\d+/.exec(rest)?.[0] ?? 1);
}
