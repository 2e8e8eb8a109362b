import type { TestResult, TestRun } from '../../frameworks/framework.ts';
import { renderFailures, renderLog, renderTestRun } from './render.ts';

const passed: TestResult = {
  id: 'test/cart.test.js::cart > is empty at first',
  file: 'test/cart.test.js',
  line: 5,
  name: 'cart > is empty at first',
  status: 'passed',
  durationMs: 1,
};

const compared: TestResult = {
  ...passed,
  id: 'test/cart.test.js::cart > adds tax',
  status: 'failed',
  failure: {
    message: 'Expected values to be strictly equal',
    expected: '12',
    actual: '10',
    place: { file: 'test/cart.test.js', line: 14 },
    ownFrame: { file: 'src/cart.js', line: 33, function: 'total' },
    details: '',
  },
};

const multiLine: TestResult = {
  ...compared,
  id: 'test/cart.test.js::cart > lists items',
  failure: {
    message: 'the items differ',
    expected: '{\n  a: 1\n}',
    actual: '{\n  a: 2\n}',
    place: { file: 'test/cart.test.js', line: 30 },
    details: '',
  },
};

const thrown: TestResult = {
  ...compared,
  id: 'test/cart.test.js::cart > throws on negative',
  failure: {
    message: 'TypeError: x is not a function',
    place: { file: 'test/cart.test.js', line: 20 },
    details: '',
  },
};

const ran: Extract<TestRun, { kind: 'ran' }> = {
  kind: 'ran',
  exitCode: 0,
  durationMs: 1,
  log: 'ok',
  results: [passed],
  collectionErrors: [],
  complete: true,
};

/** Each template once, on fixed inputs, for the scaffold hash. */
export function observationSamples(): Readonly<Record<string, string>> {
  const others: readonly TestResult['status'][] = [
    'skipped',
    'todo',
    'xfailed',
    'xpassed',
    'listed',
  ];
  return {
    passed: renderTestRun(ran),
    failed: renderTestRun({ ...ran, exitCode: 1, results: [compared, multiLine, thrown, passed] }),
    cut: renderFailures([compared, multiLine, thrown], { maxFailures: 1 }),
    others: renderTestRun({ ...ran, results: others.map((status) => ({ ...passed, status })) }),
    collectionError: renderTestRun({
      ...ran,
      results: [],
      collectionErrors: [
        {
          file: 'test/cart.test.js',
          message: "SyntaxError: Unexpected token '}'",
          place: { file: 'src/cart.js', line: 3 },
        },
      ],
    }),
    none: renderTestRun({ ...ran, results: [] }),
    notFound: renderTestRun(ran, { tests: ['test/cart.test.js::gone'] }),
    brokeOff: renderTestRun({ ...ran, complete: false, exitCode: 139 }),
    crashed: renderTestRun({
      kind: 'crashed',
      exitCode: 1,
      durationMs: 1,
      log: 'first\nlast',
      reason: 'pytest cannot be imported',
    }),
    timeout: renderTestRun({ kind: 'timeout', durationMs: 1, log: '', results: [passed, thrown] }),
    cancelled: renderTestRun({ kind: 'cancelled' }),
    noLog: renderLog(''),
    longLog: renderLog('x'.repeat(13_000)).replace(/x{10,}/g, 'x…'),
  };
}
