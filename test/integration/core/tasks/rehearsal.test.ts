import { beforeAll, describe, expect, it } from 'vitest';
import { createSandboxRunner } from '../../../../src/core/evaluation/sandbox-runner.ts';
import type { TaskRunner } from '../../../../src/core/evaluation/task-runner.ts';
import { findNode } from '../../../../src/core/frameworks/node-test/toolchain.ts';
import { openWorkspaceFiles } from '../../../../src/core/frameworks/workspace-files.ts';
import { createEditSearchPolicy } from '../../../../src/core/policies/edit-search/edit-search.ts';
import type { Policy } from '../../../../src/core/policies/policy.ts';
import {
  createScriptedPolicy,
  type ScriptedReply,
} from '../../../../src/core/policies/scripted.ts';
import { createLocalSandbox } from '../../../../src/core/sandbox/local/local.ts';
import { stepsOf } from '../../../../src/core/tasks/demonstrations/demonstrate.ts';
import {
  DEMONSTRATION_OPTIONS,
  planDemonstration,
} from '../../../../src/core/tasks/demonstrations/plan.ts';
import { renameTask } from '../../../../src/core/tasks/demonstrations/rename.ts';
import {
  type BuiltTasks,
  generateTasks,
} from '../../../../src/core/tasks/generate/generate-tasks.ts';
import { createChance } from '../../../../src/core/tasks/random.ts';
import type { TestRuns } from '../../../../src/core/tasks/rehearsal/memory-session.ts';
import { openRehearsal, rehearsalRunner } from '../../../../src/core/tasks/rehearsal/rehearse.ts';
import { createRehearsalRuns } from '../../../../src/core/tasks/rehearsal/test-runs.ts';
import type { Task } from '../../../../src/core/tasks/task.ts';
import type { FileTree } from '../../../../src/core/tasks/tree.ts';
import { viewOf } from '../../../../src/core/tasks/views.ts';
import type { TrajectoryLine } from '../../../../src/core/trajectories/schema.ts';

/** What is not a matter of the world: all texts that the policy reads, and the outcome. */
interface Seen {
  readonly outcome: string;
  readonly patch: string;
  readonly opening: unknown;
  readonly replies: readonly unknown[];
  readonly observations: readonly string[];
}

let built: BuiltTasks;
let real: TaskRunner;
let rehearsed: TaskRunner;
let testRuns: TestRuns;

beforeAll(async () => {
  built = await generateTasks({ count: 12, seed: 21 });
  const provider = createLocalSandbox();
  real = createSandboxRunner({ provider, testTimeoutMs: 5_000, environment: {} }).run;
  const node = await findNode(openWorkspaceFiles(process.cwd()));
  if (node.kind !== 'found') throw new Error(node.reason);
  ({ testRuns } = createRehearsalRuns({ provider, toolchain: node.toolchain }));
  rehearsed = rehearsalRunner(testRuns);
});

function play(
  runner: TaskRunner,
  at: { task: Task; tree: FileTree },
  script: readonly ScriptedReply[],
): Promise<Seen> {
  return playPolicy(runner, at, createScriptedPolicy(script));
}

async function playPolicy(
  runner: TaskRunner,
  { task, tree }: { task: Task; tree: FileTree },
  policy: Policy,
  tries?: number,
): Promise<Seen> {
  const lines: TrajectoryLine[] = [];
  const attempt = await runner({
    task,
    tree,
    policy,
    seed: 0,
    budgets: {
      turns: 60,
      contextTokens: 100_000,
      generatedTokens: 100_000,
      replyTokens: 10_000,
      timeMs: 600_000,
      ...(tries !== undefined && { tries }),
    },
    rules: 'strict',
    sink: { append: async (line) => void lines.push(line) },
    signal: new AbortController().signal,
  });
  return {
    // Why it broke, where it did.
    outcome: attempt.row.reward === null ? attempt.row.reason : attempt.row.outcome,
    patch: attempt.patch,
    opening: lines.find((line) => line.type === 'header')?.messages,
    replies: lines.flatMap((line) => (line.type === 'turn' ? [line.reply.calls] : [])),
    observations: lines.flatMap((line) =>
      line.type === 'turn' ? line.observations.map(({ ok, content }) => `${ok} ${content}`) : [],
    ),
  };
}

