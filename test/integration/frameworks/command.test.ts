import { describe, expect, test } from 'vitest';
import { createCommandFramework } from '../../../src/core/frameworks/command/command.ts';
import { detectFrameworks } from '../../../src/core/frameworks/detect.ts';
import type { TestRun } from '../../../src/core/frameworks/framework.ts';
import type { RunTestsOptions } from '../../../src/core/frameworks/run.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { renderTestRun } from '../../../src/core/tools/run-tests/render.ts';
import { tempFolder, writeFiles } from '../../support/temp.ts';
import { HANGING_TEST_MS, openProject, ran, runHanging } from './support.ts';

/** What `--command` makes of the rows of docs/frameworks.md: one test, whose id is `command`. */
const FILES = { Makefile: 'test:\n\tsh check.sh\n', 'check.sh': 'grep -q 3 sum || exit 4\n' };

async function runs(
  command: string,
  tests: readonly string[] = [],
  options: Partial<RunTestsOptions> & { listOnly?: boolean } = {},
  sum = '2\n',
): Promise<TestRun> {
  const project = await openProject(createCommandFramework(command), { ...FILES, sum });
  try {
    return await project.run(tests, options);
  } finally {
    await project.close();
  }
}

describe('an own command', () => {
  test('detect: it is given, and never found', async () => {
    const folder = await tempFolder();
    await writeFiles(folder, FILES);
    const files = openWorkspaceFiles(folder);
    expect(await detectFrameworks(files)).toEqual([]);
    expect(await createCommandFramework('make test').detect(files)).toEqual({
      confidence: 1,
      reason: 'given',
      projectPath: '',
    });
  });

  test('list: its one test, and nothing runs', async () => {
    const run = ran(await runs('echo BODY RAN; exit 3', [], { listOnly: true }));
    expect(run.results).toEqual([
      expect.objectContaining({ id: 'command', name: 'echo BODY RAN; exit 3', status: 'listed' }),
    ]);
    expect(run.log).not.toContain('BODY RAN');
  });

  test('run one: by its id', async () => {
    expect(ran(await runs('true', ['command'])).results).toMatchObject([
      { id: 'command', status: 'passed' },
    ]);
    const other = ['nothing'];
    expect(renderTestRun(await runs('true', other), { tests: other })).toContain(
      'Not found: nothing',
    );
  });

  test('run all: the exit code decides, and what was printed is kept', async () => {
    const command = 'echo one; echo two >&2; make -s test';
    const failed = ran(await runs(command));
    expect(failed).toMatchObject({ complete: true, collectionErrors: [] });
    expect(failed.results).toMatchObject([{ id: 'command', status: 'failed' }]);
    expect(failed.results[0]?.failure?.message).toMatch(/^exit code 2\none\ntwo\n.*Error 4/s);
    const passed = ran(await runs(command, [], {}, '3\n'));
    expect(passed.results).toMatchObject([{ id: 'command', status: 'passed' }]);
    expect(passed.results[0]).not.toHaveProperty('failure');
  });

  test.each([
    [
      'what cannot be loaded fails with what bash says',
      'nosuchprogram --all',
      /exit code 127\n.*nosuchprogram: command not found/,
    ],
    ['what cannot be read by bash fails as well', 'if then', /exit code 2\n.*syntax error/s],
    ['crash: killed', 'echo before; kill -9 $$', /exit code 137\n.*before/s],
    [
      'crash: a program that is killed',
      "echo before; bash -c 'kill -SEGV $$'",
      /exit code 139\n.*before/s,
    ],
  ])('%s', async (_, command, says) => {
    const run = ran(await runs(command));
    expect(run.results).toMatchObject([{ id: 'command', status: 'failed' }]);
    expect(run.results[0]?.failure?.message).toMatch(says);
  });

  test(
    'timeout: it failed, with what it had printed',
    async () => {
      const run = await runHanging(
        (begun) =>
          openProject(createCommandFramework(`echo before; touch ${begun}; sleep 600`), FILES),
        5_000,
      );
      expect(run.kind).toBe('timeout');
      const text = renderTestRun(run);
      expect(text).toContain('did not end in time');
      expect(text).toContain('before');
    },
    HANGING_TEST_MS,
  );

  test('what it prints is never taken for a list', async () => {
    const forged = 'for fd in {3..255}; do echo listed >&$fd; done 2>/dev/null; exit 1';
    expect(ran(await runs(forged)).results).toMatchObject([{ status: 'failed' }]);
  });
});
