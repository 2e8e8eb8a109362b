import type { ToolCall } from '../../agent/messages.ts';
import type { Budgets } from '../../trajectories/schema.ts';
import type { Policy, PolicyReply, PolicySession } from '../policy.ts';
import { firstUserMessage, lastObservations } from './conversation.ts';
import { type SearchOptions, searchFix } from './search.ts';
import type { EditChoice, Steps } from './steps.ts';

/** What an attempt of this policy needs: many turns, but no tokens of a model. */
export const EDIT_SEARCH_BUDGETS: Budgets = {
  turns: 150,
  contextTokens: 10_000_000,
  generatedTokens: 10_000_000,
  replyTokens: 1_000_000,
  timeMs: 3 * 60_000,
};

/**
 * For measuring: one candidate per turn, so that an attempt counts no more tries than it needed, and
 * as many in all. Slower, since the order is thought over after each.
 */
export const ONE_BY_ONE = { batch: 1, turns: 4 * EDIT_SEARCH_BUDGETS.turns } as const;

/** Files that are read at most. */
export const MOST_FILES = 24;

export interface EditSearchOptions {
  /** Turns that the search plans with; keep it at or below the loop's budget. */
  readonly turns?: number;
  /** Candidates tried per turn. */
  readonly batch?: number;
  /** Files that are read at most. */
  readonly files?: number;
  /** Another choice of what is tried, among so many edits that score most; one per turn. */
  readonly choose?: {
    readonly offered: number;
    readonly pick: (choice: EditChoice) => number;
  };
}

/**
 * The baseline without a model: reads the failing test and what it imports, tries single edits of a
 * known kind (core/tasks/operators) in a sensible order and lets the tests decide. It acts through
 * messages and tools like any other policy. When it finds nothing, the files are as they were and
 * it submits with a summary that says so: the attempt is graded as failed, not as out of budget.
 */
export function createEditSearchPolicy(options: EditSearchOptions = {}): Policy {
  const plan = {
    turns: options.turns ?? EDIT_SEARCH_BUDGETS.turns,
    batch: options.batch ?? 4,
    files: options.files ?? MOST_FILES,
    offered: options.choose?.offered,
  };
  const pick = options.choose?.pick ?? (() => 0);
  return {
    description: {
      kind: 'edit-search',
      label: plan.batch === 1 ? 'edit-search, one edit at a time' : 'edit-search',
      model: 'edit-search',
      // There is nothing to sample: the seed decides the order.
      sampling: { temperature: 0, topP: 1, topK: -1 },
    },
    start: async (seed) => createSession(seed, plan, pick),
  };
}

function createSession(
  seed: number,
  plan: SearchOptions,
  pick: (choice: EditChoice) => number,
): PolicySession {
  let steps: Steps<void> | undefined;
  let calls = 0;
  return {
    async next(request) {
      request.signal.throwIfAborted();
      const started = steps !== undefined;
      steps ??= searchFix(firstUserMessage(request.messages), seed, plan);
      let step = steps.next(started ? lastObservations(request.messages) : []);
      while (step.done !== true && step.value.kind === 'choice')
        step = steps.next(pick(step.value));
      if (step.done === true || step.value.kind === 'choice')
        return reply('There is nothing left to try.', []);
      const { value } = step;
      request.onText?.(value.say);
      return reply(
        value.say,
        value.calls.map((call) => {
          calls += 1;
          return { id: `call-${calls}`, ...call };
        }),
      );
    },
    close: async () => undefined,
  };
}

function reply(content: string, calls: readonly ToolCall[]): PolicyReply {
  return {
    content,
    calls,
    callForm: calls.length === 0 ? 'none' : 'native',
    malformed: [],
    finish: 'stop',
    // No model, no tokens.
    usage: { promptTokens: 0, completionTokens: 0 },
  };
}
