import { z } from 'zod';

/** A path inside of the workspace, with forward slashes. */
const inside = z
  .string()
  .min(1)
  .regex(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\\\0]+$/, {
    error: 'must be a path inside of the workspace, with forward slashes and without “..”',
  });

const common = {
  /** Files and folders that decide the reward: a patch's changes to them do not count. */
  files: z.array(inside).default([]),
  timeoutSeconds: z.int().positive().max(3600).default(300),
};

/**
 * A reward of the user's own: 1 or 0, nothing between. `command`: its exit code, 0 is a reward of 1.
 * `module`: a JavaScript module with `reward(context)`, which returns true or false.
 */
export const rewardSpecSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('command'), command: z.string().trim().min(1), ...common }),
  z.strictObject({
    kind: z.literal('module'),
    path: inside.regex(/\.(?:mjs|js)$/, { error: 'must end with .mjs or .js (an ES module)' }),
    ...common,
  }),
]);

export type RewardSpec = z.output<typeof rewardSpecSchema>;

export type ReadSpec =
  | { readonly kind: 'spec'; readonly spec: RewardSpec }
  | { readonly kind: 'problem'; readonly reason: string; readonly remedy: string };

/** @param text JSON · @param name of the file, for messages */
export function readRewardSpec(text: string, name: string): ReadSpec {
  const remedy =
    'Write {"kind": "command", "command": "make check"} or {"kind": "module", "path": "reward.mjs"}; docs/custom-rewards.md shows all keys.';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    return { kind: 'problem', reason: `${name} is not JSON: ${what}.`, remedy };
  }
  const parsed = rewardSpecSchema.safeParse(value);
  if (parsed.success) return { kind: 'spec', spec: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue && issue.path.length > 0 ? ` at “${issue.path.join('.')}”` : '';
  return {
    kind: 'problem',
    reason: `${name} is not a reward${where}: ${issue?.message ?? 'unknown form'}.`,
    remedy,
  };
}
