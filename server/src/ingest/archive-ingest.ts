import { createHash } from 'node:crypto';
import type { ArchiveBegin } from '../../../src/core/protocol/client-messages.ts';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';
import type { ServerConfig } from '../config.ts';
import type { ArchiveStore } from '../store/archives.ts';
import { type BlobStore, holding } from '../store/blobs.ts';
import type { Db } from '../store/database.ts';
import type { Meta } from '../store/meta.ts';
import { createTaskTable } from '../store/tasks.ts';
import type { TrajectoryTable } from '../store/trajectories.ts';
import type { Incoming, Receiver } from './receive.ts';
import { closing, refuseWhilePaused } from './steps.ts';

export interface StoredArchive {
  readonly duplicate: boolean;
}

export interface ArchiveIngest {
  /** Rejects with `ProtocolError` (paused, not_found, conflict, too_large, quota_exceeded). */
  begin(
    begin: ArchiveBegin,
    contributor: string,
  ): Promise<
    | { readonly kind: 'stored'; readonly stored: StoredArchive }
    | { readonly kind: 'open'; readonly incoming: Incoming }
  >;
  /**
   * Keeps a complete archive. When this resolves, content, name and entries have reached the disk, in that order.
   * Nothing of it is unpacked here: a worker does that. Rejects with `ProtocolError`.
   */
  finish(incoming: Incoming, begin: ArchiveBegin, contributor: string): Promise<StoredArchive>;
}

export interface ArchiveIngestParts {
  readonly config: Pick<ServerConfig, 'limits' | 'quota'>;
  readonly db: Db;
  readonly receiver: Receiver;
  /** Where files of tasks are. */
  readonly trees: BlobStore;
  readonly archives: ArchiveStore;
  readonly table: TrajectoryTable;
  readonly meta: Meta;
}

/** Takes the files that contributors' attempts had before them. */
export function createArchiveIngest(parts: ArchiveIngestParts): ArchiveIngest {
  const { config, db, receiver, trees, archives, table, meta } = parts;
  const tasks = createTaskTable(db);
  const enter = db.transaction((begin: ArchiveBegin, contributor: string): void => {
    const { taskId, upload: blob, bytes, leftOut } = begin;
    if (!tasks.addSnapshot({ contributor, taskId, blob, bytes, leftOut })) throw conflict(begin);
    archives.register({ sha256: blob, bytes }, { taskId, contributor });
  });
  const checkQuota = ({ taskId, bytes }: ArchiveBegin, contributor: string): void => {
    const used = table.totalsOf(contributor).bytes + archives.bytesOf(contributor);
    if (used + bytes <= config.quota.bytes) return;
    throw new ProtocolError(
      'quota_exceeded',
      `${contributor} has ${used} of ${config.quota.bytes} bytes stored here; the files of task ${taskId.slice(0, 12)} would be too much. Ask the server's admin for more.`,
      600_000,
    );
  };

  return {
    async begin(begin, contributor) {
      const { upload, taskId, bytes } = begin;
      const before = tasks.snapshotOf(contributor, taskId);
      if (before === upload) return { kind: 'stored', stored: { duplicate: true } };
      if (before !== undefined) throw conflict(begin);
      refuseWhilePaused(meta);
      if (!table.hasTask(contributor, taskId)) {
        throw new ProtocolError(
          'not_found',
          `no attempt of yours at task ${taskId.slice(0, 12)} is here; send its trajectory first`,
        );
      }
      if (bytes > config.limits.archiveBytes) {
        throw new ProtocolError(
          'too_large',
          `the files of task ${taskId.slice(0, 12)} have ${bytes} bytes packed; this server takes ${config.limits.archiveBytes}`,
        );
      }
      // The same files for another task of this contributor: they need not come again.
      const known = await holding(trees, upload, () => {
        if (!archives.find(upload, contributor)) return false;
        enter.immediate(begin, contributor);
        return true;
      });
      if (known) return { kind: 'stored', stored: { duplicate: true } };
      checkQuota(begin, contributor);
      return { kind: 'open', incoming: await receiver.open(begin, contributor) };
    },

    finish: (incoming, begin, contributor) =>
      closing(incoming, async () => {
        if ((await sha256OfFile(incoming)) !== begin.upload) {
          throw new ProtocolError(
            'hash_mismatch',
            `what arrived of upload ${begin.upload.slice(0, 12)} is not what was announced; it was thrown away. Send it again from the start.`,
          );
        }
        checkQuota(begin, contributor);
        await holding(trees, begin.upload, async () => {
          await trees.adopt(incoming.file, incoming.path, begin.upload);
          enter.immediate(begin, contributor);
        });
        return { duplicate: false };
      }),
  };
}

/** In pieces: archives may be larger than what a server wants to hold in memory. */
async function sha256OfFile({ file }: Incoming): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of file.createReadStream({ start: 0, autoClose: false })) {
    hash.update(piece as Buffer);
  }
  return hash.digest('hex');
}

function conflict({ taskId }: ArchiveBegin): ProtocolError {
  return new ProtocolError(
    'conflict',
    `other files of task ${taskId.slice(0, 12)} are here already; what is stored is final`,
  );
}
