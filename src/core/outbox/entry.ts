import { z } from 'zod';
import { wireErrorSchema } from '../protocol/errors.ts';
import { attemptIdSchema, sha256Schema, taskIdSchema } from '../protocol/values.ts';

/** The files that the attempt had before it. They follow its record, to the same server. */
const entryFilesSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('waiting'),
    /** Of the archive, which lies beside the record. */
    sha256: sha256Schema,
    bytes: z.int().positive(),
    taskId: taskIdSchema,
    leftOut: z.int().nonnegative(),
    lastError: wireErrorSchema.optional(),
  }),
  z.strictObject({ kind: z.literal('sent'), at: z.iso.datetime(), sha256: sha256Schema }),
  z.strictObject({ kind: z.literal('refused'), at: z.iso.datetime(), error: wireErrorSchema }),
  /** None go, and why. */
  z.strictObject({ kind: z.literal('none'), reason: z.string() }),
]);
export type EntryFiles = z.infer<typeof entryFilesSchema>;

/** What is on its way to a training server: the bytes are in a file beside it. */
export const outboxEntrySchema = z.strictObject({
  version: z.literal(1),
  attemptId: attemptIdSchema,
  /** Hash of the path of the workspace whose consent put it here. */
  workspace: z.string().regex(/^[0-9a-f]{16}$/),
  /** sha256 of the packed bytes. */
  upload: sha256Schema,
  bytes: z.int().positive(),
  contentSha256: sha256Schema,
  contentBytes: z.int().positive(),
  queuedAt: z.iso.datetime(),
  /** Not there: nobody has allowed files yet, or there was no room for them. */
  files: entryFilesSchema.optional(),
  state: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('waiting'), lastError: wireErrorSchema.optional() }),
    /** Acknowledged; the bytes are gone from here. */
    z.strictObject({ kind: z.literal('sent'), at: z.iso.datetime(), serverId: z.string() }),
    /** It would be refused again. */
    z.strictObject({ kind: z.literal('refused'), at: z.iso.datetime(), error: wireErrorSchema }),
    /** By the user; the bytes are gone from here. */
    z.strictObject({ kind: z.literal('withdrawn'), at: z.iso.datetime() }),
  ]),
});

export type OutboxEntry = z.infer<typeof outboxEntrySchema>;
