import { z } from 'zod';
import { outcomeSchema, rewardSchema } from './outcome.ts';
import type { EndLine, HeaderLine } from './schema.ts';

/** One line of the index: what a list shows, without opening the record. */
export const summarySchema = z.strictObject({
  type: z.literal('attempt'),
  version: z.literal(1),
  attemptId: z.string(),
  seriesId: z.string(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  workspaceName: z.string(),
  framework: z.string(),
  targets: z.array(z.string()),
  policy: z.string(),
  /** `unfinished`: cut off, or still going on. `damaged`: cannot be read; `reason` says why. */
  outcome: z.enum([...outcomeSchema.options, 'unfinished', 'damaged']),
  reward: rewardSchema,
  reason: z.string(),
  turns: z.int().nonnegative(),
  localOnly: z.boolean(),
});

export type AttemptSummary = z.infer<typeof summarySchema>;

export function summaryOf(
  header: HeaderLine,
  turns: number,
  end: EndLine | undefined,
): AttemptSummary {
  return {
    type: 'attempt',
    version: 1,
    attemptId: header.attemptId,
    seriesId: header.seriesId,
    startedAt: header.startedAt,
    endedAt: end?.endedAt ?? null,
    workspaceName: header.task.workspaceName,
    framework: header.task.framework,
    targets: header.task.targets,
    policy: header.policy.label,
    outcome: end?.outcome ?? 'unfinished',
    reward: end?.reward ?? null,
    reason: end?.reason ?? 'the attempt has no end: it was cut off, or is still going on',
    turns,
    localOnly: end?.localOnly ?? false,
  };
}

/** What can be said of a record that cannot be read. */
export function damagedSummary(attemptId: string, reason: string): AttemptSummary {
  return {
    type: 'attempt',
    version: 1,
    attemptId,
    seriesId: '',
    startedAt: '',
    endedAt: null,
    workspaceName: '',
    framework: '',
    targets: [],
    policy: '',
    outcome: 'damaged',
    reward: null,
    reason,
    turns: 0,
    localOnly: true,
  };
}
