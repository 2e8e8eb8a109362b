import { z } from 'zod';
import { budgetsSchema } from '../../src/core/trajectories/schema.ts';

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
