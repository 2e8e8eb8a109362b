import { z } from 'zod';

/** What several messages have in common. */

export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, 'must be a sha256, 64 hex digits');

/** The same rule as for names of records on disk: neither a separator nor a leading dot. */
export const attemptIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/, "must be letters, digits, '_', '.', '-'");

/** Name of a task, as the header of a trajectory has it. */
export const taskIdSchema = z.string().min(1).max(256);

/** Pairs a question with its answer; chosen by who asks. */
export const requestIdSchema = z.string().min(1).max(64);

/** Position in something that only grows; 0 is before its first entry. */
export const cursorSchema = z.int().nonnegative();

export const seriesNameSchema = z.string().regex(/^[a-z][a-z0-9_.]{0,63}$/);

export const roleSchema = z.enum(['contributor', 'admin']);
export type Role = z.infer<typeof roleSchema>;

/** What became of the reward that a client claims. */
export const claimSchema = z.enum([
  /** Stored, not looked at yet. */
  'waiting',
  /** The server's own sandbox came to the same. */
  'holds',
  /** It came to something else. */
  'broken',
  /** It cannot be recomputed here; the reason is with it. Never trained on. */
  'unverifiable',
]);
export type Claim = z.infer<typeof claimSchema>;

export const serverStateSchema = z.enum(['running', 'paused']);
export type ServerState = z.infer<typeof serverStateSchema>;
