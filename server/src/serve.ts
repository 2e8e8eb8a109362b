import type { AddressInfo } from 'node:net';
import { ProtocolError } from '../../src/core/protocol/errors.ts';
import type { StatusSnapshot } from '../../src/core/protocol/server-messages.ts';
import { createRateLimit } from './auth/rate-limit.ts';
import { loadTls } from './auth/tls.ts';
import type { ServerConfig } from './config.ts';
import { openFolders } from './folders.ts';
import { createApp } from './http/app.ts';
import { createMetrics } from './http/metrics.ts';
import { createArchiveIngest } from './ingest/archive-ingest.ts';
import { createIngest } from './ingest/ingest.ts';
import { createReceiver } from './ingest/receive.ts';
import { createLiveServer, type LiveServer } from './live/live-server.ts';
import { createLog } from './log.ts';
import { createFileSweep } from './retention/files.ts';
import { type Retention, startRetention } from './retention/retention.ts';
import { type ArchiveStore, createArchiveStore } from './store/archives.ts';
import { createBlobStore } from './store/blobs.ts';
import { openDatabase } from './store/database.ts';
import { takeLock } from './store/lock.ts';
import { createMeta } from './store/meta.ts';
import { createNews } from './store/news.ts';
import { createPolicyStore, type PolicyStore } from './store/policies.ts';
import { createTokenStore, type Identity } from './store/tokens.ts';
import { createTrajectoryTable } from './store/trajectories.ts';
import { startWork, type Work } from './work/work.ts';

export interface RunningServer {
  /** https://127.0.0.1:7317 */
  readonly url: string;
  /** sha256 of the certificate, where there is TLS. */
  readonly fingerprint: string | undefined;
  readonly archives: ArchiveStore;
  readonly policies: PolicyStore;
  /** Keeps the data folder within its limits, by itself. */
  readonly retention: Pick<Retention, 'run'>;
  status(): StatusSnapshot;
  close(): Promise<void>;
}

/** Another server has the data folder. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
}

/** For requests over HTTP, beside the live connections. */
const SPARE_SOCKETS = 256;

export interface ServeOptions {
  readonly config: ServerConfig;
  readonly data: string;
  readonly version: string;
  /** Where log lines go. */
  readonly write: (line: string) => void;
  /** Default: this process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Program of the workers; default: the one of this package. */
  readonly workerFile?: string;
}

