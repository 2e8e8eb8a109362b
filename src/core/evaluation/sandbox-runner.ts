import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type AttemptEnd, outcomeOf } from '../agent/outcomes.ts';
import type { Redactor } from '../agent/redactor.ts';
import { runAttempt } from '../fix/attempt.ts';
import { newId } from '../fix/ids.ts';
import type { PrepareProblem } from '../fix/prepare.ts';
import { hostRedactor } from '../redaction/host.ts';
import type { SandboxProvider } from '../sandbox/sandbox.ts';
import { type OpenedTask, openTask } from '../tasks/open-task.ts';
import type { TaskAttempt, TaskRequest, TaskRunner } from './task-runner.ts';

export interface SandboxRunnerOptions {
  readonly provider: SandboxProvider;
  readonly testTimeoutMs: number;
  /** The host's, for the redactor. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Tasks that stay open between attempts, besides those in use. */
  readonly idle?: number;
}

export interface SandboxRunner {
  readonly run: TaskRunner;
  /** Removes what the open tasks have on the disk; later attempts are invalid. */
  close(): Promise<void>;
}

/** A task with both of its views, in a folder of its own. */
interface World {
  readonly folder: Promise<string>;
  readonly opened: Promise<Views | PrepareProblem>;
  readonly ended: AbortController;
  users: number;
}

interface Views {
  readonly kind: 'views';
  readonly agent: OpenedTask;
  readonly grading: OpenedTask;
  readonly redactor: Redactor;
}

/**
 * The world that users have: sandboxes and real test runs. A task is opened once for all of its
 * attempts, as long as they come one after the other; then its files go.
 */
export function createSandboxRunner(options: SandboxRunnerOptions): SandboxRunner {
  const { idle = 1 } = options;
  /** By task; those that were used last are at the end. */
  const worlds = new Map<string, World>();
  const session = newId();
  let closed = false;

  const enter = (request: TaskRequest): World => {
    const { id } = request.task;
    const world = worlds.get(id) ?? newWorld(request, options);
    world.users += 1;
    worlds.delete(id);
    worlds.set(id, world);
    return world;
  };

  // Out of the map before anything is waited for: who comes now gets a new one.
  const remove = async (id: string, world: World): Promise<void> => {
    if (worlds.get(id) === world) worlds.delete(id);
    world.ended.abort(new Error('the task was closed'));
    await Promise.allSettled([world.opened]);
    const folder = await world.folder.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };

  const leave = async (id: string, world: World, keep: boolean): Promise<void> => {
    world.users -= 1;
    const removed: Promise<void>[] = [];
    if (!keep && world.users === 0) removed.push(remove(id, world));
    const unused = [...worlds].filter(([, { users }]) => users === 0);
    for (const [other, old] of unused.slice(0, Math.max(0, unused.length - idle))) {
      removed.push(remove(other, old));
    }
    await Promise.all(removed);
  };

  const run: TaskRunner = async (request) => {
    const { task, signal } = request;
    const began = performance.now();
    if (signal.aborted) return notMade({ kind: 'cancelled' }, 0);
    if (closed) return notMade({ kind: 'infrastructure', reason: 'the runner is closed' }, 0);
    const world = enter(request);
    let keep = false;
    try {
      const views = await orAbort(world.opened, signal);
      if (views.kind === 'problem') {
        const { reason, remedy } = views;
        return notMade({ kind: 'infrastructure', reason, remedy }, performance.now() - began);
      }
      keep = true;
      return await attemptIn(views, request, session);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const end: AttemptEnd = signal.aborted
        ? { kind: 'cancelled' }
        : { kind: 'infrastructure', reason };
      return notMade(end, performance.now() - began);
    } finally {
      await leave(task.id, world, keep);
    }
  };

  return {
    run,
    async close() {
      closed = true;
      await Promise.all([...worlds].map(([id, world]) => remove(id, world)));
    },
  };
}

function newWorld(request: TaskRequest, options: SandboxRunnerOptions): World {
  const ended = new AbortController();
  const folder = mkdtemp(join(tmpdir(), 'prime-agent-eval-')).then((made) => realpath(made));
  const opened = folder.then((place) => openViews(request, place, options, ended.signal));
  return { folder, opened, ended, users: 0 };
}

async function openViews(
  { task, tree }: TaskRequest,
  folder: string,
  options: SandboxRunnerOptions,
  signal: AbortSignal,
): Promise<Views | PrepareProblem> {
  const { provider, testTimeoutMs, environment } = options;
  // Snapshots go with the task, instead of filling the user's store.
  const stateDir = join(folder, 'state');
  const opened: OpenedTask[] = [];
  for (const view of ['agent', 'grading'] as const) {
    const place = join(folder, view);
    await mkdir(place);
    const given = { provider, stateDir, folder: place, testTimeoutMs, signal };
    const outcome = await openTask(task, tree, view, given);
    if (outcome.kind === 'problem') return outcome;
    opened.push(outcome);
  }
  const [agent, grading] = opened;
  if (!agent || !grading) throw new Error('a view was not opened');
  const redactor = await hostRedactor({
    workspacePath: join(folder, 'agent'),
    files: [...tree.keys()],
    environment,
  });
  return { kind: 'views', agent, grading, redactor };
}

async function attemptIn(
  { agent, grading, redactor }: Views,
  request: TaskRequest,
  seriesId: string,
): Promise<TaskAttempt> {
  const { task, policy, budgets, rules, seed, sink, signal } = request;
  const visible = new Set(task.visible);
  const report = await runAttempt(
    {
      attemptId: newId(),
      seriesId,
      taskId: task.id,
      workspaceName: 'task',
      // Only what the agent can see, and so make pass.
      targets: task.targets.filter((id) => visible.has(id)),
      grade: agent.setup,
      baseline: agent.baseline,
      grading: { setup: grading.setup, baseline: grading.baseline, targets: task.targets },
      policy,
      budgets,
      rules,
      seed,
      redactor,
    },
    { sink, signal },
  );
  const { row, end, totals, effort, patch, durationMs } = report;
  return { row, end, totals, ...effort, patch, durationMs };
}

function notMade(end: AttemptEnd, durationMs: number): TaskAttempt {
  return {
    row: outcomeOf(end, undefined),
    end,
    totals: { turns: 0, promptTokens: 0, completionTokens: 0 },
    edits: 0,
    testRuns: 0,
    tries: 0,
    patch: '',
    durationMs,
  };
}

/** Another attempt may still need what is waited for: only this one stops. */
function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
