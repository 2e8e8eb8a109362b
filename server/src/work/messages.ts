import { z } from 'zod';
import type { GradeReport } from '../../../src/core/grading/types.ts';
import { outcomeSchema, rewardSchema } from '../../../src/core/trajectories/outcome.ts';
import { policyDescriptionSchema } from '../../../src/core/trajectories/schema.ts';
import { taskSpecSchema } from '../tasks/task-spec.ts';

/**
 * What the server and its workers say to each other, over the channel of the process. A worker runs
 * commands of contributors (in sandboxes) and knows neither the database nor any token.
 */

const gradeRunSchema = z.object({
  passed: z.boolean(),
  unsolved: z.array(z.object({ id: z.string(), status: z.string() })),
  broken: z.array(z.object({ id: z.string(), status: z.string() })),
  canaries: z.array(z.string()),
  explanation: z.string(),
});

export const gradeReportSchema: z.ZodType<GradeReport> = z.object({
  verdict: z.enum(['passed', 'passed_with_test_changes', 'failed']),
  strict: gradeRunSchema,
  asSubmitted: gradeRunSchema.optional(),
  reverted: z.array(z.string()),
  flags: z.array(
    z.object({
      rule: z.string(),
      file: z.string(),
      line: z.number().optional(),
      explanation: z.string(),
    }),
  ),
  durationMs: z.number(),
});

const taskSchema = z.object({
  id: z.string(),
  spec: taskSpecSchema,
  /** File with the archive of its tree. */
  archive: z.string(),
});
export type WorkTask = z.output<typeof taskSchema>;

const jobSchema = z.discriminatedUnion('kind', [
  /** Does a task of a file reproduce here? */
  z.object({ kind: z.literal('admit'), task: taskSchema }),
  /** What task is the snapshot of an attempt? */
  z.object({
    kind: z.literal('admit-archive'),
    archive: z.string(),
    framework: z.string(),
    targets: z.array(z.string()),
  }),
  /** What is a patch worth? */
  z.object({ kind: z.literal('grade'), task: taskSchema, patch: z.string() }),
  z.object({ kind: z.literal('describe-policy') }),
  z.object({
    kind: z.literal('rollout'),
    task: taskSchema,
    attemptId: z.string(),
    seriesId: z.string(),
    seed: z.int(),
    /** Where its record goes; the file must not exist. */
    record: z.string(),
  }),
]);
export type Job = z.output<typeof jobSchema>;

/** Nothing is known, since something of the machine is missing; later it may work. */
const problemSchema = z.object({
  kind: z.literal('problem'),
  reason: z.string(),
  remedy: z.string(),
});

const resultSchema = z.discriminatedUnion('kind', [
  problemSchema,
  z.object({ kind: z.literal('cancelled') }),
  z.object({ kind: z.literal('admitted') }),
  z.object({ kind: z.literal('archive-admitted'), spec: taskSpecSchema }),
  /** Asked again it would be the same. */
  z.object({ kind: z.literal('refused'), reason: z.string() }),
  z.object({ kind: z.literal('graded'), grade: gradeReportSchema }),
  z.object({
    kind: z.literal('policy'),
    policy: policyDescriptionSchema,
    scaffoldHash: z.string(),
  }),
  z.object({
    kind: z.literal('attempted'),
    policy: policyDescriptionSchema,
    scaffoldHash: z.string(),
    outcome: outcomeSchema,
    reward: rewardSchema,
    reason: z.string(),
    flags: z.array(z.string()),
  }),
]);
export type JobResult = z.output<typeof resultSchema>;

export const toWorkerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('job'), id: z.int(), job: jobSchema }),
  z.object({ type: z.literal('cancel'), id: z.int() }),
  z.object({ type: z.literal('grade.found'), id: z.int(), grade: gradeReportSchema.optional() }),
]);
export type ToWorker = z.output<typeof toWorkerSchema>;

export const fromWorkerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  /** Its event loop turns. */
  z.object({ type: z.literal('beat') }),
  z.object({ type: z.literal('grade.find'), id: z.int(), key: z.string() }),
  z.object({ type: z.literal('grade.keep'), key: z.string(), grade: gradeReportSchema }),
  z.object({ type: z.literal('done'), id: z.int(), result: resultSchema }),
]);
export type FromWorker = z.output<typeof fromWorkerSchema>;

/** How a worker is set up; its one argument, as JSON. */
export const workerSettingsSchema = z.object({
  sandbox: z.object({
    kind: z.enum(['auto', 'local', 'docker']),
    image: z.string().optional(),
    setupNetwork: z.string(),
  }),
  policy: z
    .object({
      use: z.string(),
      model: z.string().optional(),
      temperature: z.number().optional(),
    })
    .optional(),
  /** Its snapshots, layers and temporary files. */
  folder: z.string(),
  testTimeoutMs: z.int(),
  attemptMs: z.int(),
  niceness: z.int(),
  /** Tasks that stay open besides those in use. */
  idle: z.int(),
  beatMs: z.int(),
});
export type WorkerSettings = z.output<typeof workerSettingsSchema>;
