import { type FileHandle, open } from 'node:fs/promises';
import { writeErrorOf } from './errors.ts';

/** A file to which complete lines are appended, in the order of the calls. */
export interface LineFile {
  /** Bytes of complete lines so far. */
  readonly bytes: number;
  /** Rejects with `TrajectoryWriteError`; after that, every later call does too. */
  append(line: string): Promise<void>;
  /** What was appended has reached the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param mode `create`: the file must not exist (0600). `append`: made where missing.
 * @param what how messages name the file.
 */
export async function openLineFile(
  path: string,
  mode: 'create' | 'append',
  what: string,
): Promise<LineFile> {
  let file: FileHandle;
  let start: number;
  try {
    file = await open(path, mode === 'create' ? 'ax' : 'a', 0o600);
    start = (await file.stat()).size;
  } catch (error) {
    throw writeErrorOf(error, what);
  }
  return createLineFile(file, start, what);
}

function createLineFile(file: FileHandle, start: number, what: string): LineFile {
  let bytes = start;
  let failure: Error | undefined;
  let queue: Promise<void> = Promise.resolve();

  const inOrder = (work: () => Promise<void>): Promise<void> => {
    const done = queue.then(async () => {
      if (failure) throw failure;
      try {
        await work();
      } catch (error) {
        failure = writeErrorOf(error, what);
        throw failure;
      }
    });
    queue = done.catch(() => undefined);
    return done;
  };

  return {
    get bytes() {
      return bytes;
    },
    append: (line) =>
      inOrder(async () => {
        const content = Buffer.from(`${line}\n`, 'utf8');
        try {
          await writeWhole(file, content);
        } catch (error) {
          // A line that went in only in part is taken out again; readers cope where that fails.
          await file.truncate(bytes).catch(() => undefined);
          throw error;
        }
        bytes += content.length;
      }),
    sync: () => inOrder(() => file.sync()),
    async close() {
      await queue;
      await file.close();
    },
  };
}

async function writeWhole(file: FileHandle, content: Uint8Array): Promise<void> {
  let written = 0;
  while (written < content.length) {
    const { bytesWritten } = await file.write(content, written, content.length - written);
    written += bytesWritten;
  }
}
