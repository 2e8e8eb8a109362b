import { z } from 'zod';
import { outcomeSchema, rewardSchema } from './outcome.ts';

/**
 * A trajectory: the record of one attempt, JSON Lines. The first line is the header, then one line
 * per turn as it happens, last the end. A file without an end is an attempt that was cut off.
 * Readers accept older minor versions; a new major version needs a migration.
 */
export const TRAJECTORY_VERSION = '1.2';

const tokenIds = z.array(z.int().nonnegative());

export const sampledTokensSchema = z
  .strictObject({
    promptIds: tokenIds,
    sampledIds: tokenIds,
    /** Natural logarithms, one per sampled id. */
    logprobs: z.array(z.number()),
    /** Where the reply was drawn from a set: what else could have come, at each place with a choice. */
    choices: z
      .array(
        z.strictObject({
          at: z.int().nonnegative(),
          ids: tokenIds.min(2),
          bias: z.array(z.number()),
        }),
      )
      .optional(),
  })
  .refine((tokens) => tokens.sampledIds.length === tokens.logprobs.length, {
    message: 'sampledIds and logprobs must have the same length',
  })
  .refine(
    ({ choices = [], sampledIds }) =>
      choices.every(
        ({ at, ids, bias }, index) =>
          ids.length === bias.length &&
          ids.includes(sampledIds[at] ?? -1) &&
          at > (choices[index - 1]?.at ?? -1),
      ),
    {
      message: 'each of choices must hold the sampled id, with one bias per id, in ascending order',
    },
  );

export const toolCallSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});

export const callFormSchema = z.enum([
  'native',
  'hermes',
  'xml',
  'fence',
  'json',
  'tools-tag',
  'nano',
  'none',
]);

export const messageSchema = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: z.string() }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string(),
    reasoning: z.string().optional(),
    calls: z.array(toolCallSchema),
    callForm: callFormSchema,
  }),
  z.strictObject({
    role: z.literal('tool'),
    callId: z.string(),
    name: z.string(),
    content: z.string(),
  }),
]);

const usageSchema = z.strictObject({
  promptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  cost: z.number().nonnegative().optional(),
  /** The endpoint gave no counts: these are estimated from the length of the text. */
  estimated: z.boolean().optional(),
});

const detailSchema = z.strictObject({
  exitCode: z.int().optional(),
  timedOut: z.boolean().optional(),
  changed: z.array(z.string()).optional(),
  tests: z.strictObject({ passed: z.int(), failed: z.int(), other: z.int() }).optional(),
});

export const policyDescriptionSchema = z.strictObject({
  kind: z.enum(['openai', 'onnx', 'edit-search', 'scripted']),
  label: z.string(),
  model: z.string(),
  version: z.string().optional(),
  hash: z.string().optional(),
  scaffoldHash: z.string().optional(),
  contextTokens: z.int().optional(),
  sampling: z.strictObject({ temperature: z.number(), topP: z.number(), topK: z.int() }),
});

export const budgetsSchema = z.strictObject({
  turns: z.int().positive(),
  contextTokens: z.int().positive(),
  generatedTokens: z.int().positive(),
  replyTokens: z.int().positive(),
  timeMs: z.int().positive(),
  /** States of the files that may be tested or handed in (agent/tries.ts); without it: any number. */
  tries: z.int().positive().optional(),
});

export const headerLineSchema = z.strictObject({
  type: z.literal('header'),
  version: z.string(),
  attemptId: z.string(),
  /** Attempts at the same task in the same command. */
  seriesId: z.string(),
  startedAt: z.iso.datetime(),
  agent: z.strictObject({ name: z.literal('prime-agent'), version: z.string() }),
  policy: policyDescriptionSchema,
  /** sha256 over system prompt, tool schemas and observation templates. */
  scaffoldHash: z.string(),
  /** Strict: a malformed call ends the attempt (training). Lenient: it is answered (interactive). */
  rules: z.enum(['strict', 'lenient']),
  seed: z.int().nonnegative(),
  sandbox: z.enum(['local', 'docker', 'none']),
  budgets: budgetsSchema,
  task: z.strictObject({
    /** Hash of snapshot, framework, targets. */
    id: z.string(),
    framework: z.string(),
    targets: z.array(z.string()),
    snapshotId: z.string(),
    /** Last part of the workspace's path, redacted. */
    workspaceName: z.string(),
  }),
  /** The messages before the first turn. */
  messages: z.array(messageSchema),
});