function taskAt(index: number): { task: Task; tree: FileTree } {
  const task = built.tasks[index];
  const tree = task && built.trees.get(task.tree);
  if (!task || !tree) throw new Error(`there is no task ${index}`);
  return { task, tree };
}

const call = (name: string, args: Readonly<Record<string, unknown>> = {}): ScriptedReply => ({
  calls: [{ name, arguments: args }],
});
const editor = (args: Readonly<Record<string, unknown>>): ScriptedReply =>
  call('str_replace_editor', args);

function filesOf(patch: string): readonly string[] {
  return patch.split('\n').filter((line) => /^(?:diff --git|index) /.test(line));
}

async function sameInBoth(
  at: { task: Task; tree: FileTree },
  script: readonly ScriptedReply[],
): Promise<Seen> {
  const [inSandbox, inMemory] = [await play(real, at, script), await play(rehearsed, at, script)];
  // The opening of a rehearsal has no header: it is compared through the texts of the demonstration.
  expect(inMemory.observations).toEqual(inSandbox.observations);
  expect(inMemory.outcome).toBe(inSandbox.outcome);
  // The hashes of the files before and after; how git cuts a change into hunks is its own affair.
  expect(filesOf(inMemory.patch)).toEqual(filesOf(inSandbox.patch));
  return inMemory;
}

