import { z } from 'zod';
import { wireErrorSchema } from './errors.ts';
import { MAX_SERIES_POINTS } from './limits.ts';
import {
  attemptIdSchema,
  claimSchema,
  cursorSchema,
  requestIdSchema,
  roleSchema,
  seriesNameSchema,
  serverStateSchema,
  sha256Schema,
  taskIdSchema,
} from './values.ts';

/** What a server says. */

const count = z.int().nonnegative();

const welcomeSchema = z.strictObject({
  type: z.literal('welcome'),
  version: z.int().positive(),
  server: z.strictObject({
    version: z.string(),
    /** Stays the same over restarts; another one means another server with other data. */
    id: z.string(),
  }),
  role: roleSchema,
  /** Name of the token, for people. */
  contributor: z.string(),
  limits: z.strictObject({
    uploadBytes: count,
    contentBytes: count,
    /** Since version 2. */
    archiveBytes: count.optional(),
    openUploads: count,
    windowBytes: count,
    chunkBytes: count,
  }),
  /** Of the newest announcement. */
  announcements: cursorSchema,
});

const uploadReadySchema = z.strictObject({
  type: z.literal('upload.ready'),
  upload: sha256Schema,
  /** Send from this byte on. */
  offset: count,
});

/** So many bytes have arrived: opens the window. They are not safe yet. */
const uploadProgressSchema = z.strictObject({
  type: z.literal('upload.progress'),
  upload: sha256Schema,
  offset: count,
});

/** The acknowledgement: content, name and entry have reached the disk. The client may forget it. */
const uploadStoredSchema = z.strictObject({
  type: z.literal('upload.stored'),
  upload: sha256Schema,
  attemptId: attemptIdSchema,
  /** It was here already. */
  duplicate: z.boolean(),
  claim: claimSchema,
});

/** The same for files of an attempt (`archive.begin`). */
const archiveStoredSchema = z.strictObject({
  type: z.literal('archive.stored'),
  upload: sha256Schema,
  taskId: taskIdSchema,
  duplicate: z.boolean(),
});

const uploadRefusedSchema = z.strictObject({
  type: z.literal('upload.refused'),
  upload: sha256Schema,
  error: wireErrorSchema,
});

export const statusSnapshotSchema = z.strictObject({
  at: z.iso.datetime(),
  state: serverStateSchema,
  reason: z.string().optional(),
  uptimeS: z.number().nonnegative(),
  connections: count,
  trajectories: z.strictObject({
    total: count,
    bytes: count,
    waiting: count,
    holds: count,
    broken: count,
    unverifiable: count,
  }),
  claims: z.strictObject({
    /** Wait for a task that the server does not have. */
    withoutTask: count,
    /** Contributors with claims that did not hold, and how many. */
    flagged: z.array(z.strictObject({ contributor: z.string(), count })),
  }),
  /** `missing`: nothing that contributors sent is run; it waits. */
  sandbox: z.strictObject({ state: z.enum(['unknown', 'working', 'missing']), detail: z.string() }),
  /** What the server does by itself; `detail`: why not, or what went wrong last. */
  work: z.strictObject({
    state: z.enum(['working', 'idle', 'resting']),
    detail: z.string(),
    running: count,
  }),
  tasks: z.strictObject({ new: count, admitted: count, refused: count }),
  rollouts: z.strictObject({
    policy: z.string().optional(),
    groupsOpen: count,
    groupsDone: count,
    groupsDropped: count,
    attempts: count,
    invalid: count,
  }),
});
export type StatusSnapshot = z.infer<typeof statusSnapshotSchema>;

const statusSchema = z.strictObject({
  type: z.literal('status'),
  id: requestIdSchema,
  snapshot: statusSnapshotSchema,
});

const seriesSchema = z.strictObject({
  type: z.literal('series'),
  id: requestIdSchema,
  name: seriesNameSchema,
  points: z
    .array(z.strictObject({ cursor: cursorSchema, at: z.iso.datetime(), value: z.number() }))
    .max(MAX_SERIES_POINTS),
  /** Ask again after this one. */
  next: cursorSchema,
  /** There are more now. */
  more: z.boolean(),
});

export const announcementSchema = z.strictObject({
  cursor: cursorSchema,
  at: z.iso.datetime(),
  kind: z.enum(['server', 'claim']),
  text: z.string().max(2_000),
});
export type Announcement = z.infer<typeof announcementSchema>;

const announcementMessageSchema = z.strictObject({
  type: z.literal('announcement'),
  id: requestIdSchema,
  announcement: announcementSchema,
});

const controlDoneSchema = z.strictObject({
  type: z.literal('control.done'),
  id: requestIdSchema,
  state: serverStateSchema,
});

/** Something failed and the connection goes on; `id` of the question, where there was one. */
const errorMessageSchema = z.strictObject({
  type: z.literal('error'),
  id: requestIdSchema.optional(),
  error: wireErrorSchema,
});

/** The last message before the server closes the connection. */
const goodbyeSchema = z.strictObject({ type: z.literal('goodbye'), error: wireErrorSchema });

export const serverMessageSchema = z.discriminatedUnion('type', [
  welcomeSchema,
  uploadReadySchema,
  uploadProgressSchema,
  uploadStoredSchema,
  archiveStoredSchema,
  uploadRefusedSchema,
  statusSchema,
  seriesSchema,
  announcementMessageSchema,
  controlDoneSchema,
  errorMessageSchema,
  goodbyeSchema,
]);

export type ServerMessage = z.infer<typeof serverMessageSchema>;
export type Welcome = z.infer<typeof welcomeSchema>;
