import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { stateFolder } from '../../../src/core/platform/state-folder.ts';
import { packageFolder } from '../../../src/core/policies/onnx/worker-file.ts';
import { removeTree, scratchInUse } from '../../../src/core/sandbox/scratch.ts';
import type { ServerConfig } from '../config.ts';
import type { DataFolders } from '../folders.ts';
import { createRolloutSource } from '../rollouts/rollout-source.ts';
import { type BlobStore, createBlobStore } from '../store/blobs.ts';
import { createClaims } from '../store/claims.ts';
import type { Db } from '../store/database.ts';
import { createGradeCache } from '../store/grades.ts';
import type { Meta } from '../store/meta.ts';
import { createRolloutTable } from '../store/rollouts.ts';
import { createTaskTable } from '../store/tasks.ts';
import { createWorkCounts } from '../store/work-counts.ts';
import { createSnapshotSource, createTaskSource } from './admission-source.ts';
import { type Power, readPower } from './battery.ts';
import { mayStartAnother, parallelJobs } from './capacity.ts';
import { createClaimSource } from './claim-source.ts';
import { createDispatcher } from './dispatcher.ts';
import { createPool } from './pool.ts';
import { type Rest, restOf } from './rest.ts';
import { watchSandbox } from './sandbox-watch.ts';
import { deadlinesOf } from './source.ts';
import { type WorkStatus, workStatus } from './status.ts';

export interface Work {
  status(): WorkStatus;
  sandbox(): WorkStatus['sandbox']['state'];
  /** Something has come, or an admin has paused or resumed. */
  wake(): void;
  close(): Promise<void>;
}

export interface WorkParts {
  readonly config: ServerConfig;
  readonly folders: DataFolders;
  readonly db: Db;
  readonly meta: Meta;
  readonly blobs: BlobStore;
  readonly log: Logger;
  readonly announce: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Program of the workers; default: the one of this package. */
  readonly workerFile: string | undefined;
}

/** How often battery and user are looked at. */
const SIGNS_MS = 5_000;
const COUNT_MS = 1_000;

