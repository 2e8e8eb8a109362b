import { z } from 'zod';
import { readResults } from '../../src/core/evaluation/results-file.ts';
import type { OnnxEngine } from '../../src/core/policies/onnx/engine.ts';
import type { TestRuns } from '../../src/core/tasks/rehearsal/memory-session.ts';
import { readTaskSet } from '../../src/core/tasks/task-set.ts';
import { type Budgets, budgetsSchema } from '../../src/core/trajectories/schema.ts';
import { measureFolder, resultsFile } from './evaluate.ts';

const NAME = 'pinned';

/**
 * Of `nano/record.json`: what the pinned tasks (`pinned-tasks.jsonl.gz`) came to, greedily. Sampling
 * nothing, the same machine gives the same; others round differently, hence the interval.
 */
export const pinnedSchema = z.object({
  pinned: z.object({
    budgets: budgetsSchema,
    /** 95 % interval of the number of solved tasks. */
    lowest: z.int().nonnegative(),
    highest: z.int().nonnegative(),
    /** Ids. */
    solved: z.array(z.string()),
  }),
});

/** Plays the pinned tasks once with the policy of a folder. */
export async function measurePinned(
  folder: string,
  tasksFile: string,
  options: {
    readonly budgets: Budgets;
    readonly testRuns: TestRuns;
    readonly work: string;
    readonly engine?: OnnxEngine;
  },
): Promise<z.output<typeof pinnedSchema>> {
  const { budgets, work } = options;
  const [figures] = await measureFolder({
    ...options,
    folder,
    name: NAME,
    splits: ['held-out'],
    samplings: [{ temperature: 0, attempts: 1 }],
    set: await readTaskSet(tasksFile),
    seed: 1,
  });
  const { passAt = [], tasks = 0 } = figures?.summary ?? {};
  const { low = 0, high = 0 } = passAt[0] ?? {};
  const { records } = await readResults(resultsFile(work, NAME, 'held-out', 0));
  return {
    pinned: {
      budgets,
      lowest: Math.floor(low * tasks),
      highest: Math.ceil(high * tasks),
      solved: records.filter(({ outcome }) => outcome === 'solved').map(({ task }) => task),
    },
  };
}
