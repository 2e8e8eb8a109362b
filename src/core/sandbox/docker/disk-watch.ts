import type { Buffer } from 'node:buffer';
import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type Docker from 'dockerode';
import { escapeGlob } from '../../platform/escape-glob.ts';
import { formatBytes } from '../../platform/format-bytes.ts';
import { SYSTEM_PATH } from '../environment.ts';
import { SandboxFailure, WORKSPACE } from '../sandbox.ts';
import { createFrameReader } from './streams.ts';

/** Engines cannot limit a volume, except on XFS with project quotas: it is looked at this often. */
export const LOOK_AT_DISK_MS = 5_000;
/** A measurement takes at most this part of the time. */
const SHARE = 10;
/** The disk of the engine counts as full when less is left: of it, and in bytes. */
const RESERVE_SHARE = 50;
const RESERVE_BYTES = 256 * 1024 ** 2;
/** With less than this left, a command that fails may have failed for that. */
const LOW_BYTES = 4 * 1024 ** 3;
/** Measurements in a row that are killed or stopped: somebody inside does not want them. */
const ENDED = 3;
/** What a look may take: at the folders; and at what is left of the disk, in times from one look to the next. */
const MEASURE_S = 60;
const LOOK_TIMES = 2;

interface Measured {
  readonly freeBytes: number;
  readonly sizeBytes: number;
  /** What the workspace holds; undefined: not asked for, or it took too long. */
  readonly usedBytes: number | undefined;
}

export interface DiskWatch {
  /**
   * Does `work` under watch; rejects with the reason when the disk ended the session or made it fail.
   *
   * @param isWell a result that no full disk has spoilt
   */
  guard<T>(work: () => Promise<T>, isWell: (result: T) => boolean): Promise<T>;
  stop(): void;
}

/**
 * Looks how much a running session has written, from its first call on, and ends it when that is too much
 * or when the disk of the engine is full: what happens then says nothing about the attempt.
 *
 * @param input.limitBytes of the workspace's volume, with the snapshot in it
 * @param input.everyMs from one look to the next; longer where looks take long
 * @param input.mounted dependency folders relative to the workspace, which are not counted
 * @param input.end ends the container
 */
export function watchDisk(input: {
  readonly container: Docker.Container;
  readonly address: string;
  readonly limitBytes: number;
  readonly everyMs: number;
  readonly mounted: readonly string[];
  readonly end: () => void;
}): DiskWatch {
  let failure: SandboxFailure | undefined;
  let freeBytes: number | undefined;
  let ended = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const fail = (reason: string, remedy: string): void => {
    if (failure !== undefined || stopped) return;
    failure = new SandboxFailure(reason, remedy);
    input.end();
  };
  const look = async (whole: boolean): Promise<void> => {
    const mounted = whole ? input.mounted : undefined;
    const found = await measure(input.container, mounted, input.everyMs * LOOK_TIMES).catch(
      (error: unknown) => {
        // Podman writes down what it runs, also on a full disk.
        const full = error instanceof Error && /no space left|quota exceeded/i.test(error.message);
        // Else it ends, or its processes are at their limit: the next time tells.
        return full ? { freeBytes: 0, sizeBytes: RESERVE_BYTES, usedBytes: undefined } : undefined;
      },
    );
    if (found === 'ended') {
      ended++;
      if (ended < ENDED) return;
      fail(
        'The sandbox was stopped: something in it ends or stops the program that measures its disk use.',
        'See what the commands end (`pkill`, `kill -1`); nothing of the sandbox is theirs to end.',
      );
    }
    if (found === undefined || found === 'ended') return;
    ended = 0;
    freeBytes = found.freeBytes;
    const reserve = Math.min(RESERVE_BYTES, found.sizeBytes / RESERVE_SHARE);
    if (found.freeBytes < reserve) {
      fail(
        `The disk of the container engine at ${input.address} is full: ${formatBytes(found.freeBytes)} are left.`,
        'Free space on it: `docker system df` shows what uses it, `docker system prune` removes what nothing needs.',
      );
    } else if (found.usedBytes !== undefined && found.usedBytes > input.limitBytes) {
      fail(
        `The sandbox was stopped: its workspace holds ${formatBytes(found.usedBytes)}, and ${formatBytes(input.limitBytes)} are allowed.`,
        'See what the commands or tests write. A larger repository needs a higher limit (`diskBytes`).',
      );
    }
  };
  const later = (ms: number): void => {
    timer = setTimeout(async () => {
      const started = performance.now();
      await look(true);
      if (!stopped && failure === undefined) {
        later(Math.max(input.everyMs, (performance.now() - started) * SHARE));
      }
    }, ms);
    timer.unref();
  };

  return {
    guard: async (work, isWell) => {
      if (failure !== undefined) throw failure;
      if (timer === undefined) later(input.everyMs);
      const result = await work().catch((error: unknown) => {
        throw failure ?? error;
      });
      if (!isWell(result) && !stopped && (freeBytes === undefined || freeBytes < LOW_BYTES)) {
        await look(false);
      }
      if (failure !== undefined) throw failure;
      return result;
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Runs beside the session's calls, as the same user, with the image's programs. */
async function measure(
  container: Docker.Container,
  mounted: readonly string[] | undefined,
  lookMs: number,
): Promise<Measured | 'ended' | undefined> {
  const script =
    'df -B1 --output=avail,size "$1" | tail -n 1; shift; [ $# = 0 ] || exec timeout "$@"';
  const sizes =
    mounted === undefined
      ? []
      : [
          ...[String(MEASURE_S), 'du', '-s', '-x', '-B1'],
          ...mounted.map((path) => `--exclude=${escapeGlob(posix.join(WORKSPACE, path))}`),
          WORKSPACE,
        ];
  const exec = await container.exec({
    Cmd: ['bash', '-c', script, 'measure', WORKSPACE, ...sizes],
    // Not the folders of a tool chain, which may lie where commands can write.
    Env: [`PATH=${SYSTEM_PATH}`, 'LC_ALL=C'],
    WorkingDir: '/',
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream = (await exec.start({})) as unknown as Readable;
  // Commands are the same user: they can stop it, and it would never end.
  const limit = setTimeout(
    () => stream.destroy(),
    lookMs + (mounted === undefined ? 0 : MEASURE_S * 1000),
  );
  const text = await readAll(stream).finally(() => clearTimeout(limit));
  if (text === undefined) return 'ended';
  const { ExitCode } = await exec.inspect();
  // By a signal; 124 is `timeout`, for a workspace that is too large to be measured.
  if (ExitCode !== null && ExitCode > 128) return 'ended';
  const [first = '', second] = text.trim().split('\n');
  const [freeBytes, sizeBytes] = first.trim().split(/\s+/).map(Number);
  if (!freeBytes && freeBytes !== 0) return undefined;
  const used = Number.parseInt(second ?? '', 10);
  return {
    freeBytes,
    sizeBytes: sizeBytes ?? 0,
    usedBytes: Number.isNaN(used) ? undefined : used,
  };
}

/** undefined: the stream was destroyed. */
async function readAll(stream: Readable): Promise<string | undefined> {
  let text = '';
  const push = createFrameReader({
    stdout: (bytes: Buffer) => {
      text += bytes.toString();
    },
    // Folders that cannot be read are not counted.
    stderr: () => {},
  });
  stream.on('data', push);
  await finished(stream, { writable: false }).catch(() => {});
  return stream.readableEnded ? text : undefined;
}
