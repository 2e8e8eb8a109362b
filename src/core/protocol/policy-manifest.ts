import { z } from 'zod';
import { sha256Schema } from './values.ts';

/** What a policy version is, said once when it is published: `manifest.json` beside its files. */

/** Each part begins with a letter or a digit, so that no name leads out of the folder. */
const PART = '[A-Za-z0-9][A-Za-z0-9._-]{0,127}';
export const policyFileNameSchema = z
  .string()
  .max(512)
  .regex(new RegExp(`^${PART}(/${PART}){0,7}$`), 'must be a plain relative path');

export const policyVersionSchema = z.int().positive();

export const policyManifestSchema = z
  .strictObject({
    format: z.literal(1),
    version: policyVersionSchema,
    /** The version that training went on from; null: the first one. */
    parent: policyVersionSchema.nullable(),
    createdAt: z.iso.datetime(),
    scaffoldHash: z.string(),
    files: z
      .array(
        z.strictObject({
          name: policyFileNameSchema,
          bytes: z.int().nonnegative(),
          sha256: sha256Schema,
        }),
      )
      .min(1)
      .max(1_000),
    /** Data, settings, scores, as whoever published it gave them. */
    details: z.record(z.string(), z.json()),
  })
  .refine(({ files }) => new Set(files.map(({ name }) => name)).size === files.length, {
    message: 'files: a name stands there twice',
  });

export type PolicyManifest = z.infer<typeof policyManifestSchema>;
export type PolicyFile = PolicyManifest['files'][number];
