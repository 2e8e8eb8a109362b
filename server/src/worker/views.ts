import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  openTaskView,
  openTaskViews,
  type TaskViews,
} from '../../../src/core/evaluation/task-views.ts';
import { type PrepareProblem, prepareWorkspace, problem } from '../../../src/core/fix/prepare.ts';
import { makeBaseline } from '../../../src/core/grading/baseline.ts';
import { hostRedactor } from '../../../src/core/redaction/host.ts';
import { unpackTree } from '../../../src/core/tasks/archive.ts';
import type { OpenedTask } from '../../../src/core/tasks/open-task.ts';
import {
  type FileTree,
  leadsOutside,
  treeHash,
  writesOutside,
  writeTree,
} from '../../../src/core/tasks/tree.ts';
import type { SnapshotSpec } from '../tasks/task-spec.ts';
import type { WorkTask } from '../work/messages.ts';
import { type PackagesOptions, packagesOf } from './environments.ts';

/** What a job needs of a task. */
export interface WorkViews {
  readonly kind: 'views';
  readonly grading: OpenedTask;
  readonly gradedTargets: readonly string[];
  /** Where attempts are made; not there for those who only grade. */
  readonly attempts?: TaskViews;
  /** Tells environments apart. */
  readonly environment: string;
}

/** It cannot be, and why. */
export class RefusedTree extends Error {
  override readonly name = 'RefusedTree';
}

/** What the task needs is missing on this machine: nothing is known about the task. */
export class MissingPackages extends Error {
  override readonly name = 'MissingPackages';
  readonly remedy: string;
  constructor(reason: string, remedy: string) {
    super(reason);
    this.remedy = remedy;
  }
}

/** Rejects with `RefusedTree` for an archive from which nothing must be written. */
export async function readArchive(file: string): Promise<FileTree> {
  const bytes = await readFile(file);
  let tree: FileTree;
  try {
    tree = unpackTree(bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RefusedTree(`the archive cannot be read: ${why}`);
  }
  const outside = writesOutside(tree) ?? leadsOutside(tree);
  if (outside === undefined) return tree;
  throw new RefusedTree(`${JSON.stringify(outside)} leads out of the archive`);
}

export type ArchiveOutcome =
  | { readonly kind: 'snapshot'; readonly spec: SnapshotSpec }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Finds the project of a snapshot in which the targets fail, each time. Rejects with `SandboxFailure`,
 * `MissingPackages`, or the signal's reason.
 */
export async function findSnapshotTask(
  wanted: {
    readonly archive: string;
    readonly framework: string;
    readonly targets: readonly string[];
  },
  folder: string,
  options: PackagesOptions,
): Promise<ArchiveOutcome> {
  const { framework, targets } = wanted;
  if (framework === 'command') {
    return refused('its own test command or reward is not in the record, so it cannot be run here');
  }
  let tree: FileTree;
  try {
    tree = await readArchive(wanted.archive);
  } catch (error) {
    if (error instanceof RefusedTree) return refused(error.message);
    throw error;
  }
  const found = await openSnapshot({ framework, targets }, tree, folder, options);
  if (found.kind !== 'opened') return found;
  const { projectPath } = found.opened.setup;
  const hash = treeHash(tree);
  return {
    kind: 'snapshot',
    spec: { kind: 'snapshot', tree: hash, framework, projectPath, targets: [...targets] },
  };
}

/** A task that was admitted. Rejects as `findSnapshotTask`. */
export async function openViews(
  { spec, archive }: WorkTask,
  purpose: 'grade' | 'attempt',
  folder: string,
  options: PackagesOptions,
): Promise<WorkViews | PrepareProblem> {
  const tree = await readArchive(archive);
  const { env: environment } = options;
  if (spec.kind === 'snapshot') {
    const found = await openSnapshot(spec, tree, folder, options);
    if (found.kind === 'refused') return problem('environment', found.reason, '');
    const { opened } = found;
    const redactor = await hostRedactor({
      workspacePath: join(folder, 'agent'),
      files: [...tree.keys()],
      environment,
    });
    const common = { kind: 'views' as const, grading: opened, gradedTargets: spec.targets };
    const attempts = { ...common, agent: opened, targets: spec.targets, redactor };
    return { ...common, attempts, environment: found.environment };
  }
  const { task } = spec;
  const packages = await packagesOf(spec, tree, options);
  if (packages.kind === 'problem') throw new MissingPackages(packages.reason, packages.remedy);
  if (packages.kind === 'refused') return problem('environment', packages.reason, '');
  const { provider, settings, signal } = options;
  const { testTimeoutMs } = settings;
  const where = { provider, testTimeoutMs, environment, packages: packages.environment };
  const common = { kind: 'views' as const, environment: packages.id, gradedTargets: task.targets };
  if (purpose === 'grade') {
    const grading = await openTaskView(task, tree, 'grading', folder, where, signal);
    return grading.kind === 'problem' ? grading : { ...common, grading };
  }
  const attempts = await openTaskViews(task, tree, folder, where, signal);
  if (attempts.kind === 'problem') return attempts;
  return { ...common, grading: attempts.grading, attempts };
}

type OpenedSnapshot =
  | {
      readonly kind: 'opened';
      readonly opened: OpenedTask;
      readonly environment: string;
    }
  | { readonly kind: 'refused'; readonly reason: string };

async function openSnapshot(
  wanted: {
    readonly framework: string;
    readonly targets: readonly string[];
    readonly projectPath?: string;
  },
  tree: FileTree,
  folder: string,
  options: PackagesOptions,
): Promise<OpenedSnapshot> {
  const { provider, settings, signal } = options;
  const packages = await packagesOf(undefined, tree, options);
  if (packages.kind === 'refused') return packages;
  if (packages.kind === 'problem') throw new MissingPackages(packages.reason, packages.remedy);
  const place = join(folder, 'agent');
  await writeTree(place, tree);
  const prepared = await prepareWorkspace({
    path: place,
    provider,
    stateDir: join(folder, 'state'),
    include: [],
    testTimeoutMs: settings.testTimeoutMs,
    environment: packages.environment,
    signal,
  });
  // The sandbox works, so what is missing is missing for this snapshot.
  if (prepared.kind === 'problem') return refused(`${prepared.reason} ${prepared.remedy}`);
  const projects = prepared.projects.filter(
    ({ setup }) =>
      setup.framework.id === wanted.framework &&
      (wanted.projectPath === undefined || setup.projectPath === wanted.projectPath),
  );
  let last = `no tests of ${wanted.framework} were found in it`;
  for (const { setup } of projects) {
    const outcome = await makeBaseline(setup, { signal });
    if (outcome.kind === 'cancelled') signal.throwIfAborted();
    if (outcome.kind === 'environment') last = `${outcome.reason} ${outcome.remedy}`;
    if (outcome.kind !== 'baseline') continue;
    const failing = new Set(outcome.baseline.failing.map(({ id }) => id));
    const others = wanted.targets.filter((id) => !failing.has(id));
    if (others.length === 0) {
      const opened = { kind: 'opened' as const, setup, baseline: outcome.baseline };
      return { kind: 'opened', opened, environment: packages.id };
    }
    last = `${others.slice(0, 3).join(', ')} ${others.length === 1 ? 'does' : 'do'} not fail here each time`;
  }
  return refused(last);
}

function refused(reason: string): { readonly kind: 'refused'; readonly reason: string } {
  return { kind: 'refused', reason };
}
