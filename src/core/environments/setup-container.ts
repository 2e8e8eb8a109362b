import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { containerMemory } from '../sandbox/docker/container-options.ts';
import type { Engine } from '../sandbox/docker/engine.ts';
import type { Labels } from '../sandbox/docker/labels.ts';
import { removeContainer } from '../sandbox/docker/reap.ts';
import { createFrameReader } from '../sandbox/docker/streams.ts';

export interface SetupVolume {
  readonly volume: string;
  readonly target: string;
}

export interface SetupContainerOptions {
  readonly engine: Engine;
  readonly image: string;
  /** Unique on the engine: a second one of this name cannot be made. */
  readonly name: string;
  readonly labels: Labels;
  /** A network of the engine; `default`: the engine's own choice. */
  readonly network: string;
  /** Stay in an image that is made of the container. */
  readonly variables: Readonly<Record<string, string>>;
  readonly volumes: readonly SetupVolume[];
}

export type StepEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' }
  /** The container ended in the middle: it had no memory left, or somebody stopped it. */
  | { readonly kind: 'lost' };

export interface SetupContainer {
  readonly container: Docker.Container;
  /** Runs a command of bash as root. Does not reject for what the command does. */
  exec(command: string, options: ExecStepOptions): Promise<StepEnd>;
  close(): Promise<void>;
}

export interface ExecStepOptions {
  readonly cwd: string;
  /** For this command alone. */
  readonly variables: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onOutput: (text: string) => void;
}

const PROCESSES = 8192;
/** What installers need as root: to own files, and to become somebody else (apt, git). */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETGID', 'SETUID', 'SETFCAP'];

/**
 * A container in which one command runs after the other. It lives as long as its stream is open,
 * so it ends when this process ends, however it does. Rejects with what the engine says.
 */
export async function startSetupContainer(options: SetupContainerOptions): Promise<SetupContainer> {
  const { engine } = options;
  const { docker } = engine;
  const memory = containerMemory(undefined, engine.memoryBytes);
  const container = await docker.createContainer({
    name: options.name,
    Image: options.image,
    User: '0:0',
    Entrypoint: ['/bin/cat'],
    Cmd: [],
    Env: Object.entries(options.variables).map(([name, value]) => `${name}=${value}`),
    WorkingDir: '/',
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    Tty: false,
    Labels: { ...options.labels },
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      AutoRemove: true,
      ...(options.network !== 'default' && { NetworkMode: options.network }),
      Privileged: false,
      CapDrop: ['ALL'],
      CapAdd: CAPABILITIES,
      SecurityOpt: ['no-new-privileges'],
      IpcMode: 'private',
      ...(engine.limits.memory && { Memory: memory, MemorySwap: memory }),
      ...(engine.limits.processes && { PidsLimit: PROCESSES }),
      Mounts: options.volumes.map(({ volume, target }) => ({
        Type: 'volume',
        Source: volume,
        Target: target,
        VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: '', Options: {} } },
      })),
      LogConfig: { Type: 'none', Config: {} },
    },
  });
  const close = async (stream?: Duplex): Promise<void> => {
    stream?.destroy();
    await removeContainer(docker, container.id).catch(() => {});
  };
  try {
    const stream = (await container.attach({
      stream: true,
      stdin: true,
      stdout: true,
      hijack: true,
    })) as unknown as Duplex;
    stream.on('error', () => {});
    stream.resume();
    await container.start();
    return {
      container,
      exec: (command, step) => execIn(container, command, step),
      close: () => close(stream),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function execIn(
  container: Docker.Container,
  command: string,
  { cwd, variables, timeoutMs, signal, onOutput }: ExecStepOptions,
): Promise<StepEnd> {
  if (signal?.aborted) return { kind: 'cancelled' };
  const exec = await container.exec({
    Cmd: ['bash', '-o', 'pipefail', '-c', command],
    Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    WorkingDir: cwd,
    User: '0:0',
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream = (await exec.start({ hijack: true, stdin: false })) as unknown as Duplex;
  const decoders = [new TextDecoder(), new TextDecoder()];
  const say = (at: number) => (bytes: Uint8Array) => {
    onOutput(decoders[at]?.decode(bytes, { stream: true }) ?? '');
  };
  const push = createFrameReader({ stdout: say(0), stderr: say(1) });
  let broken: 'timeout' | 'cancelled' | undefined;
  const end = (why: 'timeout' | 'cancelled'): void => {
    broken ??= why;
    // A command cannot be ended alone: there is no way to name its processes.
    container.kill().catch(() => {});
    stream.destroy();
  };
  const cancel = (): void => end('cancelled');
  const timer = setTimeout(() => end('timeout'), timeoutMs);
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    await new Promise<void>((resolve) => {
      stream.on('data', (chunk: Buffer) => {
        try {
          push(chunk);
        } catch (error) {
          stream.destroy(error instanceof Error ? error : undefined);
        }
      });
      stream.once('end', resolve);
      stream.once('close', resolve);
      stream.once('error', () => resolve());
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
  if (broken !== undefined) return { kind: broken };
  const state = await exec.inspect().catch(() => undefined);
  return state === undefined || state.Running || state.ExitCode === null
    ? { kind: 'lost' }
    : { kind: 'exited', code: state.ExitCode };
}
