/**
 * Limits of both sides. What a server allows below them it says in its `welcome`; nothing that is read
 * from a connection may be larger, whatever the configuration says.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/** One text message, in bytes. */
export const MAX_MESSAGE_BYTES = 256 * KIB;

/** Payload of one binary frame. */
export const MAX_CHUNK_BYTES = 256 * KIB;

/** A chunk and what stands in front of it, see `frame.ts`. */
export const MAX_FRAME_BYTES = MAX_CHUNK_BYTES + 64;

/** A trajectory as it is sent (gzip). */
export const MAX_UPLOAD_BYTES = 16 * MIB;

/** A trajectory unpacked: JSON Lines. */
export const MAX_CONTENT_BYTES = 64 * MIB;

/** The files that an attempt had before it, as they are sent (tar, gzip). */
export const MAX_ARCHIVE_BYTES = 64 * MIB;

/** The same unpacked: a client packs no more, and a server unpacks no more. */
export const MAX_ARCHIVE_CONTENT_BYTES = 256 * MIB;

/** Uploads that one connection may have begun and not ended. */
export const MAX_OPEN_UPLOADS = 4;

/** Bytes that a client may be ahead of the last `upload.progress`, all its uploads together. */
export const UPLOAD_WINDOW_BYTES = 2 * MIB;

/** Messages that wait at the server for a client that does not read. */
export const MAX_WAITING_BYTES = 4 * MIB;

/** A connection that has said nothing valid by then is closed. */
export const HELLO_TIMEOUT_MS = 10_000;

/** The server pings so often … */
export const HEARTBEAT_MS = 20_000;

/** … and either side gives up a connection that was silent for so long. */
export const SILENCE_MS = 60_000;

/** In each such time an upload that is open must get on by `STALL_BYTES`, or to its end. */
export const STALL_MS = 60_000;
export const STALL_BYTES = 16 * KIB;

/** Points of one `series` message. */
export const MAX_SERIES_POINTS = 1_000;
