import { limiter } from '../../../src/core/platform/limiter.ts';
import type { UploadBegin } from '../../../src/core/protocol/client-messages.ts';
import { ProtocolError } from '../../../src/core/protocol/errors.ts';
import type { Claim } from '../../../src/core/protocol/values.ts';
import type { ServerConfig } from '../config.ts';
import { type BlobStore, holding } from '../store/blobs.ts';
import type { Meta } from '../store/meta.ts';
import type { TrajectoryTable } from '../store/trajectories.ts';
import { checkUpload } from './check.ts';
import type { Incoming, Receiver } from './receive.ts';
import { closing, refuseWhilePaused } from './steps.ts';

export interface Stored {
  readonly duplicate: boolean;
  readonly claim: Claim;
}

export interface Ingest {
  /** Rejects with `ProtocolError` (paused, conflict, too_large, quota_exceeded). */
  begin(
    begin: UploadBegin,
    contributor: string,
  ): Promise<
    | { readonly kind: 'stored'; readonly stored: Stored }
    | { readonly kind: 'open'; readonly incoming: Incoming }
  >;
  /**
   * Checks a complete upload and keeps it. When this resolves, content, name and entry have reached the
   * disk, in that order. Rejects with `ProtocolError`.
   */
  finish(incoming: Incoming, begin: UploadBegin, contributor: string): Promise<Stored>;
}

export interface IngestParts {
  readonly config: Pick<ServerConfig, 'limits' | 'quota'>;
  readonly receiver: Receiver;
  readonly blobs: BlobStore;
  readonly table: TrajectoryTable;
  readonly meta: Meta;
}

/** Uploads that are unpacked at the same time: bounds the memory. */
const CHECKS = 2;

export function createIngest({ config, receiver, blobs, table, meta }: IngestParts): Ingest {
  const { limits, quota } = config;
  const checks = limiter(CHECKS);
  return {
    async begin(begin, contributor) {
      const before = table.find(contributor, begin.attemptId);
      if (before) {
        if (before.content !== begin.contentSha256) throw conflict(begin);
        return { kind: 'stored', stored: { duplicate: true, claim: before.claim } };
      }
      refuseWhilePaused(meta);
      if (begin.bytes > limits.uploadBytes || begin.contentBytes > limits.contentBytes) {
        throw new ProtocolError(
          'too_large',
          `attempt ${begin.attemptId} has ${begin.bytes} bytes (${begin.contentBytes} unpacked); this server takes ${limits.uploadBytes} (${limits.contentBytes} unpacked)`,
        );
      }
      checkQuota(begin, contributor);
      return { kind: 'open', incoming: await receiver.open(begin, contributor) };
    },

    finish: (incoming, begin, contributor) =>
      closing(incoming, async () => {
        const entry = await checks(async () =>
          checkUpload(begin, await incoming.read(), contributor),
        );
        // Others of this contributor may have been stored since it began.
        checkQuota(begin, contributor);
        const result = await holding(blobs, begin.upload, async () => {
          await blobs.adopt(incoming.file, incoming.path, begin.upload);
          return table.add(entry);
        });
        if (result === 'conflict') throw conflict(begin);
        return { duplicate: result === 'duplicate', claim: 'waiting' };
      }),
  };

  function checkQuota(begin: UploadBegin, contributor: string): void {
    const { kept, bytes } = table.totalsOf(contributor);
    if (kept < quota.trajectories && bytes + begin.bytes <= quota.bytes) return;
    throw new ProtocolError(
      'quota_exceeded',
      `${contributor} has ${kept} of ${quota.trajectories} trajectories and ${bytes} of ${quota.bytes} bytes stored here; attempt ${begin.attemptId} would be too much. Ask the server's admin for more.`,
      600_000,
    );
  }
}

function conflict(begin: UploadBegin): ProtocolError {
  return new ProtocolError(
    'conflict',
    `there is another record of attempt ${begin.attemptId} already; what is stored is final`,
  );
}
