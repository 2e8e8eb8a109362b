import type * as vscode from 'vscode';
import { defaultAttempts, defaultParallel } from '../../core/fix/defaults.ts';
import { type FixOutcome, fixFailingTests } from '../../core/fix/fix.ts';
import { trajectoriesRoot } from '../../core/trajectories/folder.ts';
import type { Budgets } from '../../core/trajectories/schema.ts';
import { createTrajectoryStore } from '../../core/trajectories/store.ts';
import type { Settings } from '../contract/settings.ts';
import type { WorkDeps } from './deps.ts';
import { followFix } from './follow.ts';
import type { Ready } from './prepare-fix.ts';

export interface AttemptOptions extends Omit<Extract<Ready, { kind: 'ready' }>, 'kind'> {
  readonly ids: readonly string[];
  /** Empty: none. */
  readonly hint: string;
  readonly settings: Settings;
  readonly folder: vscode.WorkspaceFolder;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /** Attempt id → path of its record; filled here. */
  readonly records: Map<string, string>;
}

/** Attempts at the chosen tests, on the snapshot and the baseline that are there already. */
export async function makeAttempts(deps: WorkDeps, options: AttemptOptions): Promise<FixOutcome> {
  const { job, tests, policy, environment, ids, hint, settings, folder, signal, say, records } =
    options;
  const store = createTrajectoryStore(trajectoriesRoot(environment));
  try {
    return await fixFailingTests({
      projects: job.projects,
      baselines: tests.baselines,
      tests: ids,
      ...(hint === '' ? {} : { hint }),
      policy,
      budgets: budgetsOf(settings),
      attempts: settings.attempts ?? defaultAttempts(policy.description),
      parallel: settings.parallel ?? defaultParallel(),
      parity: settings.parity,
      environment,
      redactor: job.redactor,
      openSink: async (attemptId) => {
        const writer = await store.create({
          workspacePath: job.root,
          attemptId,
          redactor: job.redactor,
        });
        records.set(attemptId, writer.path);
        return writer;
      },
      signal,
      listener: followFix(deps, {
        folder,
        policy: policy.description.label,
        recordOf: (attemptId) => records.get(attemptId) ?? '',
        say,
      }),
    });
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled', solved: [] };
    throw error;
  } finally {
    // Old records that stay are no reason to lose a result.
    await store.prune().catch((error: unknown) => deps.log.warn(`records: ${String(error)}`));
  }
}

function budgetsOf({ maxTurns, maxMinutes, maxReplyTokens }: Settings): Partial<Budgets> {
  return {
    ...(maxTurns === undefined ? {} : { turns: maxTurns }),
    ...(maxMinutes === undefined ? {} : { timeMs: Math.round(maxMinutes * 60_000) }),
    ...(maxReplyTokens === undefined ? {} : { replyTokens: maxReplyTokens }),
  };
}
