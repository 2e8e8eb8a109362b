import { z } from 'zod';
import {
  MAX_ARCHIVE_BYTES,
  MAX_CONTENT_BYTES,
  MAX_SERIES_POINTS,
  MAX_UPLOAD_BYTES,
} from './limits.ts';
import {
  attemptIdSchema,
  cursorSchema,
  requestIdSchema,
  seriesNameSchema,
  sha256Schema,
  taskIdSchema,
} from './values.ts';

/** What a client says. The bytes of an upload come in binary frames, see `frame.ts`. */

/** The first message of a connection; the token stands here and never in an address. */
const helloSchema = z.strictObject({
  type: z.literal('hello'),
  versions: z.array(z.int().positive()).min(1).max(32),
  client: z.strictObject({ name: z.string().max(64), version: z.string().max(64) }),
  token: z.string().min(1).max(256),
});

/**
 * Announces a trajectory, or takes up one that was cut off: the answer is `upload.ready` with the
 * offset to go on from, or at once `upload.stored` or `upload.refused`.
 */
const uploadBeginSchema = z.strictObject({
  type: z.literal('upload.begin'),
  /** sha256 of the bytes that are sent; names the upload, on every connection. */
  upload: sha256Schema,
  /** How many they are. */
  bytes: z.int().positive().max(MAX_UPLOAD_BYTES),
  encoding: z.literal('gzip'),
  /** Of what they unpack to. */
  contentSha256: sha256Schema,
  contentBytes: z.int().positive().max(MAX_CONTENT_BYTES),
  attemptId: attemptIdSchema,
});

/**
 * Announces the files that an attempt had before it (`tar.gz`), or takes them up where they were cut off; since
 * version 2. The trajectory that names the task comes first. Answered like `upload.begin`, at the end by
 * `archive.stored`.
 */
const archiveBeginSchema = z.strictObject({
  type: z.literal('archive.begin'),
  /** sha256 of the bytes that are sent; names the upload, on every connection. */
  upload: sha256Schema,
  bytes: z.int().positive().max(MAX_ARCHIVE_BYTES),
  taskId: taskIdSchema,
  /** Files of the snapshot that are not in it: they are ignored, or hold secrets. */
  leftOut: z.int().nonnegative(),
});

/** Withdraws an upload that is not stored yet; what has arrived is deleted. */
const uploadCancelSchema = z.strictObject({
  type: z.literal('upload.cancel'),
  upload: sha256Schema,
});

/** One snapshot now. */
const statusGetSchema = z.strictObject({
  type: z.literal('status.get'),
  id: requestIdSchema,
});

/** Points after a cursor, oldest first. */
const seriesGetSchema = z.strictObject({
  type: z.literal('series.get'),
  id: requestIdSchema,
  name: seriesNameSchema,
  after: cursorSchema,
  limit: z.int().positive().max(MAX_SERIES_POINTS).optional(),
});

/** Announcements after a cursor, then each new one. */
const announcementsFollowSchema = z.strictObject({
  type: z.literal('announcements.follow'),
  id: requestIdSchema,
  after: cursorSchema,
});

/** For admins. A paused server takes no uploads; it stays so over a restart. */
const controlSchema = z.strictObject({
  type: z.literal('control'),
  id: requestIdSchema,
  action: z.enum(['pause', 'resume']),
  reason: z.string().max(500).optional(),
});

export const clientMessageSchema = z.discriminatedUnion('type', [
  helloSchema,
  uploadBeginSchema,
  archiveBeginSchema,
  uploadCancelSchema,
  statusGetSchema,
  seriesGetSchema,
  announcementsFollowSchema,
  controlSchema,
]);

export type ClientMessage = z.infer<typeof clientMessageSchema>;
export type UploadBegin = z.infer<typeof uploadBeginSchema>;
export type ArchiveBegin = z.infer<typeof archiveBeginSchema>;
