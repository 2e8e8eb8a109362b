import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { gradePatch } from '../../../../src/core/grading/grade.ts';
import { chooseSandbox } from '../../../../src/core/sandbox/providers.ts';
import { runFast } from '../../../../src/core/tasks/generate/fast-run.ts';
import {
  type BuiltTasks,
  generateTasks,
} from '../../../../src/core/tasks/generate/generate-tasks.ts';
import { runReal } from '../../../../src/core/tasks/generate/real-run.ts';
import { openTask } from '../../../../src/core/tasks/open-task.ts';
import { overlapReport } from '../../../../src/core/tasks/overlap.ts';
import { splitTasks } from '../../../../src/core/tasks/split.ts';
import type { Task } from '../../../../src/core/tasks/task.ts';
import { type FileTree, writeTree } from '../../../../src/core/tasks/tree.ts';
import { type TaskView, viewOf } from '../../../../src/core/tasks/views.ts';
import { suiteFolder, tempFolder } from '../../../support/temp.ts';

const COUNT = 60;
const folder = suiteFolder();
let built: BuiltTasks;

beforeAll(async () => {
  built = await generateTasks({ count: COUNT, seed: 11 });
});

const treeOf = (task: Task): FileTree => {
  const tree = built.trees.get(task.tree);
  if (tree === undefined) throw new Error(`no tree ${task.tree}`);
  return tree;
};
const filesOf = (task: Task, view: TaskView): Record<string, string> =>
  Object.fromEntries(
    [...viewOf(task, treeOf(task), view)].map(([path, { content }]) => [path, content.toString()]),
  );
const testPathOf = (task: Task): string => task.visible[0]?.split('::')[0] ?? '';

describe('generated tasks', () => {
  it('are as many as wanted, all different, of many families and operators', () => {
    const { tasks, candidates } = built;
    expect(tasks.length).toBe(COUNT);
    expect(candidates).toBeGreaterThan(COUNT);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(COUNT);
    const families = new Set(
      tasks.map(({ source }) => source.kind === 'generated' && source.template),
    );
    expect(families.size).toBeGreaterThan(18);
    expect(new Set(tasks.map(({ bug }) => bug.operator)).size).toBeGreaterThan(20);
  });

  it('are the same for the same seed, and others for another', async () => {
    const again = await generateTasks({ count: 10, seed: 12 });
    const once = await generateTasks({ count: 10, seed: 12 });
    expect(once).toEqual(again);
    const known = new Set(built.tasks.map(({ id }) => id));
    expect(again.tasks.filter(({ id }) => known.has(id))).toEqual([]);
  });

  it('fail unchanged and pass as the original, with every test accounted for', () => {
    for (const task of built.tasks) {
      const run = (view: TaskView) => {
        const result = runFast(filesOf(task, view), testPathOf(task));
        if (result.kind !== 'ran') throw new Error(`${task.id} ${view}: ${result.kind}`);
        return new Map([...result.tests].map(([name, ok]) => [`${testPathOf(task)}::${name}`, ok]));
      };
      const all = [...task.visible, ...task.hidden].sort();
      const [original, graded, agent] = [run('original'), run('grading'), run('agent')];
      expect([...original.keys()].sort()).toEqual(all);
      expect([...original.values()]).not.toContain(false);
      expect([...task.targets, ...task.passing].sort()).toEqual(all);
      expect(all.filter((id) => graded.get(id) === false)).toEqual([...task.targets].sort());
      expect([...agent.keys()].sort()).toEqual([...task.visible].sort());
      for (const [id, passed] of agent) expect(passed).toBe(graded.get(id));
    }
  });

  it('hide half of the tests, and show a failing and a passing one', () => {
    for (const task of built.tasks) {
      const all = task.visible.length + task.hidden.length;
      expect(task.hidden.length).toBe(Math.floor(all / 2));
      expect(task.visible.some((id) => task.targets.includes(id))).toBe(true);
      expect(task.visible.some((id) => task.passing.includes(id))).toBe(true);
      const text = filesOf(task, 'agent')[testPathOf(task)] ?? '';
      for (const id of task.hidden) {
        const name = (id.split('::')[1] ?? '').split(' > ').at(-1) ?? '';
        expect(text).not.toContain(`'${name}'`);
      }
    }
  });

  it('have a patch that git applies, from the bug to the original', async () => {
    for (const task of built.tasks.slice(0, 15)) {
      const place = await tempFolder();
      await writeTree(place, viewOf(task, treeOf(task), 'grading'));
      execFileSync('git', ['apply', '--check', '-'], { cwd: place, input: task.patch });
      execFileSync('git', ['apply', '-'], { cwd: place, input: task.patch });
      const mended = execFileSync('cat', [task.bug.path], { cwd: place }).toString();
      expect(mended).toBe(filesOf(task, 'original')[task.bug.path]);
    }
  });

  it('share nothing between training and held-out', () => {
    const split = splitTasks(built.tasks, { seed: 1 });
    const report = overlapReport(built.tasks, built.trees, split);
    expect(report.shared).toEqual({ families: 0, operators: 0, shapes: 0 });
    expect(report.counts.train).toBeGreaterThan(report.counts['held-out']);
    expect(report.counts['held-out']).toBeGreaterThan(0);
    expect(report.nearest.pairs.length).toBeGreaterThan(0);
    expect(report.nearest.highest).toBeLessThan(1);
  });
});

