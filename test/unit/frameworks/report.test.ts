import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RawRun } from '../../../src/core/frameworks/framework.ts';
import { describeExit, parseReport } from '../../../src/core/frameworks/report.ts';
import { crashReason } from '../../../src/core/frameworks/run.ts';

const run: RawRun = { exitCode: 0, log: '', projectPath: '' };
const isTest = (path: string): boolean => path.includes('test');
const bytes = (...lines: readonly unknown[]): Uint8Array =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

const passed = {
  type: 'result',
  id: 'a.test.js::x',
  key: 'k',
  file: 'a.test.js',
  name: 'x',
  status: 'passed',
  durationMs: 1,
};
const running = {
  type: 'running',
  id: 'a.test.js::y',
  key: 'y',
  file: 'a.test.js',
  name: 'y',
  line: 4,
};
const end = { type: 'end' };

describe('reading a report', () => {
  test('results, and that the runner came to its end', () => {
    expect(parseReport(bytes(passed, end), run, isTest)).toEqual({
      results: [
        { id: 'a.test.js::x', file: 'a.test.js', name: 'x', status: 'passed', durationMs: 1 },
      ],
      collectionErrors: [],
      complete: true,
    });
  });

  test('an empty report is not complete', () => {
    expect(parseReport(new Uint8Array(), run, isTest)).toEqual({
      results: [],
      collectionErrors: [],
      complete: false,
    });
  });

  test('garbage, cut lines and unknown kinds are left out', () => {
    const text = `noise\n{"type":"result"\n${JSON.stringify({ type: 'other' })}\n${JSON.stringify(passed)}\n{"type":"res`;
    expect(parseReport(Buffer.from(text), run, isTest).results).toHaveLength(1);
  });

  test('a cut anywhere loses only what lies behind it', () => {
    const whole = bytes(passed, { ...passed, id: 'a.test.js::z', name: 'z' }, end);
    fc.assert(
      fc.property(fc.nat(whole.length), (length) => {
        const { results, complete } = parseReport(whole.subarray(0, length), run, isTest);
        expect(complete).toBe(length >= whole.length - 1);
        for (const { status } of results) expect(status).toBe('passed');
      }),
    );
  });

  test('paths and ids get the folder of the project, frames outside of the workspace go', () => {
    const failure = {
      message: 'm',
      details: '',
      frames: [
        { file: 'node_modules/x/index.js', line: 1 },
        { file: '../shared/lib.js', line: 2, function: 'f' },
        { file: '../../../usr/lib/x.js', line: 3 },
        { file: 'a.test.js', line: 9, column: 3 },
      ],
    };
    const report = bytes({ ...passed, status: 'failed', line: 7, failure }, end);
    expect(
      parseReport(report, { ...run, projectPath: 'packages/a' }, isTest).results[0],
    ).toMatchObject({
      id: 'packages/a/a.test.js::x',
      file: 'packages/a/a.test.js',
      failure: {
        place: { file: 'packages/a/a.test.js', line: 9, column: 3 },
        ownFrame: { file: 'packages/shared/lib.js', line: 2, function: 'f' },
      },
    });
  });

  test('without frames the place is where the test stands', () => {
    const failure = { message: 'm', details: '', frames: [] };
    const report = bytes({ ...passed, status: 'failed', line: 7, failure }, end);
    expect(parseReport(report, run, isTest).results[0]?.failure?.place).toEqual({
      file: 'a.test.js',
      line: 7,
    });
  });

  test('of several reports about one test the worst counts', () => {
    const failure = { message: 'in teardown: x', details: '', frames: [] };
    const report = bytes(passed, { ...passed, status: 'error', failure }, passed, end);
    expect(parseReport(report, run, isTest).results.map(({ status }) => status)).toEqual(['error']);
  });

  test('a discarded file starts anew', () => {
    const report = bytes(
      { ...passed, status: 'failed' },
      { type: 'discard', file: 'a.test.js' },
      passed,
      end,
    );
    expect(parseReport(report, run, isTest).results.map(({ status }) => status)).toEqual([
      'passed',
    ]);
  });

  test.each([
    [undefined, 'this test had not ended when the time was up'],
    [139, 'the test process ended while this test ran (exit code 139: segmentation fault)'],
  ])('a test that had begun when the run broke off (exit code %s)', (exitCode, message) => {
    const { results } = parseReport(bytes(passed, running), { ...run, exitCode }, isTest);
    expect(results[1]).toMatchObject({
      id: 'a.test.js::y',
      status: 'error',
      failure: { message, place: { file: 'a.test.js', line: 4 } },
    });
  });

  test('in a complete run nothing is left running', () => {
    expect(parseReport(bytes(running, end), run, isTest).results).toEqual([]);
  });
});

test.each([
  [
    'prime-agent: pytest cannot be imported: No module\nmore\n',
    'pytest cannot be imported: No module',
  ],
  ['usage: x\npytest.py: error: bad option\n  inifile: y\n', 'pytest.py: error: bad option'],
  ['something\nImportError: no x\nend\n', 'ImportError: no x'],
  ['only this\n\n', 'only this'],
])('the reason of a crash is taken from the log: %j', (log, reason) => {
  expect(crashReason(1, log)).toMatch(new RegExp(`${reason}$`));
});

test('exit codes in words', () => {
  expect(describeExit(2)).toBe('exit code 2');
  expect(describeExit(137)).toContain('killed');
});