describe('a rehearsal reads like an attempt in a sandbox', () => {
  it('for whole demonstrations, with wrong edits and slips', async () => {
    const options = {
      ...DEMONSTRATION_OPTIONS,
      wrongEdits: [0.2, 0.4, 0.4],
      slips: 0.5,
      wrongPaths: 0.3,
      heldOutOperators: new Set<string>(),
    };
    for (let index = 0; index < 3; index += 1) {
      const at = taskAt(index);
      const plan = planDemonstration(at.task, at.tree, createChance('test', index), options);
      if (!plan) continue;
      const script = stepsOf(plan).map((step) => call(step.name, step.arguments));
      expect((await sameInBoth(at, script)).outcome).toBe('solved');
    }
  });

  it('for the whole of edit-search, which asks which files there are and which blocks run', async () => {
    for (const index of [1, 4]) {
      const at = taskAt(index);
      const play = async (runner: TaskRunner) => {
        const policy = createEditSearchPolicy({ batch: 1 });
        const { outcome, observations, replies } = await playPolicy(runner, at, policy, 4);
        return { outcome, observations, replies };
      };
      const [inSandbox, inMemory] = [await play(real), await play(rehearsed)];
      expect(inMemory).toEqual(inSandbox);
      // The blocks that ran, told by the last of the three commands.
      expect(inMemory.observations.some((text) => /^true \d+(?:\n\d+)*$/.test(text))).toBe(true);
    }
  });

  it('for edits that do not load, do not end, or throw', async () => {
    const at = taskAt(6);
    const path = `/workspace/${at.task.bug.path}`;
    const source =
      viewOf(at.task, at.tree, 'agent').get(at.task.bug.path)?.content.toString() ?? '';
    const [first = ''] = source.split('\n').filter((line) => line.includes('return'));
    const insert = (text: string): readonly ScriptedReply[] => [
      editor({ command: 'str_replace', path, old_str: first, new_str: `${text}\n${first}` }),
      call('run_tests'),
      editor({ command: 'undo_edit', path }),
    ];
    const seen = await sameInBoth(at, [
      ...insert('  const = 3;'),
      ...insert('  null.missing();'),
      ...insert("  throw 'a text';"),
      ...insert('  throw Object.assign(new RangeError("far"), { code: "E_FAR", big: [1, 2] });'),
      ...insert('  }}'),
      call('submit'),
    ]);
    expect(seen.outcome).toBe('failed');
  });

  it('for a module that comes to no end after some tests', async () => {
    const at = taskAt(8);
    const path = `/workspace/${at.task.bug.path}`;
    const source =
      viewOf(at.task, at.tree, 'agent').get(at.task.bug.path)?.content.toString() ?? '';
    const [first = ''] = source.split('\n').filter((line) => line.includes('return'));
    const [file = ''] = (at.task.visible[0] ?? '').split('::');
    await sameInBoth(at, [
      editor({ command: 'insert', path, insert_line: 0, insert_text: 'let calls = 0;' }),
      editor({
        command: 'str_replace',
        path,
        old_str: first,
        new_str: `  calls += 1;\n  while (calls > 1) {}\n${first}`,
      }),
      call('run_tests', { tests: [file] }),
      call('submit'),
    ]);
  });

  it('for chosen tests, the log, and files that are not there', async () => {
    const at = taskAt(7);
    const [test = ''] = at.task.visible;
    const [file = ''] = test.split('::');
    const path = `/workspace/${at.task.bug.path}`;
    await sameInBoth(at, [
      call('run_tests', { tests: [test] }),
      call('run_tests', { tests: [file] }),
      call('run_tests', { tests: [`${file}::no such test`] }),
      editor({ command: 'view', path: '/workspace' }),
      call('bash', { command: `cat ${at.task.bug.path}` }),
      call('bash', { command: `cat ${path}` }),
      call('bash', { command: 'cat src/none.js' }),
      call('bash', { command: 'cat test' }),
      call('bash', { command: 'cat  src/ none.js' }),
      call('bash', { command: `cat none.js ${at.task.bug.path} .` }),
      call('bash', { command: `cat ${at.task.bug.path}/` }),
      editor({ command: 'view', path: path.replace(/(?:src|lib)/, 'source') }),
      editor({ command: 'view', path: `${path}x` }),
      editor({ command: 'create', path: '/workspace/deep/new/file.js', file_text: 'x\n' }),
      editor({ command: 'undo_edit', path: '/workspace/deep/new/file.js' }),
      editor({ command: 'str_replace', path, old_str: 'nowhere', new_str: 'x' }),
      editor({ command: 'insert', path, insert_line: 0, insert_text: '// first' }),
      call('submit'),
    ]);
  });

  it('and what would need a process makes it invalid, never a failure', async () => {
    const seen = await play(rehearsed, taskAt(7), [call('bash', { command: 'ls' })]);
    expect(seen.outcome).toBe('a rehearsal cannot run ls');
  });
});

describe('a renamed task', () => {
  it('is the same task under other names, or is recognised as another one', async () => {
    let same = 0;
    for (let index = 0; index < built.tasks.length; index += 1) {
      const { task, tree } = taskAt(index);
      const renamed = renameTask(task, tree, createChance('rename', index), 1);
      const source = renamed.tree.get(renamed.task.bug.path)?.content.toString() ?? '';
      const { from, to, oldText } = renamed.task.bug;
      expect(source.slice(from, to)).toBe(oldText);
      const opened = await openRehearsal(renamed.task, renamed.tree, testRuns);
      if (opened.kind === 'different') continue;
      same += 1;
      const old = tree.get(task.bug.path)?.content.toString() ?? '';
      expect(source).not.toBe(old);
      expect(source.split('\n')).toHaveLength(old.split('\n').length);
      expect(renamed.task.id).not.toBe(task.id);
      expect(renamed.task.shapes).toEqual(task.shapes);
    }
    expect(same).toBeGreaterThanOrEqual(built.tasks.length / 2);
  });

  it('keeps every name when none is to change, apart from files', () => {
    const { task, tree } = taskAt(0);
    const renamed = renameTask(task, tree, createChance('rename', 0), 0);
    const source = renamed.tree.get(renamed.task.bug.path)?.content.toString();
    expect(source).toBe(tree.get(task.bug.path)?.content.toString());
  });
});
