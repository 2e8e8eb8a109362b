import { access, constants, mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Redactor } from '../core/agent/redactor.ts';
import { cleanUp } from '../core/fix/clean-up.ts';
import type { FixListener } from '../core/fix/events.ts';
import {
  type PreparedProject,
  type PrepareProblem,
  prepareWorkspace,
  problem,
} from '../core/fix/prepare.ts';
import { openWorkspaceFiles } from '../core/frameworks/workspace-files.ts';
import { stateFolder } from '../core/platform/state-folder.ts';
import { hostRedactor } from '../core/redaction/host.ts';
import { chooseSandbox, type SandboxChoice } from '../core/sandbox/providers.ts';
import { trajectoriesRoot } from '../core/trajectories/folder.ts';
import type { CliContext } from './context.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { createStyle } from './render/style.ts';

export interface JobOptions {
  readonly command?: string;
  readonly sandbox: SandboxChoice;
  readonly include: readonly string[];
  /** Seconds. */
  readonly testTimeout: number;
}

export interface Job {
  readonly kind: 'job';
  readonly root: string;
  readonly projects: readonly PreparedProject[];
  readonly redactor: Redactor;
}

/** What `fix` and `tests` do first: clean up after crashes, choose the sandbox, take the snapshot. */
export async function startJob(
  path: string,
  options: JobOptions,
  context: CliContext,
  listener: FixListener,
): Promise<Job | PrepareProblem> {
  const root = resolve(context.cwd, path);
  const stateDir = stateFolder(context.env);
  const unwritable = await writeProblem([stateDir, trajectoriesRoot(context.env)]);
  if (unwritable) return unwritable;
  await cleanUp(stateDir);
  const chosen = await chooseSandbox(options.sandbox, { stateDir });
  if (chosen.kind === 'unavailable') return problem('environment', chosen.reason, chosen.remedy);
  if (chosen.provider.kind === 'none') {
    listener({
      kind: 'warning',
      text: 'No isolation, as you asked with --sandbox none: commands of the agent can read and change everything that you can.',
    });
  }
  const prepared = await prepareWorkspace({
    path: root,
    command: options.command,
    provider: chosen.provider,
    stateDir,
    include: options.include,
    testTimeoutMs: options.testTimeout * 1000,
    signal: context.signal,
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
      environment: context.env,
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

/** Prints a problem the same way in every command. */
export function reportProblem(
  problem: PrepareProblem,
  context: CliContext,
  json: boolean,
): ExitCode {
  if (json) {
    const { cause, reason, remedy } = problem;
    context.stdout.write(
      `${JSON.stringify({ outcome: 'problem', cause, reason, remedy }, null, 2)}\n`,
    );
  }
  const { visible, wrap } = createStyle(context.stderr, context.env);
  for (const line of `prime-agent: ${problem.reason}\n${problem.remedy}`.split('\n')) {
    context.stderr.write(`${wrap(visible(line), '  ')}\n`);
  }
  switch (problem.cause) {
    case 'environment':
      return EXIT.environment;
    case 'not-loadable':
      return EXIT.notSolved;
    case 'usage':
    case 'no-tests':
      return EXIT.usage;
  }
}

/** What Ctrl-C leaves to say, the same way in every command. */
export function reportCancelled(
  context: CliContext,
  json: boolean,
  solved: readonly { readonly id: string; readonly attemptId: string }[] = [],
): ExitCode {
  if (json) context.stdout.write(`${JSON.stringify({ outcome: 'cancelled', solved }, null, 2)}\n`);
  context.stderr.write('prime-agent: cancelled. Nothing of yours was changed.\n');
  if (solved.length > 0) context.stderr.write('Solved before that, each verified alone:\n');
  for (const { id, attemptId } of solved) {
    context.stderr.write(`  ${id}: prime-agent trajectories show ${attemptId}\n`);
  }
  return EXIT.interrupted;
}
