import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { posix } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import tellText from '../../frameworks/javascript/tell.asset.cjs';
import failureText from '../../frameworks/node-test/failure.asset.cjs';
import { WORKSPACE } from '../../sandbox/sandbox.ts';
import { createLoader, guarded, type Sources } from '../generate/fast-run.ts';

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
  | { readonly kind: 'report'; readonly report: Uint8Array; readonly ended: boolean }
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
 */
export function quickReport(sources: Sources, testPath: string): QuickReport {
  const ended: Ended[] = [];
  let current: string | undefined;
  const run = guarded(() => {
    ended.length = 0;
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
  }, STACK_FRAMES);
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
  return { kind: 'report', report: Buffer.from(text), ended: run.kind === 'ran' };
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
