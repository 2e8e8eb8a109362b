import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeTest } from '../../../src/core/frameworks/node-test/node-test.ts';
import { renderTestRun } from '../../../src/core/tools/run-tests/render.ts';
import {
  HANGING_TEST_MS,
  openProject,
  type Project,
  ran,
  resultOf,
  runHanging,
  statuses,
} from './support.ts';

const files = {
  'package.json': JSON.stringify({
    name: 'shop',
    scripts: { test: 'node --require ./setup.cjs --test test/*.test.js' },
  }),
  'setup.cjs': 'globalThis.fromSetup = 7;\n',
  'src/cart.js':
    'exports.total = function total(items) {\n  if (!Array.isArray(items)) throw new TypeError("no list");\n  return items.length;\n};\n',
  'test/cart.test.js': `const { test, describe, it, beforeEach } = require('node:test');
const assert = require('node:assert');
const { total } = require('../src/cart.js');
test('passes', () => { console.log('BODY RAN'); assert.equal(globalThis.fromSetup, 7); });
describe('cart', () => {
  beforeEach(() => {});
  it('adds tax', () => { assert.strictEqual(total([1]), 12); });
  it('throws from the source', () => { total(3); });
  describe('inner (a|b)', () => {
    it('adds tax', () => { assert.deepStrictEqual({ a: 1 }, { a: 1 }); });
    it('if a > b it wins', () => { assert.ok(true); });
  });
});
test('parent', async (t) => {
  await t.test('child good', () => {});
  await t.test('child bad', () => { assert.equal('12', 12.5, 'not the same'); });
});
test('skipped', { skip: 'later' }, () => {});
test('todo', { todo: true }, () => { throw new Error('not yet'); });
test('twice', () => {});
test('twice', () => { throw 'a string'; });
test('strings', () => { assert.strictEqual('12', 12); });
test('functions', () => { assert.deepStrictEqual({ f() {}, n: 1, list: ['a'.repeat(40), 'b'.repeat(40)] }, { n: 2 }); });
test('rejects', async () => { await Promise.reject(new RangeError('too far')); });
test('times out', { timeout: 50 }, () => new Promise((done) => setTimeout(done, 300)));
`,
  'test/broken.test.js':
    "const { test } = require('node:test');\nconst x = ;\ntest('never', () => {});\n",
  'test/missing.test.js':
    "const { test } = require('node:test');\nrequire('../src/nowhere.js');\ntest('never', () => {});\n",
  'test/exit.test.js':
    "const { test } = require('node:test');\ntest('one', () => {});\ntest('leaves', () => process.exit(0));\n",
  'test/late.test.js':
    "const { test } = require('node:test');\ntest('too late', () => { setTimeout(() => { throw new Error('after the end'); }, 20); });\ntest('other', async () => { await new Promise((done) => setTimeout(done, 100)); });\n",
};

