import type { Logger } from 'pino';
import type { ServerConfig } from '../config.ts';
import type { Receiver } from '../ingest/receive.ts';
import type { Db } from '../store/database.ts';
import type { PolicyStore } from '../store/policies.ts';
import type { FileSweep } from './files.ts';
import { shrink } from './shrink.ts';

export interface Retention {
  /** One round, after one that is going on. `orphans`: reads every name, too, whenever it did so last. */
  run(orphans?: 'orphans'): Promise<void>;
  /** No round begins any more; resolves when none is going on. */
  stop(): Promise<void>;
}

/** Uploads that nobody went on with for so long are deleted. */
const ABANDONED_MS = 7 * 24 * 60 * 60 * 1000;

/** Every name is read when the server starts, and after so many milliseconds again. */
const ORPHANS_EVERY_MS = 24 * 60 * 60 * 1000;

export interface RetentionParts {
  readonly db: Db;
  readonly limits: ServerConfig['retention'];
  readonly files: FileSweep;
  readonly policies: PolicyStore;
  readonly receiver: Receiver;
  readonly log: Logger;
}

/** Keeps the data folder within its limits, from now on. */
export function startRetention(parts: RetentionParts): Retention {
  const { db, limits, files, policies, receiver, log } = parts;
  let orphansAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let round: Promise<void> | undefined;

  const once = async (everything: boolean): Promise<void> => {
    try {
      const shrunk = await shrink(db, limits);
      const removed = { files: await files.removeDoomed(), folders: await policies.sweep() };
      const now = performance.now();
      let orphans = 0;
      if (everything || now - orphansAt >= ORPHANS_EVERY_MS) {
        orphansAt = now;
        orphans = await files.removeOrphans();
        orphans += await receiver.expire(ABANDONED_MS);
      }
      const counts = { ...shrunk, ...removed, orphans };
      if (Object.values(counts).some((count) => count > 0)) log.info(counts, 'retention');
    } catch (error) {
      // What could not be done now is done by a later round.
      log.error({ err: error }, 'retention failed');
    }
  };
  const run: Retention['run'] = async (orphans) => {
    while (round) await round;
    round = once(orphans === 'orphans').finally(() => {
      round = undefined;
    });
    await round;
  };
  const timer = setInterval(() => {
    if (!stopped && !round) void run();
  }, limits.everyMs);
  return {
    run,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await round;
    },
  };
}
