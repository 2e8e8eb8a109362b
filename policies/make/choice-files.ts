import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestRuns } from '../../src/core/tasks/rehearsal/memory-session.ts';
import { decisionsOfRepairs, type RowOptions, readTokenizer, writeDecisions } from './decisions.ts';
import { mineFiles } from './mined.ts';
import type { PackageFile } from './package-code.ts';
import { say } from './process.ts';
import { makeRepairs } from './repairs.ts';
import type { NanoSettings, Phase } from './settings.ts';
import { trainingTasks } from './shard.ts';
import type { HeldOut } from './split.ts';
import { decisionsOfTasks } from './task-decisions.ts';

export interface ChoiceSources {
  readonly work: string;
  readonly settings: NanoSettings;
  readonly heldOut: HeldOut;
  /** Tasks that demonstrations were made of, which are not made again. */
  readonly known: Set<string>;
  readonly testRuns: TestRuns;
  readonly tokenizer: string;
  readonly shards: readonly string[];
  /** Of the demonstrations' phase, which the first phase of choices learns again. */
  readonly repairs: string;
  /** Files of real code, in the order in which functions are taken. */
  readonly code: () => AsyncIterable<PackageFile>;
  readonly chunks: () => Promise<readonly string[]>;
}

/** Files of the choices that a phase learns from. Each is made once and kept. */
export async function choiceFiles(
  phase: Phase,
  sources: ChoiceSources,
): Promise<readonly string[]> {
  const { work, settings, repairs } = sources;
  const ofTasks = join(work, 'choices-tasks.jsonl');
  if (!existsSync(ofTasks)) await writeTasks(ofTasks, sources);
  if (phase.variants === undefined) {
    const ofRepairs = join(work, 'choices-repairs.jsonl');
    if (phase.repairs && !existsSync(ofRepairs))
      await writeRepairs(ofRepairs, repairs, sources, {});
    return phase.repairs ? [ofTasks, ofRepairs] : [ofTasks];
  }
  const files: string[] = [];
  for (const first of phase.variants) {
    const file = join(work, `choices-repairs-${first}.jsonl`);
    files.push(file);
    if (existsSync(file)) continue;
    const made = join(work, `repairs-${first}.jsonl`);
    const counts = { first, variants: 1, edits: settings.repairs.edits };
    const chunks = await sources.chunks();
    await makeRepairs(sources.shards, chunks, made, counts, sources.heldOut.operators);
    await writeRepairs(file, made, sources, { everyRightEdit: true });
  }
  return [...files, ofTasks];
}

async function writeTasks(file: string, sources: ChoiceSources): Promise<void> {
  const { settings, heldOut, known, testRuns, tokenizer } = sources;
  const { tasks: count, seed, mined } = settings.decisions;
  const onProgress = (tasks: number) => say(`choices: ${tasks} tasks`);
  const from = { seed, settings, heldOut, known, onProgress };
  const templates = await mineFiles(sources.code(), mined.functions);
  say(`choices: ${templates.length} functions of real code`);
  const tasks = [
    ...(await trainingTasks({ ...from, count })),
    ...(await trainingTasks({ ...from, count: mined.tasks, templates })),
  ];
  const decisions = decisionsOfTasks(tasks, settings.decisions, testRuns);
  const options = rowOptions(settings, heldOut);
  const counts = await writeDecisions(decisions, file, await readTokenizer(tokenizer), options);
  say(`choices of tasks: ${JSON.stringify(counts)}`);
}

async function writeRepairs(
  file: string,
  repairs: string,
  { settings, heldOut, tokenizer }: ChoiceSources,
  more: Pick<RowOptions, 'everyRightEdit'>,
): Promise<void> {
  const options = { ...rowOptions(settings, heldOut), ...more };
  const decisions = decisionsOfRepairs(repairs);
  const counts = await writeDecisions(decisions, file, await readTokenizer(tokenizer), options);
  say(`choices of repairs: ${JSON.stringify(counts)}`);
}

/** The sets of choices that training and calibration read. */
export function rowOptions(
  { replies, training }: NanoSettings,
  { operators }: HeldOut,
): RowOptions {
  return { ...replies, leaveOut: operators, mostTokens: training.tokens_per_pack };
}
