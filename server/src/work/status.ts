import type { StatusSnapshot } from '../../../src/core/protocol/server-messages.ts';
import type { WorkCounts } from '../store/work-counts.ts';
import type { Rest } from './rest.ts';
import type { SandboxState } from './sandbox-watch.ts';

/** The part of a status that tells what the server does by itself. */
export type WorkStatus = Pick<StatusSnapshot, 'sandbox' | 'work' | 'tasks' | 'rollouts' | 'claims'>;

export interface WorkFacts {
  readonly counts: WorkCounts;
  readonly broken: Readonly<Record<string, number>>;
  readonly withoutTask: number;
  readonly sandbox: SandboxState;
  readonly rest: Rest;
  readonly running: number;
  readonly problem: string | undefined;
  /** undefined: none is configured. */
  readonly policy: { readonly label?: string; readonly problem?: string } | undefined;
  /** Why no group is begun. */
  readonly idle: string | undefined;
}

export function workStatus(facts: WorkFacts): WorkStatus {
  const { counts, sandbox, policy, broken } = facts;
  return {
    sandbox:
      sandbox.state === 'missing'
        ? { state: 'missing', detail: `${sandbox.reason} ${sandbox.remedy}`.trim() }
        : { state: sandbox.state, detail: sandbox.state === 'working' ? sandbox.detail : '' },
    work: { ...stateOf(facts), running: facts.running },
    tasks: {
      new: counts('tasks', 'new') + counts('snapshots', 'new'),
      admitted: counts('tasks', 'admitted'),
      refused: counts('tasks', 'refused') + counts('snapshots', 'refused'),
    },
    claims: {
      withoutTask: facts.withoutTask,
      flagged: Object.entries(broken).map(([contributor, count]) => ({ contributor, count })),
    },
    rollouts: {
      ...(policy?.label === undefined ? {} : { policy: policy.label }),
      groupsOpen: counts('groups', 'open'),
      groupsDone: counts('groups', 'done'),
      groupsDropped: counts('groups', 'dropped'),
      attempts: counts('rollouts', 'done'),
      invalid: counts('rollouts', 'invalid'),
    },
  };
}

/** One line for people: what keeps it from working, or what it does. */
function stateOf(facts: WorkFacts): Pick<WorkStatus['work'], 'state' | 'detail'> {
  const { sandbox, rest, running, policy, problem, idle } = facts;
  if (sandbox.state === 'missing') {
    const detail = 'no working sandbox: nothing that contributors sent is run';
    return { state: 'resting', detail };
  }
  if (rest.kind === 'rest') return { state: 'resting', detail: rest.text };
  if (running > 0) return { state: 'working', detail: problem ?? '' };
  const none = policy === undefined ? 'no policy is configured for rollouts' : policy.problem;
  return { state: 'idle', detail: problem ?? none ?? idle ?? '' };
}