/** What the server does by itself: re-grading, admission of tasks, rollouts. */
export function startWork(parts: WorkParts): Work {
  const { config, folders, db, meta, blobs, log, env } = parts;
  const { work, sandbox, policy, rollouts: rolloutConfig, timing } = config;
  const run = join(folders.work, `run-${randomUUID()}`);
  const records = join(run, 'records');
  mkdirSync(records, { recursive: true, mode: 0o700 });
  // What a server before left behind when it was killed; its workers end by themselves.
  const tidied = removeOthers(folders.work, run);

  const rollouts = createRolloutTable(db);
  const released = rollouts.releaseAll();
  if (released > 0) log.info({ released }, 'attempts of the server before are taken up again');
  const trees = createBlobStore(folders.trees);
  const [tasks, claims, counts] = [createTaskTable(db), createClaims(db), createWorkCounts(db)];
  const testTimeoutMs = work.testTimeoutS * 1_000;
  const attemptMs = rolloutConfig.attemptMinutes * 60_000;
  const setupMs = sandbox.kind === 'docker' ? work.setupMinutes * 60_000 : 0;
  const deadlines = deadlinesOf({ testTimeoutMs, attemptMs, setupMs });
  const memoryBytesPerJob = work.memoryMbPerJob * 1024 ** 2;
  const machine = { cores: availableParallelism(), memoryBytes: totalmem() };
  const parallel = parallelJobs(machine, { parallel: work.parallel, memoryBytesPerJob });

  const watch = watchSandbox({
    ...{ kind: sandbox.kind, image: sandbox.image, env, log },
    stateDir: join(run, 'state'),
    againMs: timing.retryMs,
    onChange: () => dispatcher.wake(),
  });
  const noSandbox = (): string | undefined => {
    const now = watch.state();
    if (now.state === 'unknown') return 'the sandbox is being tried';
    return now.state === 'missing' ? now.reason : undefined;
  };
  let power: Power = 'unknown';
  let userBusy = false;
  const rest = (): Rest =>
    restOf({ state: meta.state(), power, userBusy }, { ...work, onBattery: work.onBattery });
  const look = async (): Promise<void> => {
    power = await readPower();
    userBusy = work.yieldToUser && (await scratchInUse(stateFolder(env)));
  };
  let looking: Promise<void> = look().catch(() => undefined);
  const signs = setInterval(() => {
    looking = look().then(
      () => dispatcher.wake(),
      () => undefined,
    );
  }, SIGNS_MS);

  const pool = createPool({
    file: parts.workerFile ?? join(packageFolder(), 'dist', 'server-worker.js'),
    ...{ env, log, folder: run, parallel, workers: Math.min(work.workers, parallel) },
    memoryMb: work.memoryMbPerJob * Math.ceil(parallel / work.workers),
    silenceMs: timing.workerSilenceMs,
    grades: createGradeCache(db),
    settings: {
      ...{ sandbox, testTimeoutMs, attemptMs, niceness: work.niceness },
      ...(policy && { policy }),
      beatMs: Math.max(50, Math.floor(timing.workerSilenceMs / 5)),
    },
    onFree: () => dispatcher.wake(),
  });
  const common = { tasks, blobs, trees, deadlines, log };
  const claimSource = createClaimSource({ ...common, claims, announce: parts.announce });
  const snapshotSource = createSnapshotSource(common);
  const wantedSource = createTaskSource(common, tasks.wantedTasks);
  const taskSource = createTaskSource(common, tasks.newTasks);
  const rolloutSource = createRolloutSource({
    ...common,
    ...{ rollouts, records, incoming: folders.incoming },
    groupSize: rolloutConfig.groupSize,
    groupsAhead: rolloutConfig.groupsAhead,
    retryMs: timing.retryMs,
  });
  const dispatcher = createDispatcher({
    ...{ pool, rest, noSandbox, log, retryMs: timing.retryMs },
    sources: () => {
      // What people sent comes first; tasks of files are tried when the attempts need new ones.
      const sent = [claimSource, snapshotSource, wantedSource];
      if (!policy) return [...sent, taskSource];
      return rolloutSource.needsTasks() && taskSource.trying === 0
        ? [...sent, taskSource, rolloutSource]
        : [...sent, rolloutSource, taskSource];
    },
    mayStartAnother: (running) => mayStartAnother(running, freemem(), memoryBytesPerJob),
  });
  dispatcher.wake();
  const withoutTask = remembered(COUNT_MS, () => claims.withoutTask());

  return {
    status: () =>
      workStatus({
        ...{ counts: counts(), broken: claims.broken(), sandbox: watch.state(), rest: rest() },
        withoutTask: withoutTask(),
        running: dispatcher.running,
        problem: dispatcher.problem(),
        policy: policy ? rolloutSource.policy() : undefined,
        idle: rolloutSource.idle(),
      }),
    sandbox: () => watch.state().state,
    wake: () => dispatcher.wake(),
    async close() {
      clearInterval(signs);
      await Promise.all([looking, tidied]);
      await watch.close();
      await dispatcher.close();
      // A worker of a server that was killed may have made its folder again after this one began.
      await removeOthers(folders.work, undefined);
    },
  };
}

/** What takes its time with a million trajectories, and need not be of this very moment. */
function remembered<Value>(ms: number, ask: () => Value): () => Value {
  let last: { readonly value: Value; readonly at: number } | undefined;
  return () => {
    if (!last || performance.now() - last.at > ms) last = { value: ask(), at: performance.now() };
    return last.value;
  };
}

async function removeOthers(folder: string, own: string | undefined): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (path !== own && name.startsWith('run-')) await removeTree(path).catch(() => undefined);
  }
}
