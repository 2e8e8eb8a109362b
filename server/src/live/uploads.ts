import type { ArchiveBegin, UploadBegin } from '../../../src/core/protocol/client-messages.ts';
import { ProtocolError, toWire } from '../../../src/core/protocol/errors.ts';
import type { Chunk } from '../../../src/core/protocol/frame.ts';
import { STALL_BYTES } from '../../../src/core/protocol/limits.ts';
import type { ServerMessage } from '../../../src/core/protocol/server-messages.ts';
import type { StoredArchive } from '../ingest/archive-ingest.ts';
import type { Stored } from '../ingest/ingest.ts';
import { type Incoming, unknownUpload } from '../ingest/receive.ts';
import type { Identity } from '../store/tokens.ts';
import type { LiveParts } from './parts.ts';

export interface Uploads {
  begin(begin: UploadBegin): Promise<void>;
  beginArchive(begin: ArchiveBegin): Promise<void>;
  chunk(chunk: Chunk): Promise<void>;
  cancel(upload: string): Promise<void>;
  /** Since it was asked last: an upload that was open then and has hardly got on. */
  stalled(): ProtocolError | undefined;
  /** What arrived stays, to be taken up. Waits for what is being stored. */
  close(): Promise<void>;
}

interface OpenUpload {
  readonly incoming: Incoming;
  /** Keeps what is complete; what it resolves to says so to the client. */
  store(): Promise<() => void>;
}

/** The uploads of one connection. What goes wrong with one is told, and the others go on. */
export function createUploads(
  identity: Identity,
  parts: LiveParts,
  send: (message: ServerMessage) => void,
): Uploads {
  const open = new Map<string, OpenUpload>();
  const finishing = new Set<Promise<void>>();
  let before = new Map<Incoming, number>();

  const refuse = (upload: string, error: unknown): void => {
    const known = error instanceof ProtocolError ? error : storageError(error);
    if (!(error instanceof ProtocolError)) {
      parts.log.error({ err: error, upload }, 'an upload could not be stored');
    }
    parts.counters.errors.inc({ code: known.code });
    parts.log.info({ contributor: identity.contributor, upload, code: known.code }, 'refused');
    send({ type: 'upload.refused', upload, error: toWire(known) });
  };
  const acknowledge = (begin: UploadBegin, { duplicate, claim }: Stored): void => {
    parts.counters.stored.inc({ duplicate: String(duplicate) });
    const { upload, attemptId } = begin;
    send({ type: 'upload.stored', upload, attemptId, duplicate, claim });
  };
  const finish = ({ incoming, store }: OpenUpload): void => {
    const { begin } = incoming;
    open.delete(begin.upload);
    const timer = parts.counters.acknowledged.startTimer();
    const done = store()
      .then((answer) => {
        answer();
        timer();
        parts.wake();
      })
      .catch((error: unknown) => refuse(begin.upload, error))
      .finally(() => finishing.delete(done));
    finishing.add(done);
  };

  /** Makes room for one more, or throws. */
  const admit = async (upload: string): Promise<void> => {
    const rate = parts.uploadRate.take(identity.contributor);
    if (!rate.ok) {
      const { uploadsPerMinute } = parts.config.rate;
      throw new ProtocolError(
        'rate_limited',
        `more than ${uploadsPerMinute} uploads a minute; wait ${rate.retryAfterMs} ms`,
        rate.retryAfterMs,
      );
    }
    await open.get(upload)?.incoming.close(true);
    open.delete(upload);
    const { openUploads } = parts.config.limits;
    if (open.size + finishing.size >= openUploads) {
      throw new ProtocolError(
        'too_many_uploads',
        `${openUploads} uploads of this connection are under way; begin another when one has ended`,
        100,
      );
    }
  };
  const receive = (upload: OpenUpload): void => {
    const { incoming } = upload;
    const { upload: name } = incoming.begin;
    send({ type: 'upload.ready', upload: name, offset: incoming.offset });
    if (incoming.complete) finish(upload);
    else open.set(name, upload);
  };

  return {
    async begin(begin) {
      try {
        await admit(begin.upload);
        const { ingest } = parts;
        const begun = await ingest.begin(begin, identity.contributor);
        if (begun.kind === 'stored') return acknowledge(begin, begun.stored);
        const { incoming } = begun;
        receive({
          incoming,
          async store() {
            const stored = await ingest.finish(incoming, begin, identity.contributor);
            return () => acknowledge(begin, stored);
          },
        });
      } catch (error) {
        refuse(begin.upload, error);
      }
    },

    async beginArchive(begin) {
      const { upload, taskId } = begin;
      const stored = ({ duplicate }: StoredArchive): void => {
        send({ type: 'archive.stored', upload, taskId, duplicate });
      };
      try {
        await admit(upload);
        const { archiveIngest } = parts;
        const begun = await archiveIngest.begin(begin, identity.contributor);
        if (begun.kind === 'stored') {
          stored(begun.stored);
          return parts.wake();
        }
        const { incoming } = begun;
        receive({
          incoming,
          async store() {
            const kept = await archiveIngest.finish(incoming, begin, identity.contributor);
            return () => stored(kept);
          },
        });
      } catch (error) {
        refuse(upload, error);
      }
    },

    async chunk({ upload, offset, bytes }) {
      const under = open.get(upload);
      // Chunks that were on their way when the upload was refused are no news.
      if (!under) return;
      const { incoming } = under;
      try {
        await incoming.write(offset, bytes);
        parts.counters.bytes.inc(bytes.length);
        send({ type: 'upload.progress', upload, offset: incoming.offset });
        if (incoming.complete) finish(under);
      } catch (error) {
        open.delete(upload);
        await incoming.close(!(error instanceof ProtocolError && error.code === 'too_large'));
        refuse(upload, error);
      }
    },

    async cancel(upload) {
      const under = open.get(upload);
      if (!under) return refuse(upload, unknownUpload(upload));
      open.delete(upload);
      await under.incoming.close(false);
    },

    stalled() {
      const since = before;
      before = new Map([...open.values()].map(({ incoming }) => [incoming, incoming.offset]));
      for (const [incoming, start] of since) {
        const { begin, offset } = incoming;
        if (open.get(begin.upload)?.incoming !== incoming || offset - start >= STALL_BYTES)
          continue;
        return new ProtocolError(
          'timeout',
          `upload ${begin.upload.slice(0, 12)} stands at byte ${offset} of ${begin.bytes}: ${offset - start} bytes came within ${parts.config.timing.stallMs} ms. Connect again to go on there.`,
        );
      }
      return undefined;
    },

    async close() {
      for (const { incoming } of open.values()) await incoming.close(true);
      open.clear();
      await Promise.all(finishing);
    },
  };
}

function storageError(error: unknown): ProtocolError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL'].includes(code)) {
    return new ProtocolError(
      'disk_full',
      "the server's disk is full; nothing was lost that was acknowledged. Try again later.",
      60_000,
    );
  }
  return new ProtocolError('internal', 'the server could not store it; its log says why', 5_000);
}
