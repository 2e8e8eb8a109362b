import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../../src/cli/program.ts';
import { readTaskSet } from '../../../../src/core/tasks/task-set.ts';
import { tempFolder, writeFiles } from '../../../support/temp.ts';
import { captured } from '../../../unit/cli/context.ts';

const MANIFEST = '{"name":"tiny","type":"module","scripts":{"test":"node --test"}}\n';
const test = (name: string, check: string): string => `test('${name}', () => assert.${check});\n`;
const project = (source: string, ...tests: readonly string[]): Record<string, string> => ({
  'package.json': MANIFEST,
  'src/it.js': source,
  'test/it.test.js': `import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { it } from '../src/it.js';\n\n${tests.join('')}`,
});
const CLAMP = project(
  'export function it(value, low) {\n  // Never below.\n  if (value < low) return low;\n  return value + 0;\n}\n',
  test('below', 'equal(it(1, 5), 5)'),
  test('above', 'equal(it(7, 5), 7)'),
  test('far above', 'equal(it(70, 5), 70)'),
);

async function world(files: Readonly<Record<string, string>> = {}) {
  const folder = await tempFolder();
  await writeFiles(join(folder, 'repo'), files);
  return {
    folder,
    async run(args: readonly string[], signal?: AbortSignal) {
      const { context, stdout, stderr } = captured();
      const env = { PRIME_AGENT_HOME: join(folder, 'state'), PATH: process.env.PATH };
      const program = createProgram({
        ...context,
        cwd: folder,
        env,
        ...(signal === undefined ? {} : { signal }),
      });
      const code = await program.run(['tasks', 'build', ...args]);
      return { code, stdout: stdout(), stderr: stderr() };
    },
  };
}

describe('prime-agent tasks build', () => {
  it('makes a file of tasks from modules, with its split and the overlap report', async () => {
    const { folder, run } = await world();
    const args = ['--generate', '20', '--seed', '4', '--out', 'sets/t.jsonl'];
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain('Making 20 tasks from modules');
    expect(stdout).toContain(`20 tasks in ${join(folder, 'sets/t.jsonl')}`);
    expect(stdout).toContain('in common: 0 families, 0 operators, 0 normalised trees');
    expect(code).toBe(0);
    expect((await readdir(join(folder, 'sets'))).sort()).toEqual([
      't.jsonl',
      't.overlap.json',
      't.overlap.md',
    ]);
    const { entries } = await readTaskSet(join(folder, 'sets/t.jsonl'));
    expect(entries.length).toBe(20);
    const report = JSON.parse(await readFile(join(folder, 'sets/t.overlap.json'), 'utf8'));
    for (const name of ['train', 'held-out', 'new-family', 'new-operator']) {
      expect(entries.filter(({ split }) => split === name).length).toBe(report.counts[name]);
    }
    const first = await readFile(join(folder, 'sets/t.jsonl'));
    await run(args);
    expect(await readFile(join(folder, 'sets/t.jsonl'))).toEqual(first);
  });

  it('makes tasks from a repository, and says what was tried', async () => {
    const { folder, run } = await world(CLAMP);
    const { code, stdout } = await run(['repo', '--limit', '1', '--json']);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({
      outcome: 'built',
      out: join(folder, 'tasks.jsonl.gz'),
      tasks: 1,
      sources: [{ tasks: 1, repository: { files: 1, covered: 1, stopped: 'limit' } }],
    });
    expect(code).toBe(0);
    const { entries } = await readTaskSet(document.out);
    expect(entries.map(({ task }) => task.source)).toEqual([{ kind: 'repository', name: 'repo' }]);
  });

  it('ends with 1 and writes nothing when no bug is a task', async () => {
    const { folder, run } = await world(
      project(
        'export function it(value) {\n  const text = String(value);\n  return text.length > 3 ? text : value;\n}\n',
        test('one', 'ok(true)'),
        test('two', 'ok(true)'),
      ),
    );
    const { code, stdout } = await run(['repo', '--limit', '1']);
    expect(stdout).toContain('dropped: no test notices');
    expect(stdout).toContain('No task was found, so nothing was written.');
    expect(code).toBe(1);
    expect(await readdir(folder)).not.toContain('tasks.jsonl.gz');
  });

  it.each([
    [[], 'There is nothing to build tasks from.'],
    [['--generate', '0'], 'must be a whole number above 0.'],
    [['--generate', '5', '--out', 'repo'], 'repo is a folder.\nName a file for the tasks'],
    [['--generate', '5', '--out', 'file/t.jsonl'], 'The tasks cannot be written to'],
    [['missing'], 'is not a folder.'],
    [['repo'], 'No tests were found in'],
  ])('%j ends with 2 and says what to do', async (args, explanation) => {
    const { folder, run } = await world({ 'readme.txt': 'nothing\n' });
    await writeFile(join(folder, 'file'), '');
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(explanation);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it('refuses a repository in which nothing passes', async () => {
    const { run } = await world({ ...CLAMP, 'src/it.js': 'export function it() {}\n' });
    const { code, stderr } = await run(['repo']);
    expect(stderr).toContain('0 of 3 tests pass; a bug needs tests that notice it');
    expect(stderr).toContain('Name a repository whose tests pass.');
    expect(code).toBe(2);
  });

  it.each([['--generate', '5000'], ['repo']])('stops at Ctrl-C: %s', async (...args) => {
    const { folder, run } = await world(CLAMP);
    const interrupt = new AbortController();
    setTimeout(() => interrupt.abort(new Error('interrupted')), 300);
    const { code, stderr } = await run(args, interrupt.signal);
    expect(stderr).toContain('cancelled');
    expect(code).toBe(130);
    expect(await readdir(folder)).not.toContain('tasks.jsonl.gz');
  });
});
