import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { prepareWorkspace } from '../../../../src/core/fix/prepare.ts';
import { gradePatch } from '../../../../src/core/grading/grade.ts';
import { chooseSandbox } from '../../../../src/core/sandbox/providers.ts';
import type { SandboxProvider } from '../../../../src/core/sandbox/sandbox.ts';
import {
  type RepositoryOutcome,
  tasksFromRepository,
} from '../../../../src/core/tasks/from-repository.ts';
import { openTask } from '../../../../src/core/tasks/open-task.ts';
import { readTaskSet, writeTaskSet } from '../../../../src/core/tasks/task-set.ts';
import { viewOf } from '../../../../src/core/tasks/views.ts';
import { suiteFolder, tempFolder, writeFiles } from '../../../support/temp.ts';

const folder = suiteFolder();
const { signal } = new AbortController();
let provider: SandboxProvider;

beforeAll(async () => {
  const chosen = await chooseSandbox('local', { stateDir: join(folder(), 'state') });
  if (chosen.kind === 'unavailable') throw new Error(`${chosen.reason} ${chosen.remedy}`);
  provider = chosen.provider;
});

async function buildFrom(
  path: string,
  limits: { readonly limit: number; readonly maxMs?: number; readonly seed?: number },
): Promise<RepositoryOutcome> {
  const prepared = await prepareWorkspace({
    path,
    provider,
    stateDir: join(folder(), 'state'),
    include: [],
    testTimeoutMs: 60_000,
    signal,
  });
  if (prepared.kind === 'problem') throw new Error(`${prepared.reason} ${prepared.remedy}`);
  const [project] = prepared.projects;
  if (project === undefined) throw new Error('no project');
  return tasksFromRepository({ project, seed: 1, maxMs: 60_000, ...limits });
}

