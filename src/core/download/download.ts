import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import { syncFolder } from '../platform/sync-folder.ts';
import { ProtocolError, retryAdvice } from '../protocol/errors.ts';
import type { ServerAddress } from '../protocol/server-address.ts';
import { refusalOf } from './refusal.ts';

export interface Download {
  readonly server: ServerAddress;
  readonly agent: Dispatcher;
  /** At the server, such as `/v1/archives/…`. */
  readonly path: string;
  /** What the file must be; nothing else gets its name. */
  readonly sha256: string;
  /** No more is written, whatever the server sends. */
  readonly maxBytes: number;
  /** Absolute path; its folder is made. */
  readonly to: string;
  readonly signal?: AbortSignal;
}

/** One after the other, without a byte that was new. */
const FRUITLESS_TRIES = 5;
const WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/**
 * Fetches a file by its sha256. What arrived of a download that was cut off, by the network or by the end of this
 * program, is not fetched again. When this resolves, the file is there under its name, compared and on the disk.
 * Rejects with `ProtocolError`, or with an error of the network or the disk; what arrived stays for another time.
 */
export async function download({ to, ...wanted }: Download): Promise<void> {
  if ((await hashOf(to)) === wanted.sha256) return;
  const folder = dirname(to);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const partial = join(folder, `.${basename(to)}.${wanted.sha256.slice(0, 16)}.part`);
  const file = await open(partial, 'a', 0o600);
  try {
    await fetchAll(wanted, file);
    if ((await hashOf(partial)) !== wanted.sha256) {
      // Whatever it is, going on with it would not make it better.
      await rm(partial, { force: true });
      throw new ProtocolError(
        'hash_mismatch',
        `what arrived of ${wanted.path} is not what its sha256 says; it was thrown away. Try again.`,
      );
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, to);
  await syncFolder(folder);
}

async function fetchAll(wanted: Omit<Download, 'to'>, file: FileHandle): Promise<void> {
  for (let fruitless = 0; ; ) {
    wanted.signal?.throwIfAborted();
    const before = (await file.stat()).size;
    try {
      await fetchOnce(wanted, file, before);
      return;
    } catch (error) {
      wanted.signal?.throwIfAborted();
      const grown = (await file.stat()).size > before;
      fruitless = grown ? 0 : fruitless + 1;
      const wait = waitBeforeAgain(error, fruitless);
      if (fruitless >= FRUITLESS_TRIES || wait === undefined) throw error;
      await sleep(wait, undefined, { signal: wanted.signal });
    }
  }
}

/** undefined: the same again fails again. */
function waitBeforeAgain(error: unknown, fruitless: number): number | undefined {
  const growing = Math.min(LONGEST_WAIT_MS, WAIT_MS * 2 ** fruitless);
  if (error instanceof ProtocolError) {
    if (retryAdvice(error.code) === 'never') return undefined;
    const { retryAfterMs = growing } = error;
    return retryAfterMs <= LONGEST_WAIT_MS ? retryAfterMs : undefined;
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Of this disk, not of the network.
  return /^(ENOSPC|EDQUOT|EFBIG|EACCES|EROFS|EIO)$/.test(code) ? undefined : growing;
}

async function fetchOnce(
  { server, agent, path, sha256, maxBytes, signal }: Omit<Download, 'to'>,
  file: FileHandle,
  offset: number,
): Promise<void> {
  const etag = `"${sha256}"`;
  const headers: Record<string, string> = { authorization: `Bearer ${server.token}` };
  if (offset > 0) {
    headers.range = `bytes=${offset}-`;
    headers['if-range'] = etag;
  }
  const response = await request(new URL(path, server.url), {
    dispatcher: agent,
    headers,
    signal,
  });
  const { statusCode, body } = response;
  const size = /\/(\d+)$/.exec(String(response.headers['content-range'] ?? ''))?.[1];
  // All of it was here already.
  if (statusCode === 416 && Number(size) === offset) return body.dump();
  if (statusCode !== 200 && statusCode !== 206) throw await refusalOf(statusCode, body, path);
  if (response.headers.etag !== etag) {
    drop(body);
    throw new ProtocolError('hash_mismatch', `${path} is another file at the server by now`);
  }
  if (statusCode === 200) await file.truncate(0);
  const start = statusCode === 200 ? 0 : offset;
  const length = Number(response.headers['content-length'] ?? Number.NaN);
  if (start + length > maxBytes) {
    drop(body);
    throw new ProtocolError(
      'too_large',
      `${path} has ${start + length} bytes; ${maxBytes} are taken`,
    );
  }
  let at = start;
  await pipeline(body, async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) {
      if (at + piece.length > maxBytes) {
        throw new ProtocolError('too_large', `${path} has more than ${maxBytes} bytes`);
      }
      await file.writeFile(piece);
      at += piece.length;
    }
  });
}

/** A body that nobody reads must not fail where nobody listens. */
function drop(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined);
  body.destroy();
}

/** undefined: there is no such file. */
async function hashOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
