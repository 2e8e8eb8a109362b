import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';

/** What an upload is told apart by, whatever it holds. */
export interface Announced {
  /** sha256 of the bytes. */
  readonly upload: string;
  readonly bytes: number;
}

/** An upload on its way into a file, which outlives the connection. */
export interface Incoming {
  readonly begin: Announced;
  /** Bytes that are there. */
  readonly offset: number;
  readonly complete: boolean;
  /** Rejects with `ProtocolError` (bad_offset, too_large, unknown_upload, disk_full). */
  write(offset: number, bytes: Buffer): Promise<void>;
  /** All bytes, and the open file that holds them. */
  read(): Promise<Buffer>;
  readonly file: FileHandle;
  readonly path: string;
  /** Ends it; what arrived stays and can be taken up, or goes. */
  close(keep: boolean): Promise<void>;
}

export interface Receiver {
  /** Begins or takes up. Whoever had the same upload open loses it: an old connection that hangs. */
  open(begin: Announced, contributor: string): Promise<Incoming>;
  /** Removes what nobody went on with. */
  expire(olderThanMs: number): Promise<number>;
}

/** Named by hashes: of the contributor, so that nobody can look into another's, and of the bytes. */
export function createReceiver(folder: string): Receiver {
  const active = new Map<string, Incoming>();
  return {
    async open(begin, contributor) {
      const owner = createHash('sha256').update(contributor).digest('hex').slice(0, 16);
      const name = `${owner}-${begin.upload}`;
      await active.get(name)?.close(true);
      const incoming = await openIncoming(join(folder, name), begin, () => active.delete(name));
      active.set(name, incoming);
      return incoming;
    },
    async expire(olderThanMs) {
      let removed = 0;
      for (const name of await readdir(folder)) {
        if (active.has(name)) continue;
        const path = join(folder, name);
        const found = await stat(path).catch(() => undefined);
        if (!found || Date.now() - found.mtimeMs < olderThanMs) continue;
        await rm(path, { force: true });
        removed += 1;
      }
      return removed;
    },
  };
}

async function openIncoming(
  path: string,
  begin: Announced,
  onClosed: () => void,
): Promise<Incoming> {
  const file = await open(path, 'a+', 0o600);
  let offset = (await file.stat()).size;
  if (offset > begin.bytes) {
    await file.truncate(0);
    offset = 0;
  }
  let open_ = true;
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = last.then(() => {
      if (!open_) throw unknownUpload(begin.upload);
      return work();
    });
    last = done.catch(() => undefined);
    return done;
  };
  return {
    begin,
    file,
    path,
    get offset() {
      return offset;
    },
    get complete() {
      return offset === begin.bytes;
    },
    write: (at, bytes) =>
      inOrder(async () => {
        if (at !== offset) {
          throw new ProtocolError(
            'bad_offset',
            `upload ${begin.upload.slice(0, 12)} goes on at byte ${offset}, not at ${at}. Begin it again to be told where.`,
          );
        }
        if (at + bytes.length > begin.bytes) {
          throw new ProtocolError(
            'too_large',
            `upload ${begin.upload.slice(0, 12)} has more than the ${begin.bytes} bytes that were announced`,
          );
        }
        let written = 0;
        while (written < bytes.length) {
          const result = await file.write(bytes, written, bytes.length - written);
          written += result.bytesWritten;
          offset += result.bytesWritten;
        }
      }),
    read: () =>
      inOrder(async () => {
        const bytes = Buffer.alloc(begin.bytes);
        let read = 0;
        while (read < bytes.length) {
          const { bytesRead } = await file.read(bytes, read, bytes.length - read, read);
          if (bytesRead === 0) break;
          read += bytesRead;
        }
        return bytes;
      }),
    async close(keep) {
      await last;
      if (!open_) return;
      open_ = false;
      onClosed();
      await file.close();
      if (!keep) await rm(path, { force: true });
    },
  };
}

export function unknownUpload(upload: string): ProtocolError {
  return new ProtocolError(
    'unknown_upload',
    `upload ${upload.slice(0, 12)} was not begun on this connection, or another one has taken it up. Begin it again.`,
  );
}
