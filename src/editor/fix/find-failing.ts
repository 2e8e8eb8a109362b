import type * as vscode from 'vscode';
import type { FixListener } from '../../core/fix/events.ts';
import type { PrepareProblem } from '../../core/fix/prepare.ts';
import { NO_TESTS, runAllTests, type TestsOutcome } from '../../core/fix/run-all-tests.ts';
import { type Job, startJob } from '../../core/fix/start-job.ts';
import type { Settings } from '../contract/settings.ts';
import { chosenPython } from '../workspace/python.ts';
import type { WorkDeps } from './deps.ts';

export type FoundOutcome =
  | {
      readonly kind: 'found';
      readonly job: Job;
      readonly tests: Extract<TestsOutcome, { kind: 'ran' }>;
    }
  | PrepareProblem
  | { readonly kind: 'cancelled' };

/** Takes a snapshot of the folder, runs its tests there and publishes what came out. */
export async function findFailing(
  { vs, publish }: Pick<WorkDeps, 'vs' | 'publish'>,
  folder: vscode.WorkspaceFolder,
  options: {
    readonly settings: Settings;
    readonly environment: WorkDeps['environment'];
    readonly runs: 1 | 2;
    readonly signal: AbortSignal;
    readonly listener: FixListener;
  },
): Promise<FoundOutcome> {
  const { settings, environment, runs, signal, listener } = options;
  try {
    const job = await startJob({
      root: folder.uri.fsPath,
      command: settings.testCommand,
      sandbox: settings.sandbox,
      dockerImage: settings.dockerImage,
      include: settings.include,
      testTimeoutMs: settings.testTimeoutSeconds * 1000,
      python: await chosenPython(vs, folder.uri),
      environment,
      signal,
      listener,
    });
    if (job.kind === 'problem') return job;
    signal.throwIfAborted();
    const tests = await runAllTests(job.projects, { runs, signal, listener });
    if (tests.kind !== 'ran') return tests;
    publish(folder, tests);
    if (tests.results.length === 0 && tests.collectionErrors.length === 0) return NO_TESTS;
    return { kind: 'found', job, tests };
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled' };
    throw error;
  }
}
