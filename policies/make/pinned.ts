import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readResults } from '../../src/core/evaluation/results-file.ts';
import { currentScaffoldHash } from '../../src/core/fix/scaffold.ts';
import { createOnnxPolicy } from '../../src/core/policies/onnx/onnx-policy.ts';
import type { TestRuns } from '../../src/core/tasks/rehearsal/memory-session.ts';
import { readTaskSet } from '../../src/core/tasks/task-set.ts';
import { type Budgets, budgetsSchema } from '../../src/core/trajectories/schema.ts';
import { measure } from './evaluate.ts';

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
  options: { readonly budgets: Budgets; readonly testRuns: TestRuns; readonly work: string },
): Promise<z.output<typeof pinnedSchema>> {
  const { budgets, testRuns, work } = options;
  const opened = await createOnnxPolicy({
    folder,
    scaffoldHash: currentScaffoldHash(),
    sampling: { temperature: 0, topP: 1, topK: -1 },
  });
  if (opened.kind === 'problem') throw new Error(`${opened.reason} ${opened.remedy}`);
  const file = join(work, 'results-pinned.jsonl');
  await rm(file, { force: true });
  try {
    const set = await readTaskSet(tasksFile);
    const rest = { attempts: 1, budgets, seed: 1, testRuns, file };
    const { passAt, tasks } = await measure({ policy: opened.policy, set, split: 'all', ...rest });
    const { low = 0, high = 0 } = passAt[0] ?? {};
    const { records } = await readResults(file);
    return {
      pinned: {
        budgets,
        lowest: Math.floor(low * tasks),
        highest: Math.ceil(high * tasks),
        solved: records.filter(({ outcome }) => outcome === 'solved').map(({ task }) => task),
      },
    };
  } finally {
    await opened.policy.close();
  }
}