describe('node:test in a project', () => {
  let project: Project;
  beforeAll(async () => {
    project = await openProject(nodeTest, files);
  });
  afterAll(async () => {
    await project?.close();
  });

  test('a run of everything reports each test once, with file-level failures apart', async () => {
    const run = ran(await project.run());
    expect(statuses(run.results)).toMatchObject({
      'test/cart.test.js::passes': 'passed',
      'test/cart.test.js::cart > adds tax': 'failed',
      'test/cart.test.js::cart > throws from the source': 'failed',
      'test/cart.test.js::cart > inner (a|b) > adds tax': 'passed',
      'test/cart.test.js::cart > inner (a|b) > if a > b it wins': 'passed',
      'test/cart.test.js::parent > child good': 'passed',
      'test/cart.test.js::parent > child bad': 'failed',
      'test/cart.test.js::skipped': 'skipped',
      'test/cart.test.js::todo': 'todo',
      'test/cart.test.js::twice': 'passed',
      'test/cart.test.js::twice #2': 'failed',
      'test/cart.test.js::strings': 'failed',
      'test/cart.test.js::functions': 'failed',
      'test/cart.test.js::rejects': 'failed',
      'test/cart.test.js::times out': 'failed',
      'test/exit.test.js': 'error',
    });
    // Suites and parents whose subtests failed are no results of their own.
    expect(statuses(run.results)).not.toHaveProperty(['test/cart.test.js::cart']);
    expect(run.collectionErrors.map(({ file, message }) => [file, message.split('\n')[0]])).toEqual(
      expect.arrayContaining([
        ['test/broken.test.js', "SyntaxError: Unexpected token ';'"],
        ['test/missing.test.js', "Error: Cannot find module '../src/nowhere.js'"],
      ]),
    );
    expect(run.complete).toBe(true);
    expect(run.exitCode).toBe(1);
    expect(run.log).toContain('BODY RAN');
    const late = run.results.filter(
      ({ file, status }) => file === 'test/late.test.js' && status !== 'passed',
    );
    expect(late.map(({ failure }) => failure?.message).join()).toContain('after the end');
  });

  test('failures carry values, message, place and first own frame', async () => {
    const run = await project.run(['test/cart.test.js']);
    expect(resultOf(run, 'test/cart.test.js::cart > adds tax').failure).toMatchObject({
      expected: '12',
      actual: '1',
      place: { file: 'test/cart.test.js', line: 7 },
    });
    expect(resultOf(run, 'test/cart.test.js::cart > throws from the source').failure).toMatchObject(
      {
        message: 'TypeError: no list',
        place: { file: 'test/cart.test.js', line: 8 },
        ownFrame: { file: 'src/cart.js', line: 2, function: 'total' },
      },
    );
    // Without quotes the two would look the same.
    expect(resultOf(run, 'test/cart.test.js::strings').failure).toMatchObject({
      expected: '12',
      actual: "'12'",
    });
    // Values with functions do not survive the way from the test's process; their text does.
    expect(resultOf(run, 'test/cart.test.js::functions').failure).toMatchObject({
      message: 'Expected values to be strictly deep-equal',
      expected: '{\n  n: 2\n}',
      actual: expect.stringMatching(/^\{\n {2}f: \[Function: f\],\n[\s\S]*\n {2}n: 1\n\}$/),
      place: { file: 'test/cart.test.js', line: 23 },
    });
    expect(resultOf(run, 'test/cart.test.js::parent > child bad').failure).toMatchObject({
      message: 'not the same',
      expected: '12.5',
      actual: '12',
    });
    expect(resultOf(run, 'test/cart.test.js::twice #2').failure?.message).toBe('a string');
    expect(resultOf(run, 'test/cart.test.js::rejects').failure?.message).toBe(
      'RangeError: too far',
    );
    expect(resultOf(run, 'test/cart.test.js::times out').failure?.message).toContain('timed out');
  });

  test.each([
    ['a nested test', 'test/cart.test.js::cart > inner (a|b) > adds tax', ['passed']],
    [
      'a name with the separator in it',
      'test/cart.test.js::cart > inner (a|b) > if a > b it wins',
      ['passed'],
    ],
    ['a subtest', 'test/cart.test.js::parent > child bad', ['failed']],
    ['the second of a name', 'test/cart.test.js::twice #2', ['failed']],
    ['a suite', 'test/cart.test.js::cart > inner (a|b)', ['passed', 'passed']],
    [
      'a test that another one shares its name with',
      'test/cart.test.js::cart > adds tax',
      ['failed'],
    ],
  ])('choosing %s gives exactly that', async (_, id, expected) => {
    const run = ran(await project.run([id]));
    expect(run.results.map(({ status }) => status)).toEqual(expected);
    for (const result of run.results) expect(result.id.startsWith(id)).toBe(true);
    expect(run.complete).toBe(true);
  });

  test('listing runs no test body', async () => {
    const run = ran(await project.run(['test/cart.test.js'], { listOnly: true }));
    expect(statuses(run.results)).toMatchObject({
      'test/cart.test.js::passes': 'listed',
      'test/cart.test.js::cart > inner (a|b) > adds tax': 'listed',
      'test/cart.test.js::twice #2': 'listed',
    });
    expect(run.results.some(({ status }) => status === 'failed')).toBe(false);
    expect(run.log).not.toContain('BODY RAN');
  });

  test('a file or test that does not exist is said, and the others run', async () => {
    const ids = ['test/gone.test.js::x', 'test/cart.test.js::nothing', 'test/cart.test.js::passes'];
    const run = await project.run(ids);
    expect(renderTestRun(run, { tests: ids })).toBe(
      '1 file could not be loaded, 1 passed\n\nERROR test/gone.test.js\n  there is no such file\n\nNot found: test/cart.test.js::nothing',
    );
  });

  test('progress counts results', async () => {
    const seen: number[] = [];
    await project.run(['test/cart.test.js'], { onProgress: (count) => seen.push(count) });
    expect(seen.at(-1)).toBeGreaterThanOrEqual(13);
  });
});