function built(outcome: RepositoryOutcome) {
  if (outcome.kind !== 'built') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const PACKAGE = '{"name":"tiny","type":"module","scripts":{"test":"node --test"}}\n';
const MATHS = `export function clamp(value, low, high) {
  if (value < low) return low;
  if (value > high) return high;
  return value;
}

export function sum(list) {
  let total = 0;
  for (const item of list) total += item;
  return total;
}
`;
const TESTS = `import assert from 'node:assert/strict';
import test from 'node:test';
import { clamp, sum } from '../src/maths.js';

test('inside', () => assert.equal(clamp(2, 1, 3), 2));
test('below', () => assert.equal(clamp(0, 1, 3), 1));
test('above', () => assert.equal(clamp(9, 1, 3), 3));
test('sums', () => assert.equal(sum([1, 2, 3]), 6));
test('sums nothing', () => assert.equal(sum([]), 0));
`;

describe('tasks of a repository', () => {
  it('validate, are the same for the same seed, and leave the repository alone', async () => {
    const place = await tempFolder();
    await writeFiles(place, {
      'package.json': PACKAGE,
      'src/maths.js': MATHS,
      'src/unused.js': MATHS.replaceAll('total', 'count'),
      'test/maths.test.js': TESTS,
    });
    const before = await readdir(place, { recursive: true });
    const { tasks, trees, report } = built(await buildFrom(place, { limit: 3 }));
    expect(tasks.length).toBe(3);
    expect(report.stopped).toBe('limit');
    expect(await readdir(place, { recursive: true })).toEqual(before);
    expect(await readFile(join(place, 'src/maths.js'), 'utf8')).toBe(MATHS);
    expect(report.files).toBe(2);
    expect(report.notCovered).toEqual(['src/unused.js']);
    expect(report.candidates).toBe(
      tasks.length + [...report.dropped.values()].reduce((total, count) => total + count, 0),
    );
    expect(new Set(tasks.map(({ bug }) => bug.path))).toEqual(new Set(['src/maths.js']));
    for (const task of tasks) {
      expect(task.hidden.length).toBe(2);
      expect(task.targets.some((id) => task.visible.includes(id))).toBe(true);
    }
    const again = built(await buildFrom(place, { limit: 3 }));
    expect(again.tasks).toEqual(tasks);

    const file = join(await tempFolder(), 'tasks.jsonl.gz');
    await writeTaskSet(file, { entries: tasks.map((task) => ({ task })), trees });
    const read = await readTaskSet(file);
    const entry = read.entries[0];
    const tree = read.trees.get(entry?.task.tree ?? '');
    if (entry === undefined || tree === undefined) throw new Error('nothing was read');
    const { task } = entry;
    const opened = await openTask(task, tree, 'grading', {
      provider,
      stateDir: join(folder(), 'state'),
      folder: await tempFolder(),
      testTimeoutMs: 60_000,
      signal,
    });
    if (opened.kind === 'problem') throw new Error(opened.reason);
    const { setup, baseline } = opened;
    const verdict = async (patch: string) => {
      const outcome = await gradePatch({ setup, baseline, targets: task.targets, patch });
      return outcome.kind === 'graded' ? outcome.report.verdict : outcome.reason;
    };
    expect(await verdict('')).toBe('failed');
    expect(await verdict(task.patch)).toBe('passed');
  });

  it('allow for tests of one name and for tests inside of tests', async () => {
    const place = await tempFolder();
    const subtests = ['2, 1, 3), 2', '0, 1, 3), 1', '9, 1, 3), 3'].map(
      (check, at) => `  await t.test('number ${at}', () => assert.equal(clamp(${check}));\n`,
    );
    await writeFiles(place, {
      'package.json': PACKAGE,
      'src/maths.js': MATHS,
      'test/maths.test.js': `${TESTS.replace('sums nothing', 'sums')}
test('clamps', async (t) => {
  t.plan(${subtests.length});
${subtests.join('')}});
`,
    });
    const { tasks, report } = built(await buildFrom(place, { limit: 4 }));
    expect(tasks.length).toBe(4);
    expect(report.dropped.get('visible tests behave differently alone')).toBeUndefined();
    expect(report.dropped.get('tests come or go')).toBeUndefined();
    const hidden = new Set(tasks.flatMap((task) => task.hidden));
    const file = 'test/maths.test.js::';
    expect([...hidden]).toContain(`${file}above`);
    expect([...hidden].filter((id) => id.startsWith(`${file}sums`))).toEqual([]);
    for (const task of tasks) {
      const parts = task.hidden.filter((id) => id.startsWith(`${file}clamps > `));
      expect([0, subtests.length]).toContain(parts.length);
      expect([...task.targets, ...task.passing]).not.toContain(`${file}clamps`);
    }
    expect([...hidden]).toContain(`${file}clamps > number 0`);
    expect(tasks.some(({ targets }) => targets.includes(`${file}clamps > number 1`))).toBe(true);
  });

  it('can be Python', async () => {
    const place = await tempFolder();
    await writeFiles(place, {
      'pyproject.toml': '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
      'src/tiny.py':
        'def clamp(value, low, high):\n    if value < low:\n        return low\n    if value > high:\n        return high\n    return value\n',
      'tests/test_tiny.py':
        'import pytest\nfrom tiny import clamp\n\n\ndef test_inside():\n    assert clamp(2, 1, 3) == 2\n\n\n@pytest.mark.parametrize("n", [4, 5])\ndef test_above(n):\n    assert clamp(n, 1, 3) == 3\n\n\ndef test_below():\n    assert clamp(0, 1, 3) == 1\n',
    });
    const { tasks, trees } = built(await buildFrom(place, { limit: 1 }));
    const [task] = tasks;
    const tree = trees.get(task?.tree ?? '');
    if (task === undefined || tree === undefined) throw new Error('no task');
    expect(task.framework).toBe('pytest');
    expect(task.environment.detail).toMatch(/^pytest, Python 3\.\d+/);
    expect(task.environment.detail).not.toContain('/');
    expect(task.hidden.length).toBeGreaterThan(0);
    const seen = viewOf(task, tree, 'agent').get('tests/test_tiny.py')?.content.toString() ?? '';
    for (const id of task.hidden) {
      expect(seen).not.toContain(`${id.split('::')[1]?.replace(/\[.*/, '')}(`);
    }
  });

  it('can be of an example, whose failing tests take no part', async () => {
    const place = join(await tempFolder(), 'shop-cart');
    const example = fileURLToPath(new URL('../../../../examples/shop-cart', import.meta.url));
    await cp(example, place, { recursive: true });
    const { tasks, report } = built(await buildFrom(place, { limit: 2, seed: 3 }));
    expect(tasks.length).toBe(2);
    expect(report.covered).toBeGreaterThan(0);
    for (const { bug, source } of tasks) {
      expect(bug.path).toMatch(/^src\//);
      expect(source).toEqual({ kind: 'repository', name: 'shop-cart' });
    }
  });

  it('stop in time, and need tests that pass', async () => {
    const place = await tempFolder();
    await writeFiles(place, {
      'package.json': PACKAGE,
      'src/maths.js': MATHS,
      'test/maths.test.js': TESTS,
    });
    const { tasks, report } = built(await buildFrom(place, { limit: 50, maxMs: 1 }));
    expect(tasks).toEqual([]);
    expect(report.stopped).toBe('time');
    await writeFiles(place, {
      'test/maths.test.js': TESTS.replaceAll(/assert.equal\((.*), \d\)/g, 'assert.equal($1, 99)'),
    });
    expect(await buildFrom(place, { limit: 1 })).toEqual({
      kind: 'none-pass',
      reason: '0 of 5 tests pass; a bug needs tests that notice it and tests that do not.',
    });
  });
});
