import type { ToolCall } from '../../agent/messages.ts';
import type { Policy, PolicyReply } from '../../policies/policy.ts';
import { createScriptedPolicy } from '../../policies/scripted.ts';
import type { TestRuns } from '../rehearsal/memory-session.ts';
import { openRehearsal, rehearse } from '../rehearsal/rehearse.ts';
import type { Task } from '../task.ts';
import type { FileTree } from '../tree.ts';
import { viewOf } from '../views.ts';
import { type Demonstrated, EXPERT_BUDGETS, toConversation } from './demonstrate.ts';
import type { Plan } from './plan.ts';

export interface Learner {
  readonly policy: Policy;
  readonly seed: number;
  /** How many replies it gives before the expert takes over. */
  readonly turns: number;
}

/**
 * An attempt that the learner begins and the expert ends: the learner's own mistakes, and the way
 * out of them. Learnt is what the expert does. A policy that only ever saw an expert's attempts
 * meets states of its own making there that no demonstration held (DAgger: Ross et al. 2011,
 * arXiv:1011.0686; here the expert acts to the end, as in HG-DAgger, arXiv:1810.02890).
 *
 * The expert takes over earlier where the learner's reply would end the attempt without success, or
 * where it does what this expert cannot follow; that reply is not played.
 */
export async function takeOver(
  id: string,
  task: Task,
  tree: FileTree,
  plan: Plan,
  learner: Learner,
  testRuns: TestRuns,
  signal: AbortSignal,
): Promise<Demonstrated> {
  const opened = await openRehearsal(task, tree, testRuns);
  if (opened.kind === 'different') return { kind: 'dropped', reason: 'the tests fail otherwise' };
  const state = startState(task, tree, plan);
  const learnt: boolean[] = [];
  const session = await learner.policy.start(learner.seed);
  const script = createScriptedPolicy(async ({ index, request }) => {
    if (index < learner.turns && !learnt.includes(true)) {
      const reply = await session.next(request);
      const [call] = reply.calls;
      if (call && isFollowed(reply, state)) {
        learnt.push(false);
        return { calls: [{ name: call.name, arguments: call.arguments }] };
      }
    }
    learnt.push(true);
    return { calls: [nextOfExpert(state)] };
  });
  try {
    const attempt = await rehearse(
      {
        task,
        tree,
        policy: script,
        seed: 0,
        budgets: EXPERT_BUDGETS,
        rules: 'strict',
        sink: {
          append: async (line) => {
            if (line.type !== 'turn') return;
            const [call] = line.reply.calls;
            if (call) observe(state, call, line.observations.at(-1)?.ok ?? false);
          },
        },
        signal,
      },
      testRuns,
    );
    if (attempt.row.outcome !== 'solved') return { kind: 'dropped', reason: attempt.row.reason };
    const messages = toConversation(attempt.messages, learnt);
    const edits = messages.some(
      (message) =>
        message.role === 'assistant' &&
        message.train &&
        message.calls.some(({ name }) => name === 'str_replace_editor'),
    );
    if (!edits) return { kind: 'dropped', reason: 'nothing to put right' };
    return { kind: 'conversation', conversation: { id, messages } };
  } finally {
    await session.close();
  }
}

interface State {
  readonly plan: Plan;
  readonly original: string;
  /** Of the file with the bug: as it was, and after each edit that stands. */
  readonly texts: string[];
  /** Other files, a name for each edit that stands. */
  readonly others: string[];
  readonly viewed: Set<string>;
  /** Of the last run of the tests since the last edit. */
  tests: 'not run' | 'fail' | 'pass';
}

type Call = Pick<ToolCall, 'name' | 'arguments'>;

function startState(task: Task, tree: FileTree, plan: Plan): State {
  const { bug } = task;
  const broken = viewOf(task, tree, 'agent').get(bug.path)?.content.toString('utf8') ?? '';
  const original =
    broken.slice(0, bug.from) + bug.oldText + broken.slice(bug.from + bug.newText.length);
  return {
    plan,
    original,
    texts: [broken],
    others: [],
    viewed: new Set(),
    tests: 'not run',
  };
}

/** May this reply be played? */
function isFollowed(reply: PolicyReply, state: State): boolean {
  const [call, ...more] = reply.calls;
  if (call === undefined || more.length > 0) return false;
  if (reply.malformed.length > 0 || reply.finish !== 'stop') return false;
  const args = call.arguments;
  if (call.name === 'run_tests') return true;
  if (call.name === 'submit') return state.tests === 'pass';
  if (call.name === 'bash') return viewedBy(args) !== undefined;
  if (call.name !== 'str_replace_editor' || typeof args.path !== 'string') return false;
  if (args.command === 'undo_edit') return Object.keys(args).length === 2;
  return args.command === 'str_replace' && typeof args.old_str === 'string';
}

function viewedBy(args: Call['arguments']): string | undefined {
  return typeof args.command === 'string' ? /^cat (\S+)$/.exec(args.command)?.[1] : undefined;
}

function observe(state: State, call: Call, ok: boolean): void {
  const args = call.arguments;
  if (call.name === 'run_tests') state.tests = ok ? 'pass' : 'fail';
  if (!ok) return;
  const viewed = call.name === 'bash' ? viewedBy(args) : undefined;
  if (viewed !== undefined) state.viewed.add(viewed);
  if (call.name !== 'str_replace_editor') return;
  state.tests = 'not run';
  const { path, command, old_str: oldText, new_str: newText } = args;
  if (path !== state.plan.path) {
    if (command === 'undo_edit') {
      state.others.splice(state.others.lastIndexOf(String(path)), 1);
      state.tests = 'fail';
    } else state.others.push(String(path));
    return;
  }
  if (command === 'undo_edit') {
    state.texts.pop();
    // What stood before was no fix, or the attempt would have ended there.
    if (state.texts.at(-1) !== state.original) state.tests = 'fail';
    return;
  }
  const text = state.texts.at(-1) ?? '';
  // A function: `$` has a meaning in a text.
  state.texts.push(text.replace(String(oldText), () => String(newText ?? '')));
}

/** As in `stepsOf`: an edit is tested before it is taken back, the right one before it is handed in. */
function nextOfExpert({ plan, original, texts, others, viewed, tests }: State): Call {
  const edit = (args: Call['arguments']): Call => ({ name: 'str_replace_editor', arguments: args });
  const { path, right } = plan;
  if (tests === 'pass') return { name: 'submit', arguments: {} };
  const [other] = others;
  const stands = other ?? (texts.length > 1 ? path : undefined);
  if (stands !== undefined && tests === 'not run') return { name: 'run_tests', arguments: {} };
  if (stands !== undefined && texts.at(-1) !== original) {
    return edit({ command: 'undo_edit', path: stands });
  }
  const view = plan.views.find((file) => file.learnt && !viewed.has(file.path));
  if (view) return { name: 'bash', arguments: { command: `cat ${view.path}` } };
  return edit({ command: 'str_replace', path, old_str: right.oldText, new_str: right.newText });
}
