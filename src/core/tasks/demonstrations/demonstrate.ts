import type { Message, ToolCall } from '../../agent/messages.ts';
import type { Replacement } from '../../policies/edit-search/replacement.ts';
import { createScriptedPolicy, type ScriptedReply } from '../../policies/scripted.ts';
import type { Budgets } from '../../trajectories/schema.ts';
import type { TestRuns } from '../rehearsal/memory-session.ts';
import { openRehearsal, rehearse } from '../rehearsal/rehearse.ts';
import type { Task } from '../task.ts';
import type { FileTree } from '../tree.ts';
import type { Plan } from './plan.ts';

/** One line of what the learner reads (docs/learner.md, Data). */
export interface Conversation {
  readonly id: string;
  readonly messages: readonly ConversationMessage[];
}

export type ConversationMessage =
  | { readonly role: 'user' | 'tool'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly calls: readonly Pick<ToolCall, 'name' | 'arguments'>[];
      readonly train: boolean;
    };

export type Demonstrated =
  | { readonly kind: 'conversation'; readonly conversation: Conversation }
  | { readonly kind: 'dropped'; readonly reason: string };

interface Step {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly learnt: boolean;
  /** What the call must have come to; otherwise the plan was wrong and the attempt is dropped. */
  readonly ok: boolean;
}

/** Of an expert, who never comes near them. */
export const EXPERT_BUDGETS: Budgets = {
  turns: 60,
  contextTokens: 100_000,
  generatedTokens: 100_000,
  replyTokens: 10_000,
  timeMs: 120_000,
};

/**
 * Plays a plan through the real agent loop with the real tools and keeps the conversation when all
 * went as planned: wrong edits failed, the right one solved it, hidden tests included.
 */
export async function demonstrate(
  id: string,
  task: Task,
  tree: FileTree,
  plan: Plan,
  testRuns: TestRuns,
  signal: AbortSignal,
): Promise<Demonstrated> {
  const steps = stepsOf(plan);
  const script = steps.map(
    (step): ScriptedReply => ({ calls: [{ name: step.name, arguments: step.arguments }] }),
  );
  const went: boolean[] = [];
  const opened = await openRehearsal(task, tree, testRuns);
  if (opened.kind === 'different') return { kind: 'dropped', reason: 'the tests fail otherwise' };
  const attempt = await rehearse(
    {
      task,
      tree,
      policy: createScriptedPolicy(script),
      seed: 0,
      budgets: EXPERT_BUDGETS,
      rules: 'strict',
      sink: {
        append: async (line) => {
          if (line.type === 'turn') went.push(line.observations.every(({ ok }) => ok));
        },
      },
      signal,
    },
    testRuns,
  );
  const unplanned = steps.findIndex((step, at) => step.ok !== (went[at] ?? false));
  if (unplanned >= 0) {
    return { kind: 'dropped', reason: `${steps[unplanned]?.name} went another way than planned` };
  }
  if (attempt.row.outcome !== 'solved') return { kind: 'dropped', reason: attempt.row.reason };
  return {
    kind: 'conversation',
    conversation: {
      id,
      messages: toConversation(
        attempt.messages,
        steps.map(({ learnt }) => learnt),
      ),
    },
  };
}

export function stepsOf(plan: Plan): readonly Step[] {
  const { path, views, wrong, slip, right } = plan;
  const replace = (text: Replacement, learnt: boolean, ok: boolean): Step =>
    edit(
      { command: 'str_replace', path, old_str: text.oldText, new_str: text.newText },
      learnt,
      ok,
    );
  const test = (ok: boolean): Step => ({ name: 'run_tests', arguments: {}, learnt: true, ok });
  return [
    ...views.map((view) => ({
      name: 'bash',
      arguments: { command: `cat ${view.path}` },
      learnt: view.learnt,
      ok: view.learnt,
    })),
    ...wrong.flatMap((text) => [
      replace(text, false, true),
      test(false),
      edit({ command: 'undo_edit', path }, true, true),
    ]),
    ...(slip ? [replace(slip, false, false)] : []),
    replace(right, true, true),
    test(true),
    { name: 'submit', arguments: {}, learnt: true, ok: true },
  ];
}

function edit(args: Step['arguments'], learnt: boolean, ok: boolean): Step {
  return { name: 'str_replace_editor', arguments: args, learnt, ok };
}

/**
 * Without the system message, which nano does not read, and without the answer to `submit`.
 *
 * @param learnt of each turn: is it learnt from?
 */
export function toConversation(
  messages: readonly Message[],
  learnt: readonly boolean[],
): readonly ConversationMessage[] {
  const kept: ConversationMessage[] = [];
  let turn = 0;
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (message.role !== 'assistant') {
      kept.push({ role: message.role, content: message.content });
      continue;
    }
    const calls = message.calls.map(({ name, arguments: args }) => ({ name, arguments: args }));
    kept.push({ role: 'assistant', content: '', calls, train: learnt[turn] ?? false });
    turn += 1;
  }
  if (kept.at(-1)?.role === 'tool') kept.pop();
  return kept;
}
