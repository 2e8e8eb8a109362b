import { z } from 'zod';
import { wireErrorSchema } from '../protocol/errors.ts';
import { attemptIdSchema, sha256Schema } from '../protocol/values.ts';

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
