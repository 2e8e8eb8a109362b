import { defaultAttempts, defaultParallel } from '../../core/fix/defaults.ts';
import type { FixListener } from '../../core/fix/events.ts';
import { type FixOutcome, type FixReport, fixFailingTests } from '../../core/fix/fix.ts';
import { createPolicy } from '../../core/policies/create-policy.ts';
import { findLocalServers } from '../../core/policies/discovery.ts';
import type { Policy } from '../../core/policies/policy.ts';
import { applyPatchToWorkspace, type WorkspaceApplyOutcome } from '../../core/snapshot/apply.ts';
import { runsLater } from '../../core/snapshot/runs-later.ts';
import { trajectoriesRoot } from '../../core/trajectories/folder.ts';
import type { Budgets } from '../../core/trajectories/schema.ts';
import { createTrajectoryStore } from '../../core/trajectories/store.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type JobOptions, openJob, reportCancelled, reportProblem } from '../job.ts';
import { createProgress } from '../render/progress.ts';
import { jsonReport, renderReport } from '../render/report.ts';
import { createStyle } from '../render/style.ts';

export interface FixCommandOptions extends JobOptions {
  readonly test: readonly string[];
  /** Default: by the kind of policy. */
  readonly attempts?: number;
  readonly parallel?: number;
  readonly policy?: string;
  readonly model?: string;
  readonly maxTurns?: number;
  readonly maxMinutes?: number;
  readonly maxReplyTokens?: number;
  readonly hint?: string;
  readonly parity: boolean;
  readonly apply: boolean;
  readonly json: boolean;
}

export async function fixCommand(
  path: string,
  options: FixCommandOptions,
  context: CliContext,
): Promise<ExitCode> {
  const progress = createProgress(context);
  try {
    const created = await createPolicy(
      { policy: options.policy ?? 'edit-search', model: options.model, lenient: true },
      {
        env: context.env,
        signal: context.signal,
        onNotice: (text) => progress.listener({ kind: 'warning', text }),
      },
    );
    if (created.kind !== 'policy') {
      return reportProblem(
        { kind: 'problem', cause: created.cause, reason: created.reason, remedy: created.remedy },
        context,
        options.json,
      );
    }
    const job = await openJob(path, options, context, progress.listener);
    if (job.kind === 'problem') return reportProblem(job, context, options.json);

    const offer =
      options.policy === undefined ? offerLocalModels(context, progress.listener) : undefined;
    const store = createTrajectoryStore(trajectoriesRoot(context.env));
    const outcome = await fixFailingTests({
      projects: job.projects,
      tests: options.test,
      policy: created.policy,
      budgets: budgetsFrom(options),
      attempts: options.attempts ?? defaultAttempts(created.policy.description),
      parallel: options.parallel ?? defaultParallel(),
      hint: options.hint,
      parity: options.parity,
      environment: context.env,
      redactor: job.redactor,
      openSink: (attemptId) =>
        store.create({ workspacePath: job.root, attemptId, redactor: job.redactor }),
      signal: context.signal,
      listener: progress.listener,
    });
    await Promise.all([store.prune(), offer]);
    progress.stop();
    return await finish(outcome, job.root, created.policy, options, context);
  } finally {
    progress.stop();
  }
}

function budgetsFrom(options: FixCommandOptions): Partial<Budgets> {
  return {
    ...(options.maxTurns === undefined ? {} : { turns: options.maxTurns }),
    ...(options.maxMinutes === undefined
      ? {}
      : { timeMs: Math.round(options.maxMinutes * 60_000) }),
    ...(options.maxReplyTokens === undefined ? {} : { replyTokens: options.maxReplyTokens }),
  };
}

/** Nobody has chosen a policy: a model that already runs on this machine is worth a line. */
async function offerLocalModels(context: CliContext, listener: FixListener): Promise<void> {
  for (const { name, baseUrl, models } of await findLocalServers({ signal: context.signal })) {
    const [model] = models;
    if (!model) continue;
    const text = `${name} runs on this machine with ${model}; this run uses edit-search.`;
    const remedy = `To use the model: --policy ${baseUrl} --model ${model}`;
    listener({ kind: 'warning', text, remedy });
  }
}

async function finish(
  outcome: FixOutcome,
  root: string,
  policy: Policy,
  options: FixCommandOptions,
  context: CliContext,
): Promise<ExitCode> {
  if (outcome.kind === 'problem') return reportProblem(outcome, context, options.json);
  if (outcome.kind === 'cancelled') {
    return reportCancelled(context, options.json, outcome.solved);
  }
  if (outcome.kind === 'nothing-to-do') {
    context.stdout.write(
      options.json
        ? `${JSON.stringify({ outcome: 'nothing-to-do', reason: outcome.reason, green: outcome.green }, null, 2)}\n`
        : `${outcome.reason}\n`,
    );
    return outcome.green ? EXIT.ok : EXIT.notSolved;
  }

  const { report } = outcome;
  const applied =
    options.apply && report.solved.length > 0 ? await applyVerified(root, report.patch) : undefined;
  if (options.json)
    context.stdout.write(
      `${JSON.stringify(jsonReport(report, policy.description, applied), null, 2)}\n`,
    );
  else context.stdout.write(renderReport(report, createStyle(context.stdout, context.env)));

  if (applied && applied.kind !== 'applied' && applied.kind !== 'applicable') {
    context.stderr.write(`prime-agent: the patch was not applied: ${applied.reason}\n`);
    return EXIT.environment;
  }
  if (applied) context.stderr.write('Applied to your files.\n');
  else if (report.solved.length > 0 && !options.json) {
    context.stderr.write(
      'Your files are unchanged. Run the same command with --apply to change them.\n',
    );
  }
  return exitCodeOf(report, context);
}

/** What would run by itself later is for a person to read first. */
async function applyVerified(root: string, patch: string): Promise<WorkspaceApplyOutcome> {
  const files = runsLater(patch);
  if (files.length === 0) return applyPatchToWorkspace(root, patch);
  const reason = `it changes files that run by themselves later (${files.join(', ')}). Read it, then apply it yourself with git apply.`;
  return { kind: 'failed', reason };
}

function exitCodeOf(report: FixReport, context: CliContext): ExitCode {
  if (context.signal.aborted) return EXIT.interrupted;
  if (report.unsolved.length === 0) return EXIT.ok;
  const ends = report.targets.flatMap((target) =>
    target.attempts.map((attempt) => attempt.end.kind),
  );
  return ends.length > 0 && ends.every((kind) => kind === 'infrastructure')
    ? EXIT.environment
    : EXIT.notSolved;
}
