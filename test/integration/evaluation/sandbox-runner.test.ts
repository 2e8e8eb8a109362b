import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type EvaluateOptions,
  type EvaluationTask,
  evaluate,
} from '../../../src/core/evaluation/evaluate.ts';
import {
  createSandboxRunner,
  type SandboxRunner,
} from '../../../src/core/evaluation/sandbox-runner.ts';
import {
  createEditSearchPolicy,
  EDIT_SEARCH_BUDGETS,
  ONE_BY_ONE,
} from '../../../src/core/policies/edit-search/edit-search.ts';
import type { Policy } from '../../../src/core/policies/policy.ts';
import { createScriptedPolicy } from '../../../src/core/policies/scripted.ts';
import { chooseSandbox } from '../../../src/core/sandbox/providers.ts';
import { SandboxFailure, type SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import { generateTasks } from '../../../src/core/tasks/generate/generate-tasks.ts';
import { viewOf } from '../../../src/core/tasks/views.ts';
import { suiteFolder } from '../../support/temp.ts';
import { sumTask } from './tasks.ts';

const folder = suiteFolder();
const kept = process.env.TMPDIR;
let provider: SandboxProvider;
let runner: SandboxRunner;

beforeAll(async () => {
  // Whatever is left behind shows.
  process.env.TMPDIR = folder();
  const chosen = await chooseSandbox('local', { stateDir: folder() });
  if (chosen.kind !== 'available') throw new Error(`${chosen.reason} ${chosen.remedy}`);
  provider = chosen.provider;
  runner = runnerWith(provider);
});
afterAll(async () => {
  await runner.close();
  expect(await opened()).toEqual([]);
  if (kept === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = kept;
});

const opened = async (): Promise<readonly string[]> =>
  (await readdir(folder())).filter((name) => name.startsWith('prime-agent-eval-'));

const runnerWith = (where: SandboxProvider): SandboxRunner =>
  createSandboxRunner({ provider: where, testTimeoutMs: 30_000, environment: process.env });

async function run(
  policy: Policy,
  tasks: readonly EvaluationTask[],
  given: Partial<EvaluateOptions> = {},
) {
  const outcome = await evaluate({
    tasks,
    policy,
    attempts: 1,
    parallel: 2,
    seed: 0,
    budgets: EDIT_SEARCH_BUDGETS,
    rules: 'strict',
    runner: runner.run,
    signal: new AbortController().signal,
    ...given,
  });
  return { ...outcome, first: outcome.records[0] };
}

const edit = (path: string, from: string, to: string) => ({
  calls: [
    {
      name: 'str_replace_editor',
      arguments: {
        command: 'str_replace',
        path: `/workspace/${path}`,
        old_str: from,
        new_str: to,
      },
    },
  ],
});
const test = { calls: [{ name: 'run_tests', arguments: {} }] };
const submit = { calls: [{ name: 'submit', arguments: { summary: 'done' } }] };

describe('attempts in sandboxes', () => {
  it('see and run the visible tests only, and are graded on all', async () => {
    const texts: string[] = [];
    const look = { calls: [{ name: 'bash', arguments: { command: 'cat test/*.js' } }] };
    const overfitted = edit('src/add.js', 'a - b', 'a === 2 ? a + b : a - b');
    const script = [look, overfitted, test, submit];
    const policy = createScriptedPolicy(({ index, request }) => {
      texts.push(...request.messages.map(({ content }) => content));
      return script[index] ?? '';
    });
    const { first } = await run(policy, [sumTask('overfitted')]);
    expect(texts.at(-1)).toBe('1 passed');
    expect(texts.join('\n')).toContain('adds nothing');
    expect(texts.join('\n')).not.toContain('adds much');
    expect(first).toMatchObject({ outcome: 'failed', turns: 4, edits: 1, testRuns: 1, tries: 1 });
    expect(first?.reason).toContain('adds much');
  });

  it('are graded without what they did to tests', async () => {
    const path = 'test/add.test.js';
    const script = [
      edit('src/add.js', 'a - b', 'a + b'),
      edit(path, "test('adds nothing'", "test('a'"),
    ];
    const { first } = await run(createScriptedPolicy([...script, submit]), [sumTask('overfitted')]);
    expect(first).toMatchObject({ outcome: 'solved', edits: 2, tries: 1 });
  });

  it('solve generated tasks by what they were made from, each in a world of its own', async () => {
    const { tasks, trees } = await generateTasks({ count: 6, seed: 21 });
    const entries = tasks.flatMap((task): readonly EvaluationTask[] => {
      const tree = trees.get(task.tree);
      return tree === undefined ? [] : [{ task, tree }];
    });
    /** Knows the solution of the task whose files it sees. */
    const policy = createScriptedPolicy(({ index, request }) => {
      if (index === 0)
        return {
          calls: [{ name: 'bash', arguments: { command: "find . -name '*.js' -exec cat {} +" } }],
        };
      if (index === 2) return submit;
      const seen = request.messages.at(-1)?.content ?? '';
      for (const { task, tree } of entries) {
        const text = (view: 'agent' | 'original'): string =>
          viewOf(task, tree, view).get(task.bug.path)?.content.toString() ?? '';
        if (seen.includes(text('agent').trim())) {
          return edit(task.bug.path, text('agent'), text('original'));
        }
      }
      return 'None of the tasks is to be seen.';
    });
    const { kind, records } = await run(policy, entries);
    expect(kind).toBe('done');
    expect(records.map(({ task }) => task).sort()).toEqual(tasks.map(({ id }) => id).sort());
    for (const record of records) expect(record).toMatchObject({ outcome: 'solved', tries: 1 });
    // Those that nobody uses any more are gone but for the last.
    expect((await opened()).length).toBe(1);
  });

  it('end when edit-search has used up its tries, and not before', async () => {
    const tasks = [sumTask('searched')];
    const budgets = (tries: number) => ({ budgets: { ...EDIT_SEARCH_BUDGETS, tries } });
    // It tries four edits in a turn, and makes its fix once more at the end, which is no new try.
    const inFours = createEditSearchPolicy();
    const free = await run(inFours, tasks);
    expect(free.first).toMatchObject({ outcome: 'solved', tries: 4, edits: 5 });
    expect((await run(inFours, tasks, budgets(3))).first).toMatchObject({
      outcome: 'out_of_budget',
      reason: 'all tries were used',
      tries: 3,
    });
    // So it is measured one edit at a time: its first one was right.
    const oneByOne = await run(createEditSearchPolicy(ONE_BY_ONE), tasks, budgets(1));
    expect(oneByOne.first).toMatchObject({ outcome: 'solved', tries: 1, edits: 2 });
  });

  it('are invalid where no sandbox can be had, and leave nothing behind', async () => {
    const before = await opened();
    const broken = runnerWith({
      ...provider,
      open: () => Promise.reject(new SandboxFailure('no namespaces here', 'Ask for some.')),
    });
    const { first } = await run(createScriptedPolicy([submit]), [sumTask('broken')], {
      runner: broken.run,
    });
    expect(first).toMatchObject({ outcome: 'invalid', repeated: true });
    expect(first?.reason).toContain('no namespaces here');
    expect(await opened()).toEqual(before);
  });

  it('are cancelled in the middle, and leave nothing behind', async () => {
    const stop = new AbortController();
    const own = runnerWith(provider);
    const before = await opened();
    const policy = createScriptedPolicy(() => {
      stop.abort(new Error('enough'));
      return { calls: [{ name: 'bash', arguments: { command: 'sleep 30' } }] };
    });
    const { kind, records } = await run(policy, [sumTask('cancelled')], {
      runner: own.run,
      signal: stop.signal,
    });
    expect({ kind, records }).toEqual({ kind: 'cancelled', records: [] });
    await own.close();
    expect(await opened()).toEqual(before);
    const late = await run(policy, [sumTask('late')], { runner: own.run });
    expect(late.first).toMatchObject({ outcome: 'invalid', reason: 'the runner is closed' });
    expect(await opened()).toEqual(before);
  });
});
