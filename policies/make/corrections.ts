import { createWriteStream } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { currentScaffoldHash } from '../../src/core/fix/scaffold.ts';
import { createOnnxPolicy } from '../../src/core/policies/onnx/onnx-policy.ts';
import type { Policy } from '../../src/core/policies/policy.ts';
import type { Conversation } from '../../src/core/tasks/demonstrations/demonstrate.ts';
import {
  DEMONSTRATION_OPTIONS,
  planDemonstration,
} from '../../src/core/tasks/demonstrations/plan.ts';
import { renameTask } from '../../src/core/tasks/demonstrations/rename.ts';
import { takeOver } from '../../src/core/tasks/demonstrations/take-over.ts';
import { createChance } from '../../src/core/tasks/random.ts';
import type { TestRuns } from '../../src/core/tasks/rehearsal/memory-session.ts';
import type { Task } from '../../src/core/tasks/task.ts';
import type { FileTree } from '../../src/core/tasks/tree.ts';
import type { NanoSettings } from './settings.ts';
import { trainingTasks } from './shard.ts';
import type { HeldOut } from './split.ts';

/** Attempts so many at a time: the policy decodes them together. */
const PARALLEL = 48;

export interface CorrectionsOptions {
  readonly settings: NanoSettings;
  /** From 0; each has tasks of its own. */
  readonly round: number;
  readonly heldOut: HeldOut;
  /** Ids of tasks that were made before; those of the new ones are added. */
  readonly known: Set<string>;
  readonly testRuns: TestRuns;
  readonly say: (text: string) => void;
}

/** Attempts that the policy of `folder` begins and the expert ends, written to `file` when all are there. */
export async function makeCorrections(
  file: string,
  folder: string,
  options: CorrectionsOptions,
): Promise<number> {
  const { settings, round, heldOut, known, testRuns, say } = options;
  const { tasks: count, perTask, attempts, temperatures } = settings.corrections;
  const seed = settings.corrections.seed + round;
  const tasks = await trainingTasks({
    count,
    seed,
    settings,
    heldOut,
    known,
    onProgress: (made) => say(`corrections: ${made} tasks`),
  });
  const jobs = tasks
    .flatMap((of) => Array.from({ length: perTask }, (_, at) => ({ ...of, at })))
    .slice(0, attempts);
  const policies = await Promise.all(temperatures.map((at) => open(folder, at)));
  const partial = `${file}.partial`;
  const out = createWriteStream(partial);
  let next = 0;
  let written = 0;
  const work = async (): Promise<void> => {
    for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
      if (next % 200 === 0) say(`corrections: ${next} of ${jobs.length} attempts, ${written} kept`);
      const line = await correct(job, policies, settings, heldOut, testRuns);
      if (line === undefined) continue;
      written += 1;
      out.write(`${line}\n`);
    }
  };
  try {
    await Promise.all(Array.from({ length: PARALLEL }, work));
  } finally {
    for (const policy of policies) await policy.close?.();
    await new Promise<void>((resolve) => out.end(resolve));
  }
  await rename(partial, file);
  return written;
}

async function open(folder: string, temperature: number): Promise<Policy> {
  const opened = await createOnnxPolicy({
    folder,
    scaffoldHash: currentScaffoldHash(),
    sampling: { temperature, topP: 1, topK: -1 },
  });
  if (opened.kind === 'problem') throw new Error(`${opened.reason} ${opened.remedy}`);
  return opened.policy;
}

async function correct(
  { task, tree, at }: { readonly task: Task; readonly tree: FileTree; readonly at: number },
  policies: readonly Policy[],
  settings: NanoSettings,
  heldOut: HeldOut,
  testRuns: TestRuns,
): Promise<string | undefined> {
  const chance = createChance('correction', task.id, at);
  const renamed = renameTask(task, tree, chance, chance.pick(settings.demonstrations.renamed));
  const plan = planDemonstration(renamed.task, renamed.tree, chance, {
    ...DEMONSTRATION_OPTIONS,
    heldOutOperators: heldOut.operators,
  });
  const policy = policies[at % policies.length];
  if (plan === undefined || policy === undefined) return;
  const made = await takeOver(
    `${task.id}-${at}`,
    renamed.task,
    renamed.tree,
    plan,
    { policy, seed: at, turns: chance.pick(settings.corrections.turns) },
    testRuns,
    new AbortController().signal,
  );
  if (made.kind === 'dropped') return;
  const line = JSON.stringify(made.conversation);
  return line.length > settings.corrections.mostCharacters ? undefined : line;
}

/** Every conversation so many times, each time under another id; those of a conversation must differ. */
export async function repeat(from: string, to: string, times: number): Promise<void> {
  const lines = (await readFile(from, 'utf8')).split('\n').filter((line) => line !== '');
  const rows = lines.map((line) => JSON.parse(line) as Conversation);
  const all = Array.from({ length: times }, (_, time) =>
    rows.map((row) => `${JSON.stringify({ ...row, id: `${row.id}-${time}` })}\n`),
  );
  await writeFile(to, all.flat().join(''));
}