describe('the fast runner', () => {
  it("agrees with Node's own runner, with bugs and without", async () => {
    const items = built.tasks.slice(0, 30).flatMap((task) =>
      (['original', 'grading', 'agent'] as const).map((view) => ({
        files: filesOf(task, view),
        testPath: testPathOf(task),
      })),
    );
    const real = await runReal(items);
    const fast = items.map(({ files, testPath }) => runFast(files, testPath));
    const sorted = (runs: typeof real) =>
      runs.map((run) => (run.kind === 'ran' ? [...run.tests].sort() : run.kind));
    expect(sorted(fast)).toEqual(sorted(real));
  });

  it('and the real one both see what does not load or does not end', async () => {
    const [task] = built.tasks;
    if (task === undefined) throw new Error('no task');
    const good = filesOf(task, 'original');
    const item = (text: string) => ({
      files: { ...good, [task.bug.path]: text },
      testPath: testPathOf(task),
    });
    const items = [
      item(good[task.bug.path] ?? ''),
      item('export const nothing = missing;\n'),
      item(`${good[task.bug.path] ?? ''}for (;;) {}\n`),
    ];
    const kinds = ['ran', 'not-loaded', 'timeout'];
    expect(items.map(({ files, testPath }) => runFast(files, testPath).kind)).toEqual(kinds);
    // Apart: a batch that does not end takes its whole time limit first.
    const real = await Promise.all(items.map((one) => runReal([one])));
    expect(real.map(([run]) => run?.kind)).toEqual(kinds);
  });
});

describe('grading in the sandbox', () => {
  it('gives nothing for no change and for a wrong change, and all for the original', async () => {
    const chosen = await chooseSandbox('local', { stateDir: join(folder(), 'state') });
    if (chosen.kind === 'unavailable') throw new Error(`${chosen.reason} ${chosen.remedy}`);
    const { signal } = new AbortController();
    for (const [at, task] of built.tasks.slice(0, 3).entries()) {
      const open = async (view: 'agent' | 'grading') => {
        const place = join(folder(), `${view}-${at}`);
        await mkdir(place);
        const opened = await openTask(task, treeOf(task), view, {
          provider: chosen.provider,
          stateDir: join(folder(), 'state'),
          folder: place,
          testTimeoutMs: 60_000,
          signal,
        });
        if (opened.kind === 'problem') throw new Error(`${opened.reason} ${opened.remedy}`);
        return opened;
      };
      const agent = await open('agent');
      expect(agent.baseline.results.map(({ id }) => id).sort()).toEqual([...task.visible].sort());
      const { setup, baseline } = await open('grading');
      const verdict = async (patch: string) => {
        const outcome = await gradePatch({ setup, baseline, targets: task.targets, patch });
        return outcome.kind === 'graded' ? outcome.report.verdict : outcome.reason;
      };
      expect(await verdict('')).toBe('failed');
      expect(await verdict(task.patch)).toBe('passed');
      const lines = task.patch.split('\n');
      const wrong = lines.map((line) => (/^\+(?!\+\+)/.test(line) ? '+// gone' : line)).join('\n');
      expect(await verdict(wrong)).toBe('failed');
    }
  });
});
