import { appendFile, open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AttemptSummary, summarySchema } from './summary.ts';

/**
 * The index of a folder: one line per ended attempt. It is a cache of the records: a line that is
 * missing, cut or of another version costs one reading of its record, and a line too many nothing.
 * So neither a crash nor two processes at once can lose an attempt.
 */
/** Begins with a dot, as no attempt id does. */
const INDEX = '.index.jsonl';

export interface IndexReader {
  /** What the index says now. Only what was appended since the last call is read and parsed. */
  read(): Promise<ReadonlyMap<string, AttemptSummary>>;
}

/** Bytes before the known end that must be the same still: else it is another file. */
const OVERLAP = 256;

export function createIndexReader(folder: string): IndexReader {
  let summaries = new Map<string, AttemptSummary>();
  /** Bytes of complete lines that were read, and the last of them. */
  let known = 0;
  let overlap: Buffer = Buffer.alloc(0);
  let queue: Promise<unknown> = Promise.resolve();

  const forget = (): void => {
    summaries = new Map();
    known = 0;
    overlap = Buffer.alloc(0);
  };

  const update = async (): Promise<ReadonlyMap<string, AttemptSummary>> => {
    const from = known - overlap.length;
    let bytes = await readFrom(join(folder, INDEX), from);
    if (!bytes?.subarray(0, overlap.length).equals(overlap)) {
      forget();
      if (bytes && from > 0) bytes = await readFrom(join(folder, INDEX), 0);
    }
    if (!bytes) return summaries;
    const fresh = bytes.subarray(overlap.length);
    const complete = fresh.lastIndexOf('\n') + 1;
    for (const line of fresh.toString('utf8', 0, complete).split('\n')) add(line);
    known += complete;
    overlap = Buffer.from(
      bytes.subarray(Math.max(0, overlap.length + complete - OVERLAP), overlap.length + complete),
    );
    // A last line without its end may be cut, or whole; it is looked at again the next time.
    add(fresh.toString('utf8', complete));
    return summaries;
  };
  const add = (line: string): void => {
    const summary = parseSummary(line);
    if (summary) summaries.set(summary.attemptId, summary);
  };

  return {
    read() {
      const done = queue.then(update);
      queue = done.catch(() => undefined);
      return done;
    },
  };
}

/** undefined: there is no such file, or it cannot be read. */
async function readFrom(path: string, position: number): Promise<Buffer | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.max(0, size - position));
      let read = 0;
      while (read < bytes.length) {
        const { bytesRead } = await file.read(bytes, read, bytes.length - read, position + read);
        if (bytesRead === 0) break;
        read += bytesRead;
      }
      return bytes.subarray(0, read);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

function parseSummary(line: string): AttemptSummary | undefined {
  if (line === '') return undefined;
  try {
    return summarySchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Best effort: what fails here is found in the record itself. */
export async function appendToIndex(folder: string, summary: AttemptSummary): Promise<void> {
  try {
    await appendFile(join(folder, INDEX), `${JSON.stringify(summary)}\n`, { mode: 0o600 });
  } catch {
    // The record is what counts.
  }
}

/** Keeps the lines of `summaries` alone. */
export async function rewriteIndex(
  folder: string,
  summaries: Iterable<AttemptSummary>,
): Promise<void> {
  const temporary = join(folder, `${INDEX}.${process.pid}.tmp`);
  const lines = [...summaries].map((summary) => `${JSON.stringify(summary)}\n`);
  await writeFile(temporary, lines.join(''), { mode: 0o600 });
  await rename(temporary, join(folder, INDEX));
}
