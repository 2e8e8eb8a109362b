import { resolve } from 'node:path';
import type { FixListener } from '../core/fix/events.ts';
import { type PrepareProblem, problem } from '../core/fix/prepare.ts';
import { type Job, startJob } from '../core/fix/start-job.ts';
import { loadReward, type RewardWish } from '../core/grading/reward/load.ts';
import type { SandboxChoice } from '../core/sandbox/providers.ts';
import type { CliContext } from './context.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { createStyle } from './render/style.ts';

/** Options that every command with a repository has. */
export interface JobOptions {
  readonly command?: string;
  /** JSON file or module. */
  readonly reward?: string;
  readonly rewardCommand?: string;
  readonly rewardFiles?: readonly string[];
  readonly sandbox: SandboxChoice;
  readonly dockerImage?: string;
  readonly include: readonly string[];
  /** Seconds. */
  readonly testTimeout: number;
}

export async function openJob(
  path: string,
  options: JobOptions,
  { cwd, env, signal }: CliContext,
  listener: FixListener,
): Promise<Job | PrepareProblem> {
  const { command, sandbox, dockerImage, include, testTimeout } = options;
  const root = resolve(cwd, path);
  const wish = rewardWish(options, cwd);
  if (wish?.kind === 'problem') return wish;
  const loaded = wish && (await loadReward(root, wish));
  if (loaded?.kind === 'problem') return problem('usage', loaded.reason, loaded.remedy);
  return startJob({
    root,
    command,
    reward: loaded?.reward,
    sandbox,
    dockerImage,
    include,
    testTimeoutMs: testTimeout * 1000,
    environment: env,
    signal,
    listener,
  });
}

function rewardWish(
  { command, reward, rewardCommand, rewardFiles = [], testTimeout }: JobOptions,
  cwd: string,
): RewardWish | PrepareProblem | undefined {
  const given = [
    ...(command === undefined ? [] : ['--command']),
    ...(reward === undefined ? [] : ['--reward']),
    ...(rewardCommand === undefined ? [] : ['--reward-command']),
  ];
  if (given.length > 1) {
    const reason = `${given.join(' and ')} exclude each other: one thing decides what is solved.`;
    return problem('usage', reason, 'Keep one of them.');
  }
  const more = { files: rewardFiles, timeoutSeconds: testTimeout };
  if (reward !== undefined) return { kind: 'file', path: resolve(cwd, reward), ...more };
  if (rewardCommand !== undefined) return { kind: 'command', command: rewardCommand, ...more };
  if (rewardFiles.length === 0) return undefined;
  const remedy = 'Name the reward with --reward or --reward-command.';
  return problem('usage', '--reward-files names what decides a reward, and there is none.', remedy);
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
