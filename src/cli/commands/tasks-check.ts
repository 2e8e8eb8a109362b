import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { problem } from '../../core/fix/prepare.ts';
import { validateReward } from '../../core/grading/reward/validate.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type JobOptions, openJob, reportCancelled, reportProblem } from '../job.ts';
import { createProgress } from '../render/progress.ts';
import { createStyle } from '../render/style.ts';

export interface TasksCheckOptions extends JobOptions {
  /** Path of a git patch. */
  readonly fix: string;
  readonly repeats: number;
  readonly json: boolean;
}

/** Admits a reward of the user's own, or says why not. */
export async function tasksCheckCommand(
  path: string,
  options: TasksCheckOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { json, repeats } = options;
  if (options.reward === undefined && options.rewardCommand === undefined) {
    const remedy = 'Name it: --reward FILE or --reward-command "make check".';
    return reportProblem(problem('usage', 'There is no reward to check.', remedy), context, json);
  }
  const patch = await readFile(resolve(context.cwd, options.fix), 'utf8').catch(() => undefined);
  if (patch === undefined || patch.trim() === '') {
    const what = patch === undefined ? 'cannot be read' : 'is empty';
    const remedy = 'Write the fix into a file first: git diff > fix.patch';
    const reason = `The patch ${options.fix} ${what}.`;
    return reportProblem(problem('usage', reason, remedy), context, json);
  }
  const progress = createProgress(context);
  try {
    const job = await openJob(path, options, context, progress.listener);
    if (job.kind === 'problem') return reportProblem(job, context, json);
    const [project] = job.projects;
    if (project?.reward === undefined) throw new Error('a job with a reward has no project for it');
    progress.listener({ kind: 'progress', text: `Running the reward: ${project.detail}` });
    const checked = await validateReward({
      setup: project.setup,
      target: project.reward,
      fix: patch,
      repeats,
      signal: context.signal,
    });
    progress.stop();
    if (context.signal.aborted) return reportCancelled(context, json);
    switch (checked.kind) {
      case 'not-checked':
        return reportProblem(
          problem('environment', checked.reason, 'See what is missing with: prime-agent doctor'),
          context,
          json,
        );
      case 'rejected': {
        if (json)
          context.stdout.write(
            `${JSON.stringify({ outcome: checked.kind, ...checked }, null, 2)}\n`,
          );
        const { visible, wrap } = createStyle(context.stderr, context.env);
        for (const line of `prime-agent: ${checked.reason}\n${checked.remedy}`.split('\n')) {
          context.stderr.write(`${wrap(visible(line), '  ')}\n`);
        }
        return EXIT.notSolved;
      }
      case 'valid': {
        const text = `The reward is fit for use: 0 on the unchanged code and 1 with the fix, in all ${checked.runs} runs.`;
        context.stdout.write(
          json
            ? `${JSON.stringify({ outcome: checked.kind, reward: project.reward, runs: checked.runs }, null, 2)}\n`
            : `${text}\n`,
        );
        return EXIT.ok;
      }
    }
  } finally {
    progress.stop();
  }
}
