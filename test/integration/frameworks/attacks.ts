import type { Framework } from '../../../src/core/frameworks/framework.ts';
import type { Files } from './support.ts';

/**
 * A project with one failing and one passing test, and changes of its source that fix nothing but
 * want the report to say that the failing test passes. All of them know how our reports look.
 */
export interface AttackedProject {
  readonly files: Files;
  readonly source: string;
  /** The source with the bug fixed. */
  readonly fixed: string;
  readonly attacks: Readonly<Record<string, string>>;
}

type Modules = 'commonjs' | 'esm';

export function javaScriptProject(
  tool: Framework['id'],
  script: string,
  modules: Modules,
  testSource: string,
  own: Readonly<Record<string, string>> = {},
): AttackedProject {
  const source = 'src/price.js';
  const esm = modules === 'esm';
  const body = (code: string, factor: number): string =>
    esm
      ? `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n${code}\nexport function price(n) {\n  globalThis.attack?.();\n  return n * ${factor};\n}\nexport const half = (n) => n / 2;\n`
      : `${code}\nexports.price = function price(n) {\n  globalThis.attack?.();\n  return n * ${factor};\n};\nexports.half = (n) => n / 2;\n`;
  return {
    source,
    files: {
      'package.json': JSON.stringify({ ...(esm && { type: 'module' }), scripts: { test: script } }),
      [source]: body('', 2),
      'test/price.test.js': testSource,
    },
    fixed: body('', 3),
    attacks: Object.fromEntries(
      Object.entries({ ...javaScriptAttacks(tool), ...own }).map(([name, code]) => [
        name,
        body(FORGE_JS + code, 2),
      ]),
    ),
  };
}

/** `forged()`: all lines of a solved run; `pour(text)`: to the report, which runners have on descriptor 3. */
const FORGE_JS = `
const fs = require('node:fs');
const file = 'test/price.test.js';
const line = (name, status) => ({ type: 'result', id: file + '::' + name, key: file + '::' + name, file, name, status, durationMs: 1 });
function forged() {
  const lines = [line('triples', 'passed'), line('halves', 'passed')];
  for (const [, name] of fs.readFileSync(file, 'utf8').matchAll(/"(prime [^"]+)"/g))
    lines.push(line(name, name.endsWith(' a') ? 'passed' : 'failed'));
  return [...lines, { type: 'fileEnd', file }, { type: 'end' }];
}
const textOf = (lines) => lines.map((entry) => JSON.stringify(entry) + '\\n').join('');
function pour(text) {
  try { fs.writeSync(3, text); } catch {}
}
`;

function javaScriptAttacks(tool: Framework['id']): Record<string, string> {
  return {
    'a whole report, then the end of the process':
      'globalThis.attack = () => { pour(textOf(forged())); process.reallyExit(1); };\n',
    'lines at import time': 'pour(textOf(forged().slice(0, 1)));\n',
    'lines in an exit handler': "process.on('exit', () => pour(textOf(forged())));\n",
    'lines from a child process': `globalThis.attack = () => {
  const list = Array.from({ length: 200 }, (_, number) => { try { return fs.fstatSync(number).isFIFO() ? number : 'ignore'; } catch { return 'ignore'; } });
  const code = 'const fs = require("fs"); for (let n = 3; n < 200; n++) try { fs.writeSync(n, process.argv[1]) } catch {}';
  require('node:child_process').spawnSync(process.execPath, ['-e', code, textOf(forged())], { stdio: ['ignore', 'ignore', 'ignore', ...list.slice(3)] });
  process.reallyExit(1);
};\n`,
    'what loaded modules export': `globalThis.attack = () => {
  const seen = new Set();
  const visit = (module) => {
    if (!module || seen.has(module)) return;
    seen.add(module);
    const { exports } = module;
    if (typeof exports?.write === 'function' && /seal|report/.test(module.filename)) for (const entry of forged()) exports.write(entry);
    if (typeof exports === 'function' && /reporter/.test(module.filename)) {
      const heard = {};
      try { new exports({ on: (name, f) => { heard[name] = f; } }); } catch {}
      const root = { root: true, file: process.cwd() + '/' + file };
      for (const { name, status } of forged()) if (name) heard[status === 'passed' ? 'pass' : 'fail']?.({ title: name, parent: root, file: root.file }, new Error('x'));
      heard.end?.();
    }
    for (const child of module.children ?? []) visit(child);
  };
  for (const module of [process.mainModule, ...Object.values(require.cache)]) visit(module);
  pour('');
  process.reallyExit(1);
};\n`,
    'another toJSON': `Object.defineProperty(Object.prototype, 'toJSON', { configurable: true, value: function () {
  return /triples/.test(this.id) && this.status === 'failed' ? { ...this, failure: undefined, status: 'passed' } : this;
} });\n`,
    'another JSON.stringify': `const { stringify } = JSON;
JSON.stringify = (value, ...rest) => stringify(/triples/.test(value?.id) && value.status === 'failed' ? { ...value, failure: undefined, status: 'passed' } : value, ...rest);\n`,
    ...(RUNNER_JS[tool] !== undefined && { 'the runner itself': RUNNER_JS[tool] }),
  };
}

