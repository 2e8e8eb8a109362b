import type * as vscode from 'vscode';
import type { StoredAttempt } from '../../core/trajectories/store.ts';
import type { AttemptStarted } from '../ports.ts';
import type { ShownOutcome } from '../support/attempt-words.ts';

/** An attempt as the list shows it; nothing here needs its record to be opened. */
export interface ListedAttempt {
  readonly id: string;
  /** Attempts at the same tests in one fix; empty where it is not known. */
  readonly seriesId: string;
  readonly folder: vscode.WorkspaceFolder;
  readonly outcome: ShownOutcome;
  /** In words. While it runs: what it does now. */
  readonly reason: string;
  /** Ids of tests. */
  readonly targets: readonly string[];
  readonly policy: string;
  readonly turns: number;
  /** undefined: the record is damaged. */
  readonly startedAt: Date | undefined;
  /** undefined: it has no end. */
  readonly durationMs: number | undefined;
  /** Absolute path of the record; empty while it is not known. */
  readonly path: string;
}

export function isLive({ outcome }: Pick<ListedAttempt, 'outcome'>): boolean {
  return outcome === 'running' || outcome === 'grading';
}

export function listedRecord(stored: StoredAttempt, folder: vscode.WorkspaceFolder): ListedAttempt {
  const startedAt = dateOf(stored.startedAt);
  const endedAt = dateOf(stored.endedAt);
  return {
    id: stored.attemptId,
    seriesId: stored.seriesId,
    folder,
    outcome: stored.outcome,
    reason: stored.reason,
    targets: stored.targets,
    policy: stored.policy,
    turns: stored.turns,
    startedAt,
    durationMs: startedAt && endedAt ? endedAt.getTime() - startedAt.getTime() : undefined,
    path: stored.path,
  };
}

export function listedStart(started: AttemptStarted): ListedAttempt {
  return {
    id: started.attemptId,
    seriesId: '',
    folder: started.folder,
    outcome: 'running',
    reason: '',
    targets: started.targets,
    policy: started.policy,
    turns: 0,
    startedAt: started.startedAt,
    durationMs: undefined,
    path: started.trajectoryPath,
  };
}

function dateOf(text: string | null): Date | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}
