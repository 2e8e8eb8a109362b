import assert from 'node:assert/strict';
import { posix } from 'node:path';
import vm from 'node:vm';

/** Modules by path, in the plain form that the templates write. */
export type Sources = Readonly<Record<string, string>>;

export type FastRun =
  /** Test name (`suite > test`) → passed. */
  | { readonly kind: 'ran'; readonly tests: ReadonlyMap<string, boolean> }
  | { readonly kind: 'not-loaded'; readonly reason: string }
  | { readonly kind: 'timeout' };

const TIMEOUT_MS = 400;
/** A healthy module needs a few milliseconds of work; a loop without an end takes all it can get. */
const WORK_MS = 200;
const ENTRY = Symbol.for('prime-agent.fast-run');

type Exports = Record<string, unknown>;

/**
 * Runs a test file of a generated module inside this process: thousands in the time that `node
 * --test` needs to start a few. Only for our own templates, which are synchronous, touch nothing
 * outside, and write imports and exports on lines of their own. What is kept is run by the real
 * runner as well, and must agree.
 */
export function runFast(sources: Sources, testPath: string): FastRun {
  return guarded(() => {
    const tests = new Map<string, boolean>();
    const collected: { name: string; run: () => unknown }[] = [];
    const suites: string[] = [];
    const test = (name: string, run: () => unknown): void => {
      collected.push({ name: [...suites, name].join(' > '), run });
    };
    const describe = (name: string, run: () => void): void => {
      suites.push(name);
      run();
      suites.pop();
    };
    const runner = { test, it: test, describe, suite: describe, default: test };
    createLoader(sources, { 'node:test': runner, 'node:assert/strict': { default: assert } })(
      testPath,
    );
    for (const { name, run } of collected) {
      let passed = true;
      try {
        run();
      } catch {
        passed = false;
      }
      tests.set(name, passed);
    }
    return { kind: 'ran', tests };
  });
}

/** Evaluates expressions on a module: what each gives, or the name of what it throws. */
export function evaluateAll(
  sources: Sources,
  modulePath: string,
  cases: readonly (readonly string[])[],
): readonly Evaluated[] | undefined {
  let results: Evaluated[] = [];
  const run = guarded(() => {
    const load = createLoader(sources, {});
    const names = Object.keys(load(modulePath));
    results = cases.map((lines) => {
      const body = [...lines.slice(0, -1), `return (${lines.at(-1) ?? ''});`].join('\n');
      const call = new Function(...names, `'use strict';\n${body}`);
      try {
        return { kind: 'value', value: call(...names.map((name) => load(modulePath)[name])) };
      } catch (error) {
        return { kind: 'throws', name: error instanceof Error ? error.constructor.name : '' };
      }
    });
    return { kind: 'ran', tests: new Map() };
  });
  return run.kind === 'ran' ? results : undefined;
}

export type Evaluated =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'throws'; readonly name: string };

/** Names that a module exports. */
export function exportedNames(source: string): readonly string[] {
  return [...source.matchAll(/^export (?:const|function|class) (\w+)/gm)].map(
    ([, name = '']) => name,
  );
}

/** @param folder put in front of the names that stack traces show */
export function createLoader(
  sources: Sources,
  builtins: Readonly<Record<string, Exports>>,
  folder = '',
) {
  const loaded = new Map<string, Exports>();
  const load = (path: string): Exports => {
    const known = loaded.get(path);
    if (known !== undefined) return known;
    const source = sources[path];
    if (source === undefined) throw new Error(`there is no ${path}`);
    const body = source
      .replace(
        /^import (.+) from '([^']+)';$/gm,
        (_, what: string, from: string) =>
          `const ${what.startsWith('{') ? what.replace(/ as /g, ': ') : `{ default: ${what} }`} = __import(${JSON.stringify(from)});`,
      )
      .replace(/^export (?=const|function|class)/gm, '');
    const make = new vm.Script(
      `(function (__import) { 'use strict';${body}\nreturn { ${exportedNames(source).join(', ')} };\n})`,
      { filename: folder + path },
    ).runInThisContext() as (load: (from: string) => Exports) => Exports;
    const exports = make((from) => builtins[from] ?? load(posix.join(posix.dirname(path), from)));
    loaded.set(path, exports);
    return exports;
  };
  return load;
}

/**
 * Under a time limit, which also ends loops without an end. What counts is work, not time: on a
 * busy machine a healthy module may have to wait, and the same seed must give the same tasks.
 */
export function guarded(run: () => FastRun, stackFrames = 0): FastRun {
  // The same limit again would never be enough where little of the machine is left for us.
  for (let timeoutMs = TIMEOUT_MS; ; timeoutMs *= 2) {
    const before = process.cpuUsage();
    const result = runLimited(run, stackFrames, timeoutMs);
    if (result.kind !== 'timeout') return result;
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 >= WORK_MS) return result;
  }
}

/**
 * A bug may assign to a global (`RangeError = …`), which in a process of its own would end with it.
 */
function restore(globals: Readonly<Record<string, PropertyDescriptor>>): void {
  const now = Object.getOwnPropertyDescriptors(globalThis) as Record<string, PropertyDescriptor>;
  for (const name of Object.keys(now)) {
    const before = globals[name];
    if (before === undefined) delete (globalThis as Record<string, unknown>)[name];
    else if (!Object.is(before.value, now[name]?.value)) {
      Object.defineProperty(globalThis, name, before);
    }
  }
}

function runLimited(run: () => FastRun, stackFrames: number, timeoutMs: number): FastRun {
  const place = globalThis as unknown as Record<symbol, unknown>;
  const { stackTraceLimit } = Error;
  const globals = Object.getOwnPropertyDescriptors(globalThis);
  Error.stackTraceLimit = stackFrames;
  place[ENTRY] = run;
  try {
    const script = `globalThis[Symbol.for('prime-agent.fast-run')]()`;
    return vm.runInThisContext(script, { timeout: timeoutMs }) as FastRun;
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'timeout' };
    return { kind: 'not-loaded', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    restore(globals);
    Error.stackTraceLimit = stackTraceLimit;
    delete place[ENTRY];
  }
}