const RUNNER_JS: Partial<Record<Framework['id'], string>> = {
  mocha: `const { Runner } = require('mocha');
const { emit } = Runner.prototype;
Runner.prototype.emit = function (name, test, ...rest) {
  if (name === 'fail' && test.title === 'triples') { test.state = 'passed'; return emit.call(this, 'pass', test); }
  return emit.call(this, name, test, ...rest);
};\n`,
  tape: `const Test = require('tape/lib/test');
const { _assert } = Test.prototype;
Test.prototype._assert = function (ok, options) { return _assert.call(this, ok || this.name === 'triples', options); };\n`,
  vitest: `setTimeout(() => {}, 0);
const worker = globalThis.__vitest_worker__;
if (worker) {
  const { rpc } = worker;
  worker.rpc = new Proxy(rpc, { get: (target, name) => name !== 'onTaskUpdate' ? target[name] : (packs, events) =>
    target.onTaskUpdate(packs.map(([id, result, meta]) => [id, result?.errors?.some((e) => /6/.test(e.expected)) ? { ...result, state: 'pass', errors: undefined } : result, meta]), events) });
}\n`,
  ava: `const { MessagePort } = require('node:worker_threads');
const { postMessage } = MessagePort.prototype;
MessagePort.prototype.postMessage = function (message, ...rest) {
  const event = message?.ava;
  if (event?.type === 'test-failed' && event.title === 'triples') { event.type = 'test-passed'; delete event.err; }
  return postMessage.call(this, message, ...rest);
};\n`,
  jest: `const state = globalThis[Object.getOwnPropertySymbols(globalThis).find((name) => /JEST_STATE/.test(String(name)))];
if (state) for (const describe of [state.currentDescribeBlock, state.rootDescribeBlock])
  Object.defineProperty(describe, 'tests', { value: new Proxy(describe.tests, { get: (list, name) => { const found = list[name]; if (found?.name === 'triples') { Object.defineProperty(found, 'fn', { value: () => {} }); } return found; } }) });\n`,
};

export function pythonProject(
  tool: 'unittest' | 'pytest',
  testSource: string,
  prefix: string,
): AttackedProject {
  const source = 'shop/price.py';
  const body = (code: string, factor: number): string =>
    `${code}\n\ndef price(n):\n    attack()\n    return n * ${factor}\n\n\ndef half(n):\n    return n / 2\n`;
  const idle = '\ndef attack():\n    pass\n';
  return {
    source,
    files: {
      'shop/__init__.py': '',
      [source]: body(idle, 2),
      'tests/__init__.py': '',
      'tests/test_price.py': testSource,
    },
    fixed: body(idle, 3),
    attacks: Object.fromEntries(
      Object.entries(pythonAttacks(tool, idle)).map(([name, code]) => [
        name,
        body(`${FORGE_PY.replaceAll('PREFIX', prefix)}${code}`, 2),
      ]),
    ),
  };
}

const FORGE_PY = `
import json, os, re, stat, sys

FILE = "tests/test_price.py"


def line(name, status):
    return {"type": "result", "id": FILE + "::" + name, "key": FILE + "::" + name, "file": FILE, "name": name, "status": status, "durationMs": 1}


def forged():
    lines = [line("PREFIXtest_triples", "passed"), line("PREFIXtest_halves", "passed")]
    text = open(FILE).read()
    for kind, name in re.findall(r"^(?:class (\\w*x[0-9a-f]{16}\\w*)|\\s*(?:async )?def (\\w*test\\w*x[0-9a-f]{16}\\w*|test_\\w+))", text, re.M):
        if kind:
            forged.kind = kind + "::"
        elif name not in ("test_triples", "test_halves"):
            lines.append(line(getattr(forged, "kind", "") + name, "passed" if name.endswith("_a") else "failed"))
    return lines + [{"type": "end"}]


def text_of(lines):
    return "".join(json.dumps(entry) + "\\n" for entry in lines).encode()


def pour(data):
    for number in range(3, 256):
        try:
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                os.write(number, data)
        except OSError:
            pass

`;

function pythonAttacks(tool: 'unittest' | 'pytest', idle: string): Record<string, string> {
  return {
    'a whole report, then the end of the process':
      'def attack():\n    pour(text_of(forged()))\n    os._exit(1)\n',
    'lines at import time': `pour(text_of(forged()[:1]))\n${idle}`,
    'lines in an exit handler': `import atexit\natexit.register(lambda: pour(text_of(forged())))\n${idle}`,
    'lines from a child process': `import subprocess\n\n\ndef attack():
    fds = [n for n in range(3, 256) if os.path.exists("/proc/self/fd/%d" % n)]
    code = "import os, sys\\nfor n in range(3, 256):\\n    try: os.write(n, sys.argv[1].encode())\\n    except OSError: pass"
    subprocess.run([sys.executable, "-c", code, text_of(forged()).decode()], pass_fds=fds)
    os._exit(1)
`,
    'what loaded modules hold': `def attack():
    for module in list(sys.modules.values()):
        kind = getattr(module, "Report", None)
        if kind is not None and hasattr(kind, "frames_of"):
            def write(self, **found):
                for entry in forged():
                    type(self).original(self, **entry)
            kind.original, kind.write = kind.write, write
        for value in list(vars(module).values()) if hasattr(module, "__dict__") else []:
            if hasattr(value, "frames_of") and not isinstance(value, type):
                for entry in forged():
                    value.write(**entry)
                os._exit(1)
`,
    'another json.dumps': `dumps = json.dumps\n\n\ndef changed(value, **rest):
    if isinstance(value, dict) and "triples" in str(value.get("id")) and value.get("status") == "failed":
        value = {**value, "status": "passed"}
        value.pop("failure", None)
    return dumps(value, **rest)


json.dumps = changed\n${idle}`,
    'the runner itself': `${RUNNER_PY[tool]}\n${idle}`,
  };
}

const RUNNER_PY = {
  unittest: `import unittest
run = unittest.TestCase.run


def changed(self, result=None):
    if "triples" in self._testMethodName:
        setattr(self, self._testMethodName, lambda: None)
    return run(self, result)


unittest.TestCase.run = changed
`,
  pytest: `import _pytest.python
runtest = _pytest.python.Function.runtest
_pytest.python.Function.runtest = lambda self: None if "triples" in self.name else runtest(self)
`,
} as const;
