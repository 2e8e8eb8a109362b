import { access, constants, mkdir } from 'node:fs/promises';
import type { Redactor } from '../agent/redactor.ts';
import { openWorkspaceFiles } from '../frameworks/workspace-files.ts';
import type { CustomReward } from '../grading/reward/load.ts';
import { stateFolder } from '../platform/state-folder.ts';
import { hostRedactor } from '../redaction/host.ts';
import { chooseSandbox, type SandboxChoice } from '../sandbox/providers.ts';
import { trajectoriesRoot } from '../trajectories/folder.ts';
import { cleanUp } from './clean-up.ts';
import type { FixListener } from './events.ts';
import { type PreparedProject, type PrepareProblem, prepareWorkspace, problem } from './prepare.ts';

export interface JobOptions {
  /** Absolute path of the workspace. */
  readonly root: string;
  /** Own test command: its exit code decides. */
  readonly command?: string | undefined;
  /** Own reward, in the place of tests. */
  readonly reward?: CustomReward | undefined;
  readonly sandbox: SandboxChoice;
  /** Image of the Docker sandbox. */
  readonly dockerImage?: string | undefined;
  /** Ignored files that tests need, as globs relative to the workspace. */
  readonly include: readonly string[];
  readonly testTimeoutMs: number;
  /** The Python that the user has chosen for this workspace, absolute path. */
  readonly python?: string | undefined;
  /** The host's variables: they move folders, and their secrets are kept out of records. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly listener?: FixListener;
}

export interface Job {
  readonly kind: 'job';
  readonly root: string;
  readonly projects: readonly PreparedProject[];
  readonly redactor: Redactor;
}

/** What every job does first: clean up after crashes, choose the sandbox, take the snapshot. */
export async function startJob(options: JobOptions): Promise<Job | PrepareProblem> {
  const { root, environment, signal, listener } = options;
  const stateDir = stateFolder(environment);
  const unwritable = await writeProblem([stateDir, trajectoriesRoot(environment)]);
  if (unwritable) return unwritable;
  await cleanUp(stateDir);
  const chosen = await chooseSandbox(options.sandbox, {
    stateDir,
    dockerImage: options.dockerImage,
    environment,
  });
  if (chosen.kind === 'unavailable') return problem('environment', chosen.reason, chosen.remedy);
  if (chosen.provider.kind === 'none') {
    listener?.({
      kind: 'warning',
      text: 'No isolation, as you asked with --sandbox none: commands of the agent can read and change everything that you can.',
    });
  }
  const prepared = await prepareWorkspace({
    path: root,
    command: options.command,
    reward: options.reward,
    provider: chosen.provider,
    stateDir,
    include: options.include,
    testTimeoutMs: options.testTimeoutMs,
    python: options.python,
    signal,
    listener,
  });
  if (prepared.kind === 'problem') return prepared;
  return {
    kind: 'job',
    root,
    projects: prepared.projects,
    redactor: await hostRedactor({
      workspacePath: root,
      files: await openWorkspaceFiles(root).files(),
      environment,
    }),
  };
}

/** Snapshots and records need a place; better said before the work than after it. */
async function writeProblem(folders: readonly string[]): Promise<PrepareProblem | undefined> {
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await access(folder, constants.W_OK | constants.X_OK);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return problem(
        'environment',
        `The folder for snapshots and records cannot be written: ${folder} (${why}).`,
        'Make it writable, or set PRIME_AGENT_HOME to a folder that is.',
      );
    }
  }
  return undefined;
}
