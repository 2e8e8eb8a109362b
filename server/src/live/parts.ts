import type { Logger } from 'pino';
import type { Counter, Histogram } from 'prom-client';
import type { StatusSnapshot } from '../../../src/core/protocol/server-messages.ts';
import type { RateLimit } from '../auth/rate-limit.ts';
import type { ServerConfig } from '../config.ts';
import type { ArchiveIngest } from '../ingest/archive-ingest.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { Meta } from '../store/meta.ts';
import type { News } from '../store/news.ts';
import type { Identity } from '../store/tokens.ts';

/** What connections need of the rest of the server. */
export interface LiveParts {
  readonly config: ServerConfig;
  readonly version: string;
  readonly log: Logger;
  readonly meta: Meta;
  readonly news: News;
  readonly ingest: Ingest;
  readonly archiveIngest: ArchiveIngest;
  readonly uploadRate: RateLimit;
  readonly counters: LiveCounters;
  /** Throws `ProtocolError` (unauthorized, rate_limited). */
  readonly authenticate: (token: string, address: string) => Identity;
  readonly snapshot: () => StatusSnapshot;
  /** Tells everybody who follows. */
  readonly announce: (text: string) => void;
  /** Something has come, or the server was paused or resumed. */
  readonly wake: () => void;
}

export interface LiveCounters {
  readonly errors: Counter<'code'>;
  readonly stored: Counter<'duplicate'>;
  readonly bytes: Counter;
  /** From the last byte of an upload to its acknowledgement, in seconds. */
  readonly acknowledged: Histogram;
}
