import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { demonstrate } from '../../src/core/tasks/demonstrations/demonstrate.ts';
import {
  DEMONSTRATION_OPTIONS,
  planDemonstration,
} from '../../src/core/tasks/demonstrations/plan.ts';
import { renameTask } from '../../src/core/tasks/demonstrations/rename.ts';
import { generateTasks } from '../../src/core/tasks/generate/generate-tasks.ts';
import type { Template } from '../../src/core/tasks/generate/template.ts';
import { allTemplates } from '../../src/core/tasks/generate/templates/all.ts';
import { createChance } from '../../src/core/tasks/random.ts';
import type { TestRuns } from '../../src/core/tasks/rehearsal/memory-session.ts';
import type { Task } from '../../src/core/tasks/task.ts';
import type { FileTree } from '../../src/core/tasks/tree.ts';
import type { NanoSettings } from './settings.ts';
import { type HeldOut, mayTrain } from './split.ts';

export interface ShardCounts {
  readonly tasks: number;
  readonly demonstrations: number;
  readonly dropped: Readonly<Record<string, number>>;
}

/** Ids of the tasks that a file of demonstrations was made from. */
export async function tasksIn(file: string): Promise<readonly string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  const ids = lines.map((line) => (JSON.parse(line) as { readonly id: string }).id);
  return ids.map((id) => id.replace(/-\d+$/, ''));
}

/** Training tasks of one seed, and demonstrations of them, written to `file` when all are there. */
export async function makeShard(
  file: string,
  index: number,
  settings: NanoSettings,
  heldOut: HeldOut,
  testRuns: TestRuns,
  known: Set<string>,
  say: (text: string) => void,
): Promise<ShardCounts> {
  const { demonstrations } = settings;
  const dropped: Record<string, number> = {};
  const drop = (reason: string): void => {
    dropped[reason] = (dropped[reason] ?? 0) + 1;
  };
  const tasks = await trainingTasks({
    count: demonstrations.tasksPerShard,
    seed: demonstrations.firstSeed + index,
    settings,
    heldOut,
    known,
    drop,
    onProgress: (count) => say(`shard ${index}: ${count} tasks`),
  });
  const partial = `${file}.partial`;
  const out = createWriteStream(partial);
  let written = 0;
  for (const { task, tree } of tasks) {
    for (let variant = 0; variant < demonstrations.perTask; variant += 1) {
      const chance = createChance('demonstration', task.id, variant);
      const renamed = renameTask(task, tree, chance, chance.pick(demonstrations.renamed));
      const plan = planDemonstration(renamed.task, renamed.tree, chance, {
        ...DEMONSTRATION_OPTIONS,
        heldOutOperators: heldOut.operators,
      });
      if (plan === undefined) {
        drop('the fix cannot be written as one call');
        continue;
      }
      const id = `${task.id}-${variant}`;
      const { signal } = new AbortController();
      const made = await demonstrate(id, renamed.task, renamed.tree, plan, testRuns, signal);
      if (made.kind === 'dropped') {
        drop(made.reason);
        continue;
      }
      const line = JSON.stringify(made.conversation);
      if (line.length > demonstrations.mostCharacters) {
        drop('too long');
        continue;
      }
      written += 1;
      if (!out.write(`${line}\n`)) await once(out, 'drain');
    }
  }
  out.end();
  await once(out, 'close');
  await rename(partial, file);
  return { tasks: tasks.length, demonstrations: written, dropped };
}

export interface TrainingTasksOptions {
  readonly count: number;
  readonly seed: number;
  readonly settings: NanoSettings;
  readonly heldOut: HeldOut;
  /** Ids of tasks that were made before; those of the new ones are added. */
  readonly known: Set<string>;
  readonly drop?: (reason: string) => void;
  readonly onProgress: (count: number) => void;
  /** Instead of all that are not held out. */
  readonly templates?: readonly Template[];
}

/** At most `count` new tasks of families, operators and shapes that may be learnt from. */
export async function trainingTasks(
  options: TrainingTasksOptions,
): Promise<readonly { readonly task: Task; readonly tree: FileTree }[]> {
  const { count, seed, settings, heldOut, known, drop, onProgress } = options;
  const { noise, mostOfAShape } = settings.demonstrations;
  const { tasks, trees } = await generateTasks({
    count,
    seed,
    templates:
      options.templates ?? allTemplates.filter(({ family }) => !heldOut.families.has(family)),
    allows: (bug, source, path) => mayTrain(heldOut, bug, source, path),
    noise,
    mostOfAShape,
    onProgress,
  });
  const kept: { readonly task: Task; readonly tree: FileTree }[] = [];
  for (const task of tasks) {
    const tree = trees.get(task.tree);
    if (tree === undefined) continue;
    if ([task.shapes.original, task.shapes.bug].some((shape) => heldOut.shapes.has(shape))) {
      drop?.('the same normalised tree is held out');
    } else if (known.has(task.id)) {
      drop?.('made before');
    } else {
      known.add(task.id);
      kept.push({ task, tree });
    }
  }
  return kept;
}
