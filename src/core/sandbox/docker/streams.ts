import type { Buffer } from 'node:buffer';
import type { Duplex } from 'node:stream';
import { PassThrough } from 'node:stream';
import type Docker from 'dockerode';
import type { SupervisorProcess } from '../supervisor/supervisor-client.ts';
import { statusOf } from './problems.ts';

const HEADER = 8;
const STDOUT = 1;
const STDERR = 2;

/**
 * Takes apart what an engine sends for an attached container: frames of a header (number of the
 * stream, three zeros, length as u32 big endian) and bytes. Frames may be cut anywhere.
 *
 * @returns `push`, which throws on anything that is not such a frame
 */
export function createFrameReader(onBytes: {
  stdout(bytes: Buffer): void;
  stderr(bytes: Buffer): void;
}): (chunk: Buffer) => void {
  const header = new Uint8Array(HEADER);
  let headerLength = 0;
  let stream = 0;
  let left = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const taken = chunk.subarray(at, at + HEADER - headerLength);
        header.set(taken, headerLength);
        headerLength += taken.length;
        at += taken.length;
        if (headerLength < HEADER) return;
        headerLength = 0;
        stream = header[0] ?? 0;
        left = new DataView(header.buffer).getUint32(4);
        if ((stream !== STDOUT && stream !== STDERR) || header[1] || header[2] || header[3]) {
          throw new Error('the engine sent something that is no frame of output');
        }
        continue;
      }
      const bytes = chunk.subarray(at, at + left);
      at += bytes.length;
      left -= bytes.length;
      if (stream === STDOUT) onBytes.stdout(bytes);
      else onBytes.stderr(bytes);
    }
  };
}

/** After the streams have ended, this long for the engine to say how, and this long between questions. */
const HOW_MS = 2_000;
const ASK_MS = 100;
const LOST = 'the connection to the container engine was lost';
const KILLED = 'killed; when nobody stopped the container, it had no memory left';

const ending = (code: number): string => (code === 137 ? KILLED : `exit code ${code}`);

/** How a container ended that is removed when it ends; undefined: it still runs. */
async function askHow(container: Docker.Container): Promise<string | undefined> {
  try {
    const { State } = await container.inspect();
    return State.Running ? undefined : ending(State.ExitCode);
  } catch (error) {
    if (statusOf(error) !== 404) return LOST;
    return 'its container is gone; when nobody stopped it, it had no memory left';
  }
}

/**
 * The streams of the supervisor in a container that was created and not yet started. Rejects when
 * the engine does not attach.
 */
export async function attachContainer(container: Docker.Container): Promise<SupervisorProcess> {
  const stream = (await container.attach({
    stream: true,
    stdin: true,
    stdout: true,
    stderr: true,
    hijack: true,
  })) as unknown as Duplex;
  // Podman takes the body of the request for the first bytes of stdin. With the end of a line behind it
  // that is a request of no kind, which the supervisor passes over.
  stream.write('\n');
  const output = new PassThrough();
  const control = new PassThrough();
  const forward = (to: PassThrough) => (bytes: Buffer) => {
    if (to.write(bytes) || stream.isPaused()) return;
    stream.pause();
    to.once('drain', () => stream.resume());
  };
  const push = createFrameReader({ stdout: forward(output), stderr: forward(control) });
  stream.on('data', (chunk: Buffer) => {
    try {
      push(chunk);
    } catch (error) {
      stream.destroy(error instanceof Error ? error : undefined);
    }
  });
  const streamsEnded = new Promise<void>((resolve) => {
    const end = (): void => {
      output.end();
      control.end();
      resolve();
    };
    stream.once('end', end);
    stream.once('close', end);
    stream.once('error', end);
  });
  // Asked before it is started, so that it cannot have exited unseen.
  const waiting = new AbortController();
  const asked = { condition: 'next-exit', abortSignal: waiting.signal } as const;
  const how = (container.wait(asked) as Promise<{ StatusCode: number }>).then(
    ({ StatusCode }) => ending(StatusCode),
    () => LOST,
  );
  const exited = streamsEnded.then(async () => {
    let said: string | undefined;
    // Podman does not answer the first question once it has removed the container.
    const end = performance.now() + HOW_MS;
    do {
      const pause = new Promise<undefined>((resolve) => setTimeout(resolve, ASK_MS, undefined));
      said = await Promise.race([how, pause]);
      // What the first question was answered in the meantime says more.
      if (said === undefined) said = await Promise.race([how, await askHow(container)]);
    } while (said === undefined && performance.now() < end);
    // An engine may leave both open, and this process would live as long.
    waiting.abort();
    stream.destroy();
    return said ?? LOST;
  });
  return {
    requests: stream,
    output,
    control,
    exited,
    kill: () => {
      container.kill().catch(() => {});
      // An engine that does not answer must not keep us waiting.
      setTimeout(() => stream.destroy(), 1_000).unref();
    },
  };
}