export const turnLineSchema = z.strictObject({
  type: z.literal('turn'),
  index: z.int().nonnegative(),
  startedAt: z.iso.datetime(),
  reply: z.strictObject({
    content: z.string(),
    reasoning: z.string().optional(),
    calls: z.array(toolCallSchema),
    callForm: callFormSchema,
    malformed: z.array(z.strictObject({ reason: z.string(), text: z.string() })),
    finish: z.enum(['stop', 'length']),
    usage: usageSchema,
    /** Lenient reading only: what had to be repaired in the calls. */
    repairs: z.array(z.string()).optional(),
    /** Why there are no token ids although the policy was asked for them. */
    tokensMissing: z.string().optional(),
    tokens: sampledTokensSchema.optional(),
  }),
  observations: z.array(
    z.strictObject({
      callId: z.string(),
      name: z.string(),
      ok: z.boolean(),
      content: z.string(),
      detail: detailSchema.optional(),
      durationMs: z.number().nonnegative(),
    }),
  ),
  /** User message with which a reply without a call was answered. */
  nudge: z.string().optional(),
  policyMs: z.number().nonnegative(),
});

export const endLineSchema = z.strictObject({
  type: z.literal('end'),
  endedAt: z.iso.datetime(),
  end: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('submitted') }),
    z.strictObject({ kind: z.literal('invalid_tool_call'), reason: z.string() }),
    z.strictObject({
      kind: z.literal('budget'),
      budget: z.enum([
        'turns',
        'context_tokens',
        'generated_tokens',
        'time',
        'reply',
        'no_call',
        'tries',
      ]),
    }),
    z.strictObject({ kind: z.literal('cancelled') }),
    z.strictObject({
      kind: z.literal('infrastructure'),
      reason: z.string(),
      remedy: z.string().optional(),
    }),
  ]),
  outcome: outcomeSchema,
  reward: rewardSchema,
  reason: z.string(),
  /** Unified diff with binary parts; empty when nothing changed. */
  patch: z.string(),
  /** Redaction changed the patch: it can be read, but may not apply any more. */
  patchRedacted: z.boolean().optional(),
  /** Plain words: what was wrong and what changed. */
  summary: z.string(),
  /** Why this attempt must not be trained on, beyond the outcome table (flags of grading). */
  flags: z.array(z.string()),
  /** Lenient rules were used: a malformed call was answered. Such an attempt never joins a group. */
  leniencyUsed: z.boolean(),
  /** A secret was found in a sampled turn: never uploaded. */
  localOnly: z.boolean(),
  totals: z.strictObject({
    turns: z.int(),
    promptTokens: z.int(),
    completionTokens: z.int(),
    cost: z.number().optional(),
    durationMs: z.number(),
  }),
});

export const trajectoryLineSchema = z.discriminatedUnion('type', [
  headerLineSchema,
  turnLineSchema,
  endLineSchema,
]);

export type HeaderLine = z.infer<typeof headerLineSchema>;
export type TurnLine = z.infer<typeof turnLineSchema>;
export type EndLine = z.infer<typeof endLineSchema>;
export type TrajectoryLine = z.infer<typeof trajectoryLineSchema>;
export type Budgets = z.infer<typeof budgetsSchema>;

/** Where records go. `append` resolves when the line is on its way to disk in order. */
export interface TrajectorySink {
  append(line: TrajectoryLine): Promise<void>;
}