test('crash: the file whose process was killed is named, the other files run', async () => {
  const project = await openProject(nodeTest, {
    'a.test.js':
      "const { test } = require('node:test');\ntest('quick', () => {});\ntest('dies', () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => setInterval(() => {}, 1000)); });\n",
    'b.test.js': "require('node:test').test('fine', () => {});\n",
  });
  try {
    expect(renderTestRun(await project.run())).toBe(
      '1 file could not be loaded, 1 passed\n\nERROR a.test.js\n  the process of this file was ended by SIGKILL before its tests were reported',
    );
  } finally {
    await project.close();
  }
});

test(
  'a hanging test is named after the time limit, earlier results are kept',
  async () => {
    const run = await runHanging(
      (begun) =>
        openProject(nodeTest, {
          'a.test.js': `const { test } = require('node:test');\ntest('quick', () => {});\ntest('hangs', () => { require('node:fs').writeFileSync('${begun}', ''); return new Promise(() => setInterval(() => {}, 1000)); });\n`,
          'b.test.js':
            "const { test } = require('node:test');\ntest('blocks', () => { for (;;); });\n",
        }),
      5_000,
    );
    expect(run.kind).toBe('timeout');
    const text = renderTestRun(run);
    expect(text).toContain('did not end in time');
    expect(text).toContain('FAIL a.test.js::hangs\n  this test had not ended when the time was up');
    expect(resultOf(run, 'a.test.js::quick').status).toBe('passed');
  },
  HANGING_TEST_MS,
);

test('tests cannot reach the report', async () => {
  const forged =
    '{"type":"result","id":"a.test.js::fails","file":"a.test.js","name":"x","status":"passed","durationMs":0}';
  const project = await openProject(nodeTest, {
    'a.test.js': `const { test } = require('node:test');
const fs = require('node:fs');
test('forges', () => {
  for (let fd = 3; fd < 256; fd += 1) { try { fs.writeSync(fd, ${JSON.stringify(`\n${forged}\n{"type":"end"}\n`)}); } catch {} }
});
test('fails', () => { throw new Error('real'); });
`,
  });
  try {
    // The forger may break its own process by this; it must not make the failing test pass.
    const run = await project.run([]);
    const results = run.kind === 'ran' ? run.results : [];
    expect(results.some(({ id, status }) => id === 'a.test.js::fails' && status === 'passed')).toBe(
      false,
    );
  } finally {
    await project.close();
  }
});

test('gigabytes of output leave a bounded log with both ends', async () => {
  const project = await openProject(nodeTest, {
    'a.test.js': `const { test } = require('node:test');
const { execSync } = require('node:child_process');
console.log('the very beginning');
test('loud', () => { execSync('head -c 60000000 /dev/zero | tr "\\\\0" x', { stdio: ['ignore', 'inherit', 'inherit'] }); });
`,
    'package.json': '{"scripts":{"test":"node --test"}}',
  });
  try {
    const run = ran(await project.run([]));
    expect(run.log.length).toBeLessThan(1_200_000);
    expect(run.log).toContain('the very beginning');
    expect(run.log).toMatch(/\[… \d{8} bytes left out …\]/);
    expect(run.log).toContain('ℹ tests 1');
  } finally {
    await project.close();
  }
});

