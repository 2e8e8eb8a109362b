import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';

/** What a file was stored as. */
export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** An open file whose content was compared with its hash. Whoever gets it closes it. */
export interface VerifiedFile {
  readonly bytes: number;
  readonly sha256: string;
  /**
   * `start` to `end` inclusive, in blocks. The last block comes only if the file is still what was compared: one
   * that is changed meanwhile is cut off, never completed.
   */
  read(start: number, end: number): AsyncGenerator<Buffer, void, undefined>;
  close(): Promise<void>;
}

export interface FileVerifier {
  /** Rejects with `ProtocolError` (damaged, gone). */
  open(file: StoredFile): Promise<VerifiedFile>;
}

const BLOCK = 256 * 1024;
/** Files that are remembered as compared. */
const MAX_KNOWN = 10_000;

/**
 * Reads a file whole before it is served the first time, and again whenever its system's entry says that it was
 * written to. All that is sent comes from the descriptor that was compared, whatever its name leads to by then.
 */
export function createFileVerifier(): FileVerifier {
  const known = new Map<string, Promise<boolean>>();
  const isIntact = (file: FileHandle, stamp: string, { sha256 }: StoredFile): Promise<boolean> => {
    const key = `${stamp} ${sha256}`;
    const before = known.get(key);
    if (before) return before;
    const checked = hashOf(file).then((found) => found === sha256);
    known.set(key, checked);
    checked.catch(() => known.delete(key));
    if (known.size > MAX_KNOWN) {
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    }
    return checked;
  };
  return {
    async open(stored) {
      const file = await openStored(stored);
      try {
        const stamp = stampOf(await file.stat({ bigint: true }));
        // A truncated file is known without reading it.
        const { size } = await file.stat();
        if (size !== stored.bytes || !(await isIntact(file, stamp, stored))) throw damaged(stored);
        const unchanged = async (): Promise<boolean> =>
          stampOf(await file.stat({ bigint: true })) === stamp;
        if (!(await unchanged())) throw damaged(stored);
        return {
          bytes: stored.bytes,
          sha256: stored.sha256,
          read: (start, end) => blocks(file, start, end, stored, unchanged),
          close: () => file.close(),
        };
      } catch (error) {
        await file.close();
        throw error;
      }
    },
  };
}

async function* blocks(
  file: FileHandle,
  start: number,
  end: number,
  stored: StoredFile,
  unchanged: () => Promise<boolean>,
): AsyncGenerator<Buffer, void, undefined> {
  for (let at = start; at <= end; ) {
    const block = Buffer.allocUnsafe(Math.min(BLOCK, end + 1 - at));
    const { bytesRead } = await file.read(block, 0, block.length, at);
    const last = at + bytesRead > end;
    if (bytesRead === 0 || (last && !(await unchanged()))) throw damaged(stored);
    at += bytesRead;
    yield block.subarray(0, bytesRead);
  }
}

async function openStored(stored: StoredFile): Promise<FileHandle> {
  try {
    return await open(stored.path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new ProtocolError(
        'gone',
        `the file ${stored.sha256.slice(0, 12)} is not here any more`,
      );
    }
    throw error;
  }
}

async function hashOf(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(BLOCK);
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(block, 0, block.length, at);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(block.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** Changes whenever the content does: the system sets ctime, and no program can set it back. */
function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function damaged({ sha256, bytes }: StoredFile): ProtocolError {
  return new ProtocolError(
    'damaged',
    `the file ${sha256.slice(0, 12)} (${bytes} bytes) was changed on the server's disk and is not sent. Its admin can put it back from a copy, or publish it again.`,
  );
}
