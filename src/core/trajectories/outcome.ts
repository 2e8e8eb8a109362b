import { z } from 'zod';

/** How an attempt ended (agent/outcomes.ts), as it stands in records, results and messages. */
export const outcomeSchema = z.enum([
  'solved',
  'solved_with_test_changes',
  'failed',
  'invalid_tool_call',
  'out_of_budget',
  'invalid',
]);

/** null: the attempt is invalid, so nothing is known of what it tried. */
export const rewardSchema = z.union([z.literal(0), z.literal(1), z.null()]);
