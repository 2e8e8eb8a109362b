import { Buffer } from 'node:buffer';
import { mkdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { gradePatch } from '../grading/grade.ts';
import { withSession } from '../grading/session-run.ts';
import type { GradeSetup } from '../grading/types.ts';
import { escapeGlob } from '../platform/escape-glob.ts';
import { SandboxFailure, type SandboxProvider, WORKSPACE } from '../sandbox/sandbox.ts';
import { openTask } from '../tasks/open-task.ts';
import type { Task } from '../tasks/task.ts';
import type { FileTree } from '../tasks/tree.ts';
import {
  type EnsureOptions,
  ensureEnvironment,
  type ReadyEnvironment,
  type SessionEnvironment,
} from './build.ts';
import { type DetectedEnvironment, detectEnvironment } from './detect/detect.ts';
import type { Language } from './detect/recipe.ts';

export interface AdmitOptions extends Omit<EnsureOptions, 'description' | 'files' | 'signal'> {
  /** Docker, on the same engine. */
  readonly provider: SandboxProvider;
  /** An empty folder for the task's files; they stay. */
  readonly folder: string;
  readonly testTimeoutMs: number;
  /** Runs of all tests, and gradings of the solution, that must agree. */
  readonly repeats?: number;
  /** In place of the base image that was found or recorded. */
  readonly image?: string;
  readonly signal: AbortSignal;
}

export type AdmitOutcome =
  /** To be released when the task is not worked on any more. */
  | { readonly kind: 'admitted'; readonly environment: ReadyEnvironment; readonly repeats: number }
  /** The task's own fault: asked again it would be the same. */
  | { readonly kind: 'not-reproducible'; readonly reason: string; readonly log: string }
  /** Nothing is known about the task: engine, disk, network or image are missing. */
  | {
      readonly kind: 'problem';
      readonly reason: string;
      readonly remedy: string;
      readonly log: string;
    }
  | { readonly kind: 'cancelled' };

const LANGUAGES: Partial<Record<Task['framework'], Language>> = {
  pytest: 'python',
  unittest: 'python',
  'go test': 'go',
  'cargo test': 'rust',
  junit: 'jvm',
};

/** What makes a task's environment: recorded with it, or said by its files. */
export function environmentOf(task: Task, tree: FileTree, image?: string): DetectedEnvironment {
  const { recipe } = task.environment;
  if (recipe !== undefined) {
    const base = image === undefined ? recipe.base : ({ kind: 'image', image } as const);
    return { kind: 'described', source: 'the task', description: { ...recipe, base } };
  }
  return detectEnvironment(tree, {
    projectPath: task.projectPath,
    // What is left are the frameworks of JavaScript; a command may be anything.
    ...(task.framework === 'command' ? {} : { prefer: LANGUAGES[task.framework] ?? 'node' }),
    ...(image === undefined ? {} : { image }),
  });
}

/**
 * Does a task do in its environment what it says? Its targets must fail and the others pass, each
 * time; its solution must be graded as one, each time; and the environment must not hold the
 * solution. Only such tasks are for training and evaluation.
 */
export async function admitTask(
  task: Task,
  tree: FileTree,
  options: AdmitOptions,
): Promise<AdmitOutcome> {
  const { signal, repeats = 2 } = options;
  const detected = environmentOf(task, tree, options.image);
  if (detected.kind === 'unknown') return notReproducible(`${detected.reason}. ${detected.remedy}`);
  const environment = await ensureEnvironment({
    ...options,
    description: detected.description,
    // Without the bug: tasks of one repository share the environment.
    files: tree,
  });
  if (environment.kind === 'cancelled') return environment;
  if (environment.kind === 'problem') {
    const { cause, reason, remedy, log } = environment;
    return cause === 'setup-failed' || cause === 'build-failed'
      ? notReproducible(`${reason}.`, log)
      : { kind: 'problem', reason, remedy, log };
  }
  try {
    const outcome = await check(task, tree, environment, { ...options, repeats });
    if (outcome.kind !== 'admitted') await environment.release();
    return outcome;
  } catch (error) {
    await environment.release();
    if (signal.aborted) return { kind: 'cancelled' };
    if (!(error instanceof SandboxFailure)) throw error;
    return { kind: 'problem', reason: error.message, remedy: error.remedy ?? '', log: '' };
  }
}

async function check(
  task: Task,
  tree: FileTree,
  environment: ReadyEnvironment,
  options: AdmitOptions & { readonly repeats: number },
): Promise<AdmitOutcome> {
  const folder = join(options.folder, task.id.slice(0, 16));
  await mkdir(folder, { recursive: true });
  const checked = await checkTask(task, tree, { ...options, folder, environment });
  if (checked.kind !== 'reproduces') return checked;
  return { kind: 'admitted', environment, repeats: options.repeats };
}

export interface CheckOptions {
  readonly provider: SandboxProvider;
  readonly stateDir: string;
  /** An empty folder for the task's files; they stay. */
  readonly folder: string;
  readonly testTimeoutMs: number;
  /** Docker: where the task's packages are installed. */
  readonly environment?: SessionEnvironment | undefined;
  readonly repeats: number;
  readonly signal: AbortSignal;
}

export type CheckOutcome =
  | { readonly kind: 'reproduces' }
  | Exclude<AdmitOutcome, { readonly kind: 'admitted' }>;

/**
 * Does the task do here what it says, with its packages where they are? Rejects with `SandboxFailure`
 * or the signal's reason.
 */
export async function checkTask(
  task: Task,
  tree: FileTree,
  options: CheckOptions,
): Promise<CheckOutcome> {
  const { provider, folder, signal, repeats, environment } = options;
  const opened = await openTask(task, tree, 'grading', { ...options, runs: repeats });
  if (opened.kind === 'problem') {
    // A sandbox that broke says nothing about the task; one that works does.
    await probe(provider, environment?.image, folder, signal);
    return notReproducible(opened.reason, opened.remedy);
  }
  const { setup, baseline } = opened;
  // Without a set-up nothing was installed that could hold it.
  const leak = environment && (await solutionInside(task, tree, setup, signal));
  if (leak !== undefined) {
    return notReproducible(
      `The environment holds the solution: ${leak} is the file without the bug.`,
    );
  }
  for (let round = 0; round < repeats; round++) {
    const graded = await gradePatch({
      ...{ setup, baseline, targets: task.targets, patch: task.patch, signal },
    });
    if (graded.kind === 'not-graded') {
      if (signal.aborted) return { kind: 'cancelled' };
      return { kind: 'problem', reason: graded.reason, remedy: graded.remedy ?? '', log: '' };
    }
    if (graded.report.verdict !== 'passed') {
      return notReproducible(
        `Its own solution does not solve it: ${graded.report.strict.explanation}`,
      );
    }
  }
  return { kind: 'reproduces' };
}

function notReproducible(
  reason: string,
  log = '',
): Extract<AdmitOutcome, { kind: 'not-reproducible' }> {
  return { kind: 'not-reproducible', reason, log };
}

/** Rejects with `SandboxFailure` where not even `true` runs. */
async function probe(
  provider: SandboxProvider,
  image: string | undefined,
  tree: string,
  signal: AbortSignal,
): Promise<void> {
  const session = await provider.open(
    {
      base: { id: 'probe', tree, workspacePath: tree, dependencies: [] },
      toolchain: { path: [], mounts: [], env: {} },
      toolbox: {},
      limits: { processes: 64, fileBytes: 1024 ** 2 },
      ...(image === undefined ? {} : { image }),
    },
    signal,
  );
  try {
    await session.run({ argv: ['true'] }, { timeoutMs: 20_000, maxOutputBytes: 1_000, signal });
  } finally {
    await session.close();
  }
}

/** Files of a size and a name, outside of the workspace; names of any bytes. */
const FIND_COPIES = `size=$1 name=$2; shift 2
find / "$@" -xdev \\( -path /proc -o -path /sys -o -path /dev \\) -prune -o \\
  -type f -size "$size"c -name "$name" -print0 2>/dev/null; true`;
const MOST_COPIES = 100;

/**
 * A set-up that installs the project itself would leave the original for the agent to find.
 *
 * @returns the path of the file with the original's content
 */
async function solutionInside(
  task: Task,
  tree: FileTree,
  setup: GradeSetup,
  signal: AbortSignal,
): Promise<string | undefined> {
  const original = tree.get(task.bug.path)?.content ?? Buffer.alloc(0);
  const name = escapeGlob(posix.basename(task.bug.path));
  // Mounts of their own, which the search of the root leaves out.
  const folders = setup.spec.base.dependencies.map(({ path }) => posix.join(WORKSPACE, path));
  return withSession(setup, signal, async (session) => {
    const argv = ['bash', '-c', FIND_COPIES, 'find', String(original.length), name, ...folders];
    const result = await session.run(
      { argv, capture: 'stdout' },
      { timeoutMs: 60_000, maxOutputBytes: 256 * 1024, signal },
    );
    const found = Buffer.from(result.output.head).toString().split('\0').slice(0, MOST_COPIES);
    for (const path of found.filter((text) => text.startsWith('/'))) {
      const content = await session.files.read(path, original.length).catch(() => undefined);
      if (content !== undefined && original.equals(content)) return path;
    }
    return undefined;
  });
}
