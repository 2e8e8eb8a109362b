import { z } from 'zod';

/**
 * Every error that crosses the wire.
 * - `retry`: `never` (the same again fails again), `later` (on this connection, after a while),
 *   `reconnect` (the connection is closed; a new one may work).
 * - `http`: status of the same error over HTTP.
 */
const TABLE = {
  bad_message: { retry: 'never', http: 400 },
  unsupported_version: { retry: 'never', http: 400 },
  unauthorized: { retry: 'never', http: 401 },
  forbidden: { retry: 'never', http: 403 },
  not_found: { retry: 'never', http: 404 },
  rate_limited: { retry: 'later', http: 429 },
  too_large: { retry: 'never', http: 413 },
  too_many_uploads: { retry: 'later', http: 429 },
  bad_offset: { retry: 'later', http: 409 },
  unknown_upload: { retry: 'later', http: 404 },
  hash_mismatch: { retry: 'later', http: 422 },
  bad_content: { retry: 'never', http: 422 },
  not_uploadable: { retry: 'never', http: 422 },
  conflict: { retry: 'never', http: 409 },
  quota_exceeded: { retry: 'later', http: 429 },
  paused: { retry: 'later', http: 503 },
  disk_full: { retry: 'later', http: 507 },
  slow_client: { retry: 'reconnect', http: 408 },
  timeout: { retry: 'reconnect', http: 408 },
  shutting_down: { retry: 'reconnect', http: 503 },
  internal: { retry: 'reconnect', http: 500 },
  /** It was here, and retention or an admin has removed it. */
  gone: { retry: 'never', http: 410 },
  /** A file is not what it was stored as. */
  damaged: { retry: 'never', http: 500 },
} as const satisfies Record<string, { retry: RetryAdvice; http: number }>;

export type RetryAdvice = 'never' | 'later' | 'reconnect';
export type ErrorCode = keyof typeof TABLE;

const CODES = Object.keys(TABLE) as [ErrorCode, ...ErrorCode[]];

export const wireErrorSchema = z.strictObject({
  code: z.enum(CODES),
  /** What happened, where, and what to do next. Holds no secret. */
  message: z.string().max(2_000),
  retryAfterMs: z.int().nonnegative().optional(),
});

export type WireError = z.infer<typeof wireErrorSchema>;

/** A failure that the other side is told in these words. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: ErrorCode;
  readonly retryAfterMs: number | undefined;
  constructor(code: ErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

export function retryAdvice(code: ErrorCode): RetryAdvice {
  return TABLE[code].retry;
}

export function httpStatus(code: ErrorCode): number {
  return TABLE[code].http;
}

export function toWire(error: ProtocolError): WireError {
  const { code, retryAfterMs } = error;
  const message = error.message.slice(0, 2_000);
  return retryAfterMs === undefined ? { code, message } : { code, message, retryAfterMs };
}

/**
 * WebSocket close codes. Private ones begin at 4000; a client reads the `goodbye` before it, the code is
 * for those that could not.
 */
export function closeCode(code: ErrorCode): number {
  if (code === 'shutting_down') return 1001;
  if (code === 'too_large') return 1009;
  if (code === 'internal') return 1011;
  return 4000 + CODES.indexOf(code);
}
