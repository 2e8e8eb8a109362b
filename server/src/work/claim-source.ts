import type { Logger } from 'pino';
import type { BlobStore } from '../store/blobs.ts';
import type { Claims, Verification, WaitingClaim } from '../store/claims.ts';
import type { TaskTable } from '../store/tasks.ts';
import { readRecord } from './read-record.ts';
import type { Deadlines, WorkItem, WorkSource } from './source.ts';
import { unverifiable, verifyGrade, verifyWithoutPatch } from './verify.ts';
import { workTask } from './work-task.ts';
import type { WorkEnd } from './worker-process.ts';

export interface ClaimParts {
  readonly claims: Claims;
  readonly tasks: TaskTable;
  readonly blobs: BlobStore;
  readonly trees: BlobStore;
  readonly deadlines: Deadlines;
  readonly log: Logger;
  /** Tells everybody who follows. */
  readonly announce: (text: string) => void;
}

/** Looked at for one that is free. */
const LOOKED_AT = 64;
/** Grades that broke their worker. */
const MOST_LOST = 3;

/** Recomputes what uploaded trajectories claim. */
export function createClaimSource(parts: ClaimParts): WorkSource {
  const { claims, tasks, blobs, log } = parts;
  const lost = new Map<number, number>();

  const judge = (claim: WaitingClaim, found: Verification): void => {
    lost.delete(claim.seq);
    if (!claims.judge(claim.seq, found)) return;
    const { contributor, attemptId } = claim;
    log.info({ contributor, attemptId, claim: found.claim, reason: found.reason }, 'judged');
    if (found.claim !== 'broken') return;
    parts.announce(
      `A claim of ${contributor} does not hold: attempt ${attemptId}: ${found.reason}`,
    );
  };

  const found = (claim: WaitingClaim, end: WorkEnd): Verification | undefined => {
    if (end.kind === 'graded') return verifyGrade(claim, end.grade);
    if (end.kind === 'refused') return unverifiable(`its task cannot be run here: ${end.reason}`);
    // What else there is comes from this machine: the claim waits, and nothing is lost.
    if (end.kind !== 'lost') return undefined;
    const times = (lost.get(claim.seq) ?? 0) + 1;
    lost.set(claim.seq, times);
    return times < MOST_LOST ? undefined : unverifiable(`its grading was given up: ${end.reason}`);
  };

  return {
    async next(busy) {
      claims.giveUpOnRefused();
      for (const claim of claims.next(LOOKED_AT)) {
        const key = `claim ${claim.seq}`;
        if (busy(key)) continue;
        const record = await readRecord(blobs, claim.blob);
        if ('lost' in record) {
          judge(claim, unverifiable(`its content is ${record.lost}`));
          continue;
        }
        const { end, patch } = record.end;
        if (end.kind !== 'submitted') {
          judge(claim, verifyWithoutPatch(claim, end));
          continue;
        }
        const task = tasks.find(claim.task);
        if (!task) continue;
        const item: WorkItem = {
          key,
          job: { kind: 'grade', task: workTask(task, parts.trees), patch },
          deadlineMs: parts.deadlines.grade,
          async done(ended) {
            const verification = found(claim, ended);
            if (verification) judge(claim, verification);
          },
        };
        return item;
      }
      return undefined;
    },
  };
}
