import { beforeAll, expect, test } from 'vitest';
import { findNode } from '../../../../src/core/frameworks/node-test/toolchain.ts';
import { openWorkspaceFiles } from '../../../../src/core/frameworks/workspace-files.ts';
import {
  createScriptedPolicy,
  type ScriptedReply,
} from '../../../../src/core/policies/scripted.ts';
import { createLocalSandbox } from '../../../../src/core/sandbox/local/local.ts';
import {
  DEMONSTRATION_OPTIONS,
  type Plan,
  planDemonstration,
} from '../../../../src/core/tasks/demonstrations/plan.ts';
import { takeOver } from '../../../../src/core/tasks/demonstrations/take-over.ts';
import { generateTasks } from '../../../../src/core/tasks/generate/generate-tasks.ts';
import { createChance } from '../../../../src/core/tasks/random.ts';
import type { TestRuns } from '../../../../src/core/tasks/rehearsal/memory-session.ts';
import { createRehearsalRuns } from '../../../../src/core/tasks/rehearsal/test-runs.ts';
import type { Task } from '../../../../src/core/tasks/task.ts';
import type { FileTree } from '../../../../src/core/tasks/tree.ts';

let testRuns: TestRuns;
let task: Task;
let tree: FileTree;
let plan: Plan;

beforeAll(async () => {
  const node = await findNode(openWorkspaceFiles(process.cwd()));
  if (node.kind !== 'found') throw new Error(node.reason);
  const provider = createLocalSandbox();
  ({ testRuns } = await createRehearsalRuns({ provider, toolchain: node.toolchain }));
  const built = await generateTasks({ count: 12, seed: 21 });
  const options = { ...DEMONSTRATION_OPTIONS, heldOutOperators: new Set<string>(), wrongPaths: 0 };
  for (const candidate of built.tasks) {
    const files = built.trees.get(candidate.tree);
    const made =
      files && planDemonstration(candidate, files, createChance('plan', candidate.id), options);
    // One file to look at, and an edit that can be made wrongly.
    if (files === undefined || made?.views.length !== 1) continue;
    [task, tree, plan] = [candidate, files, made];
    return;
  }
  throw new Error('no task fits');
});

const edit = (args: Readonly<Record<string, string>>) => ({
  calls: [{ name: 'str_replace_editor', arguments: args }],
});
const view = () => ({
  calls: [{ name: 'bash', arguments: { command: `cat ${plan.views[0]?.path}` } }],
});
const tests: ScriptedReply = { calls: [{ name: 'run_tests', arguments: {} }] };
const submit: ScriptedReply = { calls: [{ name: 'submit', arguments: {} }] };
const right = () =>
  edit({
    command: 'str_replace',
    path: plan.path,
    old_str: plan.right.oldText,
    new_str: plan.right.newText,
  });
const broken = () =>
  edit({
    command: 'str_replace',
    path: plan.path,
    old_str: plan.right.oldText,
    new_str: `${plan.right.oldText} (`,
  });

/** What was done, a word a call; in brackets what is not learnt. */
async function played(replies: readonly ScriptedReply[], turns = 20): Promise<string> {
  const learner = { policy: createScriptedPolicy(replies), seed: 1, turns };
  const { signal } = new AbortController();
  const made = await takeOver('x', task, tree, plan, learner, testRuns, signal);
  if (made.kind === 'dropped') return made.reason;
  const words: string[] = [];
  for (const message of made.conversation.messages) {
    if (message.role !== 'assistant') continue;
    const [call] = message.calls;
    const word = String(call?.arguments.command ?? call?.name).split(' ')[0] ?? '';
    words.push(message.train ? word : `(${word})`);
  }
  return words.join(' ');
}

test('a wrong edit of the learner is tested, taken back and made well', async () => {
  expect(await played([view(), broken()], 2)).toBe(
    '(cat) (str_replace) run_tests undo_edit str_replace run_tests submit',
  );
  expect(await played([view(), broken(), tests, broken()], 4)).toBe(
    '(cat) (str_replace) (run_tests) (str_replace) run_tests undo_edit undo_edit str_replace run_tests submit',
  );
});

test('a refused edit and an undo of nothing leave nothing to take back', async () => {
  const same = edit({ command: 'str_replace', path: plan.path, old_str: 'a', new_str: 'a' });
  const undo = edit({ command: 'undo_edit', path: plan.path });
  expect(await played([view(), same, undo], 3)).toBe(
    '(cat) (str_replace) (undo_edit) str_replace run_tests submit',
  );
});

test('the expert looks at what the learner did not look at', async () => {
  expect(await played([tests], 1)).toBe('(run_tests) cat str_replace run_tests submit');
});

test('a reply that would end the attempt is not played', async () => {
  const expected = '(cat) str_replace run_tests submit';
  expect(await played([view(), submit])).toBe(expected);
  expect(await played([view(), 'no call at all'])).toBe(expected);
  expect(await played([view(), { ...tests, malformed: [{ reason: 'x', text: 'y' }] }])).toBe(
    expected,
  );
  expect(await played([view(), { ...tests, finish: 'length' }])).toBe(expected);
  expect(await played([view(), edit({ command: 'create', path: '/workspace/src/x.js' })])).toBe(
    expected,
  );
});

test('an attempt that the learner brings to its end shows nothing', async () => {
  expect(await played([view(), right(), tests, submit])).toBe('nothing to put right');
  expect(await played([view(), right()], 2)).toBe('nothing to put right');
});
