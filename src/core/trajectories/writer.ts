import type { Redactor } from '../agent/redactor.ts';
import { openLineFile } from './line-file.ts';
import { redactLine } from './redact-line.ts';
import { type TrajectoryLine, type TrajectorySink, trajectoryLineSchema } from './schema.ts';

export interface TrajectoryWriter extends TrajectorySink {
  readonly path: string;
  /** Bytes written so far. */
  readonly bytes: number;
  /** Safe to call twice. A record without an end stays: it says that the attempt was cut off. */
  close(): Promise<void>;
}

export interface WriterOptions {
  /** Absolute path of the record; must not exist yet. Its folder must. */
  readonly path: string;
  readonly redactor: Redactor;
  /** Called with each line as it was written, before its `append` resolves. */
  readonly onWritten?: (line: TrajectoryLine) => Promise<void>;
}

/**
 * Writes one record, line by line as the attempt goes on: a crash leaves complete lines and at most
 * one that is cut. The end line is on the disk when its `append` resolves.
 *
 * Rejects, like `append`, with `TrajectoryWriteError` (a full or read-only disk): the attempt is
 * then `invalid` for reasons of infrastructure. Lines that do not fit the schema are a mistake of
 * the caller and reject with a plain error.
 */
export async function createTrajectoryWriter(options: WriterOptions): Promise<TrajectoryWriter> {
  const { path, redactor, onWritten } = options;
  const file = await openLineFile(path, 'create', `the record ${path}`);
  let closed: Promise<void> | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const write = async (line: TrajectoryLine): Promise<void> => {
    const checked = trajectoryLineSchema.parse(await redactLine(line, redactor));
    await file.append(JSON.stringify(checked));
    if (checked.type === 'end') await file.sync();
    await onWritten?.(checked);
  };

  return {
    path,
    get bytes() {
      return file.bytes;
    },
    append(line) {
      // Redaction takes its time; the queue keeps the order of the calls.
      const done = queue.then(() => write(line));
      queue = done.catch(() => undefined);
      return done;
    },
    close() {
      closed ??= queue.then(() => file.close());
      return closed;
    },
  };
}