/** Rejects with `ConfigError`, `DataFolderInUse`, or the system's error where it cannot listen. */
export async function serve({
  config,
  data,
  version,
  write,
  env = process.env,
  workerFile,
}: ServeOptions): Promise<RunningServer> {
  const folders = openFolders(data);
  const lock = takeLock(folders.lock);
  if (!lock) {
    throw new DataFolderInUse(
      `another server is running with the data in ${data}; stop it, or give another folder with --data`,
    );
  }
  const release: (() => void)[] = [() => lock.release()];
  /** What must have come to rest before the database is closed. */
  const stops: (() => Promise<void>)[] = [];
  let begun: Work | undefined;
  try {
    const tls = loadTls(config.tls, folders.tls);
    const db = openDatabase(folders.database);
    release.push(() => db.close());
    const log = createLog(config.log.level, write);
    const [meta, news, tokens, table] = [
      createMeta(db),
      createNews(db),
      createTokenStore(db),
      createTrajectoryTable(db),
    ];
    const receiver = createReceiver(folders.incoming);
    const blobs = createBlobStore(folders.blobs);
    const trees = createBlobStore(folders.trees);
    const archives = createArchiveStore(db, trees, folders.incoming);
    const policies = createPolicyStore(db, folders.policies);
    const ingest = createIngest({ config, receiver, blobs, table, meta });
    const archiveIngest = createArchiveIngest({
      ...{ config, db, receiver, trees, archives, table, meta },
    });
    const files = createFileSweep(db, { blobs, trees });
    const retention = startRetention({
      db,
      limits: config.retention,
      files,
      policies,
      receiver,
      log,
    });
    stops.push(() => retention.stop());
    const requestRate = createRateLimit(config.rate.requestsPerMinute);
    const failureRate = createRateLimit(config.rate.failuresPerMinute);
    const began = performance.now();
    let live: LiveServer | undefined;
    const announce = (kind: 'server' | 'claim', text: string): void => {
      news.announce(kind, text.slice(0, 2_000));
      live?.announced();
    };
    const work = startWork({
      ...{ config, folders, db, meta, blobs, log, env, workerFile },
      announce: (text) => announce('claim', text),
    });
    begun = work;

    const authenticate = (token: string, address: string): Identity => {
      if (!failureRate.left(address)) {
        throw new ProtocolError('rate_limited', 'too many wrong tokens from this address', 60_000);
      }
      const identity = tokens.identify(token);
      if (identity) return identity;
      failureRate.take(address);
      log.warn({ address }, 'a wrong token');
      throw new ProtocolError(
        'unauthorized',
        'this token is not known here, or was revoked; `prime-agent token create` at the server makes one',
      );
    };
    const snapshot = (): StatusSnapshot => {
      const { waiting, holds, broken, unverifiable } = table.totalsByClaim();
      const all = [waiting, holds, broken, unverifiable];
      const { state, reason } = meta.state();
      return {
        at: new Date().toISOString(),
        state,
        ...(reason === undefined ? {} : { reason }),
        uptimeS: (performance.now() - began) / 1000,
        connections: live?.connections ?? 0,
        trajectories: {
          total: all.reduce((sum, { trajectories }) => sum + trajectories, 0),
          bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
          waiting: waiting.trajectories,
          holds: holds.trajectories,
          broken: broken.trajectories,
          unverifiable: unverifiable.trajectories,
        },
        ...work.status(),
      };
    };
    const metrics = createMetrics(snapshot);
    const app = createApp({
      ...{ log, tls, version, metrics, requestRate, authenticate, archives, policies },
      idleMs: config.timing.silenceMs,
      requestMs: config.timing.requestMs,
      sockets: config.limits.connections + SPARE_SOCKETS,
      sandbox: () => work.sandbox(),
    });
    const parts = {
      config,
      version,
      log,
      meta,
      news,
      ingest,
      archiveIngest,
      uploadRate: createRateLimit(config.rate.uploadsPerMinute),
      counters: metrics,
      authenticate,
      snapshot,
      announce: (text: string) => announce('server', text),
      wake: () => work.wake(),
    };
    live = createLiveServer(app.server, parts, requestRate);
    const sampler = setInterval(() => {
      try {
        const { trajectories, connections, rollouts, tasks } = snapshot();
        news.addPoints({
          'trajectories.total': trajectories.total,
          'trajectories.bytes': trajectories.bytes,
          'claims.waiting': trajectories.waiting,
          'claims.broken': trajectories.broken,
          'tasks.admitted': tasks.admitted,
          'rollouts.attempts': rollouts.attempts,
          'rollouts.groups': rollouts.groupsDone,
          connections,
        });
      } catch (error) {
        // A full disk costs points of a curve, not the server.
        log.warn({ err: error }, 'no point of the series was kept');
      }
    }, config.timing.seriesMs);
    release.push(() => clearInterval(sampler));
    await app.listen({ host: config.listen.host, port: config.listen.port });
    const { port } = app.server.address() as AddressInfo;
    const host = config.listen.host.includes(':') ? `[${config.listen.host}]` : config.listen.host;
    const url = `${tls ? 'https' : 'http'}://${host}:${port}`;
    log.info({ url, data, fingerprint: tls?.fingerprint }, 'listening');
    void retention.run();
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await live?.close();
      await app.close();
      await work.close();
      for (const stop of stops) await stop();
      await table.settled();
      log.info('closed');
      for (const undo of release.reverse()) undo();
    };
    return {
      url,
      fingerprint: tls?.fingerprint,
      archives,
      policies,
      retention,
      status: snapshot,
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await begun?.close();
    for (const stop of stops) await stop();
    for (const undo of release.reverse()) undo();
    throw error;
  }
}
