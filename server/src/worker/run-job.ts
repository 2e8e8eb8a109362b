import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkTask } from '../../../src/core/environments/admit.ts';
import { attemptInViews } from '../../../src/core/evaluation/task-views.ts';
import { createWorlds, type Worlds } from '../../../src/core/evaluation/worlds.ts';
import { defaultBudgets } from '../../../src/core/fix/budgets.ts';
import { currentScaffoldHash } from '../../../src/core/fix/scaffold.ts';
import { createPolicy } from '../../../src/core/policies/create-policy.ts';
import type { Policy } from '../../../src/core/policies/policy.ts';
import { chooseSandbox } from '../../../src/core/sandbox/providers.ts';
import { SandboxFailure, type SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import { createTrajectoryWriter } from '../../../src/core/trajectories/writer.ts';
import type { Job, JobResult, WorkerSettings } from '../work/messages.ts';
import { type PackagesOptions, packagesOf } from './environments.ts';
import { type GradeCacheClient, gradeCached } from './grade-cached.ts';
import {
  findSnapshotTask,
  MissingPackages,
  openViews,
  RefusedTree,
  readArchive,
  type WorkViews,
} from './views.ts';

export interface JobRunner {
  /** Never rejects. */
  run(job: Job, signal: AbortSignal): Promise<JobResult>;
  close(): Promise<void>;
}

/** Does what the server asks for, several jobs at a time. */
export function createJobRunner(
  settings: WorkerSettings,
  env: Readonly<Record<string, string | undefined>>,
  cache: GradeCacheClient,
): JobRunner {
  const stateDir = join(settings.folder, 'state');
  const temporary = join(settings.folder, 'tmp');
  const worlds: Worlds<WorkViews> = createWorlds(settings.idle, temporary);
  let provider: SandboxProvider | undefined;
  let policy: Promise<Policy | JobResult> | undefined;

  /** Asked again until there is one: somebody may install it. */
  const sandbox = async (): Promise<SandboxProvider | JobResult> => {
    if (provider) return provider;
    const { kind, image } = settings.sandbox;
    const chosen = await chooseSandbox(kind, { stateDir, dockerImage: image, environment: env });
    if (chosen.kind === 'unavailable') return problem(chosen.reason, chosen.remedy);
    provider = chosen.provider;
    return provider;
  };

  const openPolicy = async (signal: AbortSignal): Promise<Policy | JobResult> => {
    if (!settings.policy)
      return problem('no policy is configured', 'Add [policy] with use = "nano".');
    const { use, model, temperature } = settings.policy;
    const created = await createPolicy({ policy: use, model, temperature }, { env, signal });
    return created.kind === 'policy' ? created.policy : problem(created.reason, created.remedy);
  };
  const currentPolicy = async (signal: AbortSignal): Promise<Policy | JobResult> => {
    policy ??= openPolicy(signal);
    const opened = await policy.catch((error: unknown) => {
      policy = undefined;
      throw error;
    });
    if ('kind' in opened) policy = undefined;
    return opened;
  };

  const inFolder = async (work: (folder: string) => Promise<JobResult>): Promise<JobResult> => {
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(temporary, 'admit-'));
    try {
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  };

  const work = async (job: Job, signal: AbortSignal): Promise<JobResult> => {
    if (job.kind === 'describe-policy') {
      const opened = await currentPolicy(signal);
      if ('kind' in opened) return opened;
      const { description } = opened;
      return { kind: 'policy', policy: { ...description }, scaffoldHash: currentScaffoldHash() };
    }
    const chosen = await sandbox();
    if (!('open' in chosen)) return chosen;
    const options = { provider: chosen, settings, env, signal };
    switch (job.kind) {
      case 'admit':
        return inFolder((folder) => admit(job, folder, options));
      case 'admit-archive':
        return inFolder(async (folder) => {
          const found = await findSnapshotTask(job, folder, options);
          if (found.kind === 'snapshot') return { kind: 'archive-admitted', spec: found.spec };
          return found;
        });
      case 'grade':
        return inWorld(job, signal, options, async (views) => {
          const { setup, baseline } = views.grading;
          const request = {
            setup,
            baseline,
            targets: views.gradedTargets,
            patch: job.patch,
            signal,
          };
          const graded = await gradeCached(request, cache, job.task.id, views.environment);
          if (graded.kind === 'graded') return { kind: 'graded', grade: graded.report };
          return problem(graded.reason, graded.remedy ?? '');
        });
      case 'rollout': {
        const opened = await currentPolicy(signal);
        if ('kind' in opened) return opened;
        return inWorld(job, signal, options, (views) => rollout(job, views, opened, signal));
      }
    }
  };

  const inWorld = async (
    { task, kind }: Extract<Job, { kind: 'grade' | 'rollout' }>,
    signal: AbortSignal,
    options: PackagesOptions,
    use: (views: WorkViews) => Promise<JobResult>,
  ): Promise<JobResult> => {
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    const purpose = kind === 'grade' ? 'grade' : 'attempt';
    const made = await worlds.use(
      `${purpose} ${task.id}`,
      // Others may use it when this job was cancelled: it ends with the world.
      (folder, ended) => openViews(task, purpose, folder, { ...options, signal: ended }),
      signal,
      use,
    );
    if (!('cause' in made)) return made;
    // A sandbox that broke says nothing about the task; one that works does.
    provider = undefined;
    const still = await sandbox();
    if (!('open' in still)) return still;
    return { kind: 'refused', reason: `${made.reason} ${made.remedy}`.trim() };
  };

  const rollout = async (
    job: Extract<Job, { kind: 'rollout' }>,
    views: WorkViews,
    by: Policy,
    signal: AbortSignal,
  ): Promise<JobResult> => {
    const { attemptId, seriesId, seed, record, task } = job;
    const { attempts, environment } = views;
    if (!attempts) throw new Error('a task was opened for grading alone');
    const sink = await createTrajectoryWriter({ path: record, redactor: attempts.redactor });
    try {
      const budgets = defaultBudgets(by.description);
      const report = await attemptInViews(
        attempts,
        {
          ...{ attemptId, seriesId, seed, taskId: task.id, policy: by, rules: 'strict' },
          budgets: { ...budgets, timeMs: Math.min(budgets.timeMs, settings.attemptMs) },
        },
        {
          sink,
          signal,
          grade: (request) => gradeCached(request, cache, task.id, environment),
        },
      );
      if (signal.aborted) return { kind: 'cancelled' };
      if (report.recordProblem !== undefined) return problem(report.recordProblem, '');
      const { outcome, reward, reason } = report.row;
      const flags = (report.grade?.flags ?? []).map(({ rule, file }) => `${rule}: ${file}`);
      const policy = { ...by.description };
      const scaffoldHash = currentScaffoldHash();
      return { kind: 'attempted', policy, scaffoldHash, outcome, reward, reason, flags };
    } finally {
      await sink.close();
    }
  };

  return {
    async run(job, signal) {
      try {
        return await work(job, signal);
      } catch (error) {
        if (signal.aborted) return { kind: 'cancelled' };
        if (error instanceof RefusedTree) return { kind: 'refused', reason: error.message };
        if (error instanceof MissingPackages) return problem(error.message, error.remedy);
        if (error instanceof SandboxFailure) {
          // Whether it still works is found out with the next job.
          provider = undefined;
          return problem(error.message, error.remedy ?? '');
        }
        return problem(error instanceof Error ? error.message : String(error), '');
      }
    },
    async close() {
      await worlds.close();
      const opened = await policy?.catch(() => undefined);
      if (opened && !('kind' in opened)) await opened.close?.();
    },
  };
}

async function admit(
  { task: { spec, archive } }: Extract<Job, { kind: 'admit' }>,
  folder: string,
  options: PackagesOptions,
): Promise<JobResult> {
  // A snapshot was admitted when its archive was.
  if (spec.kind !== 'bug') return { kind: 'admitted' };
  const { provider, settings, signal } = options;
  const tree = await readArchive(archive);
  const packages = await packagesOf(spec, tree, options);
  if (packages.kind !== 'packages') return packages;
  const checked = await checkTask(spec.task, tree, {
    ...{ provider, signal, repeats: 2, testTimeoutMs: settings.testTimeoutMs },
    stateDir: join(folder, 'state'),
    folder: join(folder, 'task'),
    environment: packages.environment,
  });
  switch (checked.kind) {
    case 'reproduces':
      return { kind: 'admitted' };
    case 'not-reproducible':
      return { kind: 'refused', reason: checked.reason };
    default:
      return checked;
  }
}

function problem(reason: string, remedy: string): Extract<JobResult, { kind: 'problem' }> {
  return { kind: 'problem', reason, remedy };
}
