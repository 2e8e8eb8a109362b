import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { evaluate } from '../../src/core/evaluation/evaluate.ts';
import {
  type AttemptRecord,
  differences,
  type EvaluationHeader,
  evaluationHeader,
  openResults,
  readResults,
  taskSetHash,
} from '../../src/core/evaluation/results-file.ts';
import { type EvaluationSummary, summarise } from '../../src/core/evaluation/summary.ts';
import { currentScaffoldHash } from '../../src/core/fix/scaffold.ts';
import { AGENT_VERSION } from '../../src/core/fix/version.ts';
import {
  createEditSearchPolicy,
  ONE_BY_ONE,
} from '../../src/core/policies/edit-search/edit-search.ts';
import type { OnnxEngine } from '../../src/core/policies/onnx/engine.ts';
import { createOnnxPolicy } from '../../src/core/policies/onnx/onnx-policy.ts';
import type { Policy } from '../../src/core/policies/policy.ts';
import type { TestRuns } from '../../src/core/tasks/rehearsal/memory-session.ts';
import { rehearsalRunner } from '../../src/core/tasks/rehearsal/rehearse.ts';
import type { SplitName } from '../../src/core/tasks/split.ts';
import type { TaskSet } from '../../src/core/tasks/task-set.ts';
import type { Budgets } from '../../src/core/trajectories/schema.ts';
import { say } from './process.ts';
import type { NanoSettings } from './settings.ts';
import { tasksOf } from './split.ts';

export interface MeasureOptions {
  readonly policy: Policy;
  readonly set: TaskSet;
  readonly split: SplitName | 'all';
  /** The first so many tasks in the order of their ids, which is no order at all; default all. */
  readonly limit?: number;
  readonly attempts: number;
  readonly budgets: Budgets;
  readonly seed: number;
  readonly testRuns: TestRuns;
  /** Results, JSON Lines; an interrupted evaluation goes on there. */
  readonly file: string;
  readonly onProgress?: (done: number, of: number, solved: number) => void;
}

/** Attempts so many at a time: the policy decodes them together. */
const PARALLEL = 64;

/** Measures a policy on generated tasks in rehearsals. */
export async function measure(options: MeasureOptions): Promise<EvaluationSummary> {
  const { policy, set, split, attempts, budgets, seed, file } = options;
  const tasks = [...tasksOf(set, split)]
    .sort((a, b) => (a.task.id < b.task.id ? -1 : 1))
    .slice(0, options.limit);
  const header = evaluationHeader({
    agentVersion: AGENT_VERSION,
    policy: policy.description,
    scaffoldHash: currentScaffoldHash(),
    tasks: { hash: taskSetHash(tasks.map(({ task }) => task.id)), count: tasks.length, split },
    settings: { attempts, seed, rules: 'strict', budgets, sandbox: 'none' },
  });
  await removeOther(file, header);
  const writer = await openResults(file, header);
  try {
    await evaluate({
      tasks,
      policy,
      attempts,
      parallel: PARALLEL,
      seed,
      budgets,
      rules: 'strict',
      runner: rehearsalRunner(options.testRuns),
      signal: new AbortController().signal,
      done: writer.done,
      onRecord: (record: AttemptRecord) => writer.append(record),
      onProgress: ({ done, of, solved }) => options.onProgress?.(done, of, solved),
    });
  } finally {
    await writer.close();
  }
  return summarise(await readResults(file));
}

/** Results of another policy, of other tasks or settings: they are measured anew. */
async function removeOther(file: string, header: EvaluationHeader): Promise<void> {
  if (!existsSync(file)) return;
  const same = await readResults(file).then(
    (before) => differences(before.header, header).length === 0,
    () => false,
  );
  if (!same) await rm(file);
}

export interface PartsOptions
  extends Omit<MeasureOptions, 'policy' | 'split' | 'attempts' | 'file' | 'onProgress'> {
  /** Names the files of results and what is said. */
  readonly name: string;
  readonly splits: readonly (SplitName | 'all')[];
  readonly samplings: NanoSettings['measured']['samplings'];
  readonly work: string;
}

export interface FolderOptions extends PartsOptions {
  readonly folder: string;
  readonly engine?: OnnxEngine;
}

export interface PartFigures {
  readonly split: SplitName | 'all';
  readonly temperature: number;
  readonly summary: EvaluationSummary;
}

/** Where the attempts of one part at one temperature are left. */
export function resultsFile(
  work: string,
  name: string,
  split: SplitName | 'all',
  temperature: number,
): string {
  return join(work, `${name}-${split}-${temperature}.jsonl`);
}

/** Measures the policy of a folder at every temperature on every part. */
export async function measureFolder(options: FolderOptions): Promise<readonly PartFigures[]> {
  const { folder, engine, samplings } = options;
  const figures: PartFigures[] = [];
  for (const sampled of samplings) {
    const sampling = { temperature: sampled.temperature, topP: 1, topK: -1 };
    const scaffoldHash = currentScaffoldHash();
    const opened = await createOnnxPolicy({ folder, scaffoldHash, sampling, engine });
    if (opened.kind === 'problem') throw new Error(`${opened.reason} ${opened.remedy}`);
    try {
      figures.push(...(await measureParts(options, opened.policy, sampled)));
    } finally {
      await opened.policy.close();
    }
  }
  return figures;
}

/**
 * What nano has to beat: edit-search, one edit at a time, with as many attempts and tries. It has no
 * temperature; the seeds of its attempts spread its order.
 */
export async function measureEditSearch(options: PartsOptions): Promise<readonly PartFigures[]> {
  const figures: PartFigures[] = [];
  for (const sampled of options.samplings) {
    figures.push(...(await measureParts(options, createEditSearchPolicy(ONE_BY_ONE), sampled)));
  }
  return figures;
}

async function measureParts(
  { name, work, ...rest }: PartsOptions,
  policy: Policy,
  {
    temperature,
    attempts,
    limit = rest.limit,
    splits = rest.splits,
  }: PartsOptions['samplings'][number],
): Promise<readonly PartFigures[]> {
  const figures: PartFigures[] = [];
  for (const split of splits) {
    const file = resultsFile(work, name, split, temperature);
    const summary = await measure({ ...rest, limit, policy, split, attempts, file });
    figures.push({ split, temperature, summary });
    const share = ((summary.passAt[0]?.value ?? 0) * 100).toFixed(1);
    say(
      `${name}, ${split} at temperature ${temperature}: pass@1 ${share} % of ${summary.tasks} tasks`,
    );
  }
  return figures;
}
