import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const REPORTER = resolve('src/core/frameworks/jest/reporter.asset.cjs');

/** The lines of the report that these events make, in a process as jest's. */
function report(events: string): readonly Record<string, unknown>[] {
  const script = `
    const Reporter = require(${JSON.stringify(REPORTER)});
    const reporter = new Reporter({}, {});
    const file = { path: process.cwd() + '/a.test.js' };
    const of = (title) => ({ ancestorTitles: [], title, fullName: title, status: 'passed' });
    ${events}`;
  const { output, stderr } = spawnSync(process.execPath, ['-e', script], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const lines = (output[3] ?? '').split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

test('a worker that dies is told of the test that ran, also where news came in another order', () => {
  const lines = report(`
    reporter.onTestFileStart(file);
    reporter.onTestCaseStart(file, of('quick'));
    reporter.onTestCaseStart(file, of('dies'));
    reporter.onTestCaseResult(file, of('quick'));
    reporter.onTestFileResult(file, {
      testFilePath: file.path,
      testExecError: { message: 'A jest worker process (pid=1) was terminated by another process' },
    });`);
  expect(lines.filter(({ type }) => type === 'result')).toMatchObject([
    { id: 'a.test.js::quick', status: 'passed' },
    { id: 'a.test.js::dies', status: 'error' },
  ]);
});
