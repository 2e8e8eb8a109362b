import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';
import { createChance } from '../../../src/core/tasks/random.ts';
import type { BlobStore } from '../store/blobs.ts';
import type { LeasedRollout, RolloutTable } from '../store/rollouts.ts';
import type { TaskTable } from '../store/tasks.ts';
import type { Deadlines, WorkItem, WorkSource } from '../work/source.ts';
import { workTask } from '../work/work-task.ts';
import type { WorkEnd } from '../work/worker-process.ts';
import { policyKey } from './policy-key.ts';
import { chooseTask } from './schedule.ts';
import { storeRollout } from './store-rollout.ts';

export interface RolloutParts {
  readonly rollouts: RolloutTable;
  readonly tasks: TaskTable;
  readonly blobs: BlobStore;
  readonly trees: BlobStore;
  readonly incoming: string;
  /** Folder for records of attempts that go on. */
  readonly records: string;
  readonly groupSize: number;
  /** Complete groups that may wait for a learner. */
  readonly groupsAhead: number;
  readonly retryMs: number;
  readonly deadlines: Deadlines;
  readonly log: Logger;
}

export interface RolloutSource extends WorkSource {
  /** In words, once it is known; or why there is none. */
  policy(): { readonly label?: string; readonly problem?: string };
  /** Why no group is begun, where none is. */
  idle(): string | undefined;
  /** No task is left of which this policy has made no group. */
  needsTasks(): boolean;
}

interface KnownPolicy {
  readonly key: string;
  readonly label: string;
  readonly scaffoldHash: string;
}

/** So many attempts in a row that could not be made are the machine's fault or the policy's. */
const BAD_STREAK = 3;
const LONGEST_REST_MS = 30 * 60_000;

/** Groups of attempts by the current policy, on tasks that `chooseTask` names. */
export function createRolloutSource(parts: RolloutParts): RolloutSource {
  const { rollouts, tasks, trees, log, deadlines, retryMs } = parts;
  let policy: KnownPolicy | undefined;
  let problem: string | undefined;
  let idle: string | undefined;
  let streak = 0;
  let restUntil = 0;
  /** Could not even be given back (a full disk). */
  const stuck: LeasedRollout[] = [];

  const describe = (): WorkItem => ({
    key: 'policy',
    job: { kind: 'describe-policy' },
    deadlineMs: deadlines.policy,
    async done(end) {
      if (end.kind === 'policy') {
        const key = policyKey(end.policy, end.scaffoldHash);
        policy = { key, label: end.policy.label, scaffoldHash: end.scaffoldHash };
        problem = undefined;
        const dropped = rollouts.dropOthers(key);
        log.info({ policy: policy.label, key, dropped }, 'the policy of the rollouts');
      } else if (end.kind === 'problem') {
        problem = `${end.reason} ${end.remedy}`.trim();
        log.warn({ problem }, 'no policy for rollouts');
      }
    },
  });

  const beginGroup = ({ key, scaffoldHash }: KnownPolicy): boolean => {
    if (rollouts.waitingGroups(key) >= parts.groupsAhead) {
      idle =
        parts.groupsAhead === 1
          ? '1 group waits for a learner'
          : `${parts.groupsAhead} groups wait for a learner`;
      return false;
    }
    const candidates = rollouts.candidates(key);
    const made = Math.max(0, ...candidates.map(({ last }) => last));
    const chosen = chooseTask(candidates, made, createChance('schedule', key, made));
    if (!chosen) {
      idle = candidates.length === 0 ? 'there are no tasks' : 'no task is worth a group now';
      return false;
    }
    const { task, why } = chosen;
    const seed = createChance('group', key, task, made).int(0, 2 ** 20);
    const group = rollouts.addGroup({
      ...{ task, why, seed, scaffoldHash },
      policy: key,
      size: parts.groupSize,
    });
    log.info({ group, task, why }, 'a group is begun');
    return true;
  };

  const failed = (rollout: LeasedRollout, reason: string): void => {
    rollouts.release(rollout, true, reason);
    log.warn({ group: rollout.group, index: rollout.index, reason }, 'an attempt was not made');
    streak += 1;
    if (streak < BAD_STREAK) return;
    const wait = Math.min(LONGEST_REST_MS, retryMs * 2 ** (streak - BAD_STREAK));
    restUntil = performance.now() + wait;
    problem = `${streak} attempts in a row could not be made: ${reason}`;
    // It may be another one by then.
    policy = undefined;
  };

  const settle = async (rollout: LeasedRollout, record: string, end: WorkEnd): Promise<void> => {
    switch (end.kind) {
      case 'attempted': {
        const { outcome, reward, reason, flags } = end;
        if (policyKey(end.policy, end.scaffoldHash) !== rollout.policy) {
          rollouts.release(rollout, false, 'the policy is another one now');
          policy = undefined;
          return;
        }
        if (reward === null) return failed(rollout, reason);
        streak = 0;
        problem = undefined;
        try {
          await storeRollout(rollout, record, { outcome, reward, flags }, parts);
        } catch (error) {
          if (error instanceof ProtocolError) return failed(rollout, error.message);
          throw error;
        }
        return;
      }
      case 'cancelled':
        return rollouts.release(rollout, false, 'the server stopped it');
      case 'lost':
      case 'problem':
      case 'refused':
        return failed(rollout, end.reason);
      default:
        return failed(rollout, `its worker answered with ${end.kind}`);
    }
  };

  const attempt = (rollout: LeasedRollout): WorkItem | undefined => {
    const task = tasks.find(rollout.task);
    if (!task) return undefined;
    const { group, index, seed, attemptId, lease } = rollout;
    const record = join(parts.records, `${lease}.jsonl`);
    return {
      key: `rollout ${group} ${index}`,
      job: {
        kind: 'rollout',
        task: workTask(task, trees),
        ...{ attemptId, record, seriesId: `group-${group}`, seed: seed * 1_000 + index },
      },
      deadlineMs: deadlines.rollout,
      async done(end) {
        try {
          await settle(rollout, record, end);
        } catch (error) {
          stuck.push(rollout);
          throw error;
        } finally {
          await rm(record, { force: true });
        }
      },
    };
  };

  return {
    async next(busy) {
      for (let back = stuck[0]; back; back = stuck[0]) {
        rollouts.release(back, false, 'it could not be stored');
        stuck.shift();
      }
      if (performance.now() < restUntil) return undefined;
      if (!policy) return busy('policy') ? undefined : describe();
      const { key } = policy;
      idle = undefined;
      const lease = (): LeasedRollout | undefined => rollouts.lease(key, randomUUID());
      const rollout = lease() ?? (beginGroup(policy) ? lease() : undefined);
      return rollout && attempt(rollout);
    },
    policy: () => ({
      ...(policy && { label: policy.label }),
      ...(problem !== undefined && { problem }),
    }),
    idle: () => idle,
    needsTasks: () => policy !== undefined && !rollouts.hasFreshTask(policy.key),
  };
}