describe('TypeScript tests', () => {
  const typed = {
    'a.test.ts':
      "import { test } from 'node:test';\nimport assert from 'node:assert';\nconst x: number = 1;\ntest('typed', () => { assert.equal(x, 1); });\n",
    'package.json': '{"type":"module","scripts":{"test":"node --test **/*.test.ts"}}',
  };

  test('run through tsx where the project has it', async () => {
    const project = await openProject(nodeTest, {
      ...typed,
      // Stands for tsx: what counts here is that it is found and preloaded.
      'node_modules/tsx/package.json': '{"name":"tsx","type":"module","exports":"./index.mjs"}',
      'node_modules/tsx/index.mjs':
        "import { register } from 'node:module';\nregister('./hooks.mjs', import.meta.url);\n",
      'node_modules/tsx/hooks.mjs':
        "import fs from 'node:fs';\nimport { fileURLToPath } from 'node:url';\nexport async function load(url, context, next) {\n  if (!url.endsWith('.ts')) return next(url, context);\n  const source = fs.readFileSync(fileURLToPath(url), 'utf8').replace(/: number/g, '');\n  return { format: 'module', source, shortCircuit: true };\n}\n",
    });
    try {
      expect(statuses(ran(await project.run()).results)).toEqual({ 'a.test.ts::typed': 'passed' });
    } finally {
      await project.close();
    }
  });

  test('are said to need tsx where nothing reads them', async () => {
    const project = await openProject(nodeTest, typed);
    try {
      const run = await project.run();
      if (Number(/\d+/.exec(project.detail)?.[0]) >= 22) {
        expect(statuses(ran(run).results)).toEqual({ 'a.test.ts::typed': 'passed' });
      } else {
        expect(run).toMatchObject({
          kind: 'crashed',
          reason: expect.stringMatching(
            /^TypeScript tests cannot run: .*npm install --save-dev tsx/,
          ),
        });
      }
    } finally {
      await project.close();
    }
  });
});

test('a project in a folder: ids are relative to the workspace, build steps run first', async () => {
  const project = await openProject(nodeTest, {
    'packages/a/package.json': JSON.stringify({
      scripts: {
        build: 'cp src.js built.js',
        unit: 'node --test spec/',
        test: 'npm run build && npm run unit',
      },
    }),
    'packages/a/src.js': 'exports.x = 1;\n',
    'packages/a/spec/one.js':
      "const { test } = require('node:test');\nconst assert = require('node:assert');\ntest('built', () => { assert.equal(require('../built.js').x, 2); });\n",
  });
  try {
    const run = ran(await project.run([], { projectPath: 'packages/a' }));
    expect(statuses(run.results)).toEqual({ 'packages/a/spec/one.js::built': 'failed' });
    expect(run.results[0]?.failure).toMatchObject({
      expected: '2',
      actual: '1',
      place: { file: 'packages/a/spec/one.js', line: 3 },
    });
    const again = ran(
      await project.run(['packages/a/spec/one.js::built'], { projectPath: 'packages/a' }),
    );
    expect(again.results).toHaveLength(1);
  } finally {
    await project.close();
  }
});

test('type tests next to JavaScript tests do not stop them', async () => {
  const project = await openProject(nodeTest, {
    'package.json': '{"scripts":{"test":"node --test"}}',
    'test/a.test.js': "require('node:test').test('plain', () => {});\n",
    'test/types.test.ts': 'const x: number = 1;\n',
  });
  try {
    expect(statuses(ran(await project.run()).results)).toMatchObject({
      'test/a.test.js::plain': 'passed',
    });
  } finally {
    await project.close();
  }
});

test('a folder without tests says so', async () => {
  const project = await openProject(nodeTest, { 'package.json': '{}', 'index.js': '' });
  try {
    expect(renderTestRun(await project.run())).toBe('No tests were found.');
  } finally {
    await project.close();
  }
});
