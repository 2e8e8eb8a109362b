import { posix } from 'node:path';
import type Docker from 'dockerode';
import { sandboxEnvironment } from '../environment.ts';
import {
  SANDBOX_HOME,
  SANDBOX_HOSTNAME,
  SUPERVISOR_STATE,
  supervisorCommand,
  temporarySizes,
  workspacePlaces,
} from '../inside.ts';
import type { DependencyFolder, SandboxSpec } from '../sandbox.ts';
import type { Engine } from './engine.ts';
import type { PreparedImage } from './image.ts';
import type { Labels } from './labels.ts';

const MIB = 1024 ** 2;
const LEAST_MEMORY = 512 * MIB;
/** Processes of the supervisor, beside those of commands. */
const SUPERVISOR_PROCESSES = 16;

export interface ContainerInput {
  readonly engine: Pick<Engine, 'kind' | 'memoryBytes' | 'cpus' | 'limits'>;
  readonly image: PreparedImage;
  readonly spec: SandboxSpec;
  /** uid and gid of commands. */
  readonly id: number;
  /** Name of the volume that holds the workspace. */
  readonly volume: string;
  /** Folders that the engine can mount: of this machine, or volumes of its own. */
  readonly mounted: readonly DependencyFolder[];
  readonly labels: Labels;
  /** Name of a network of the engine, or `none`. */
  readonly network: string;
  /** Profile of system calls, as the engine takes it; undefined: the engine's own. */
  readonly seccomp: string | undefined;
  /** How many CPUs at most; undefined: all but one, where there are more than two. */
  readonly cpus: number | undefined;
}

/** Bytes of memory for a container, from what was asked for and what the engine has. */
export function containerMemory(asked: number | undefined, engineBytes: number): number {
  return Math.max(LEAST_MEMORY, asked ?? Math.floor(engineBytes / 2));
}

/** A container as the API takes it: nothing of the host but what is named. */
export function containerOptions(input: ContainerInput): Docker.ContainerCreateOptions {
  const { engine, spec, id, image } = input;
  const memory = containerMemory(spec.limits.memoryBytes, engine.memoryBytes);
  const environment = sandboxEnvironment(spec.toolchain, {
    home: SANDBOX_HOME,
    tmp: '/tmp',
    user: 'user',
    ...(image.path !== undefined && { path: image.path }),
  });
  // The engine counts for the container alone. Where it cannot, RLIMIT_NPROC counts all of the uid:
  // for a rootless engine those in its containers.
  const [entry = '', ...command] = supervisorCommand({
    fileBytes: spec.limits.fileBytes,
    processes: engine.limits.processes ? 0 : spec.limits.processes,
  });
  return {
    Image: image.id,
    User: `${id}:${id}`,
    Entrypoint: [entry],
    Cmd: command,
    Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    WorkingDir: '/',
    Hostname: SANDBOX_HOSTNAME,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    Labels: { ...input.labels },
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      AutoRemove: true,
      NetworkMode: input.network,
      // Without a network a name must fail at once, and the host's resolvers are nobody's business.
      ...(input.network === 'none' &&
        engine.kind === 'docker' && { Dns: ['127.0.0.1'], DnsSearch: ['.'] }),
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: [
        'no-new-privileges',
        ...(input.seccomp === undefined ? [] : [`seccomp=${input.seccomp}`]),
      ],
      IpcMode: 'private',
      ...(engine.limits.memory && { Memory: memory, MemorySwap: memory }),
      ...(engine.limits.cpu && {
        NanoCpus: Math.round((input.cpus ?? defaultCpus(engine.cpus)) * 1e9),
      }),
      ...(engine.limits.processes && {
        PidsLimit: spec.limits.processes + SUPERVISOR_PROCESSES,
      }),
      ...temporaryFolders(memory, id, engine.kind),
      Mounts: mounts(input),
      // What commands print goes through the attached streams; a log of it would fill the disk.
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}

function defaultCpus(all: number): number {
  return all > 2 ? all - 1 : all;
}

function temporaryFolders(
  memory: number,
  id: number,
  kind: Engine['kind'],
): Pick<Docker.HostConfig, 'Tmpfs' | 'ShmSize'> {
  const sizes = temporarySizes(memory);
  const options = (bytes: number, mode: string, own: boolean): string => {
    // Podman's word for the owner is U: the container's user. The mode is that of the image's folder.
    const owner = !own ? '' : kind === 'docker' ? `,uid=${id},gid=${id}` : ',U';
    return `rw,nosuid,nodev,exec,size=${bytes},mode=${mode}${owner}`;
  };
  return {
    ShmSize: sizes.shm,
    Tmpfs: {
      '/tmp': options(sizes.tmp, '1777', false),
      '/var/tmp': options(sizes.home, '1777', false),
      [SANDBOX_HOME]: options(sizes.home, '0755', true),
      [SUPERVISOR_STATE]: options(sizes.state, '0700', true),
    },
  };
}

function mounts(input: ContainerInput): Docker.MountSettings[] {
  const places = workspacePlaces(input.spec.base.workspacePath).filter((place) =>
    posix.isAbsolute(place),
  );
  return [
    ...places.map(
      (place): Docker.MountSettings => ({
        Type: 'volume',
        Source: input.volume,
        Target: place,
        // The first mount takes over owner and content of the image's folder.
        VolumeOptions: {
          NoCopy: place !== places[0],
          Labels: {},
          DriverConfig: { Name: '', Options: {} },
        },
      }),
    ),
    ...input.mounted.flatMap(({ path, hostPath, volume }) =>
      places.map((place): Docker.MountSettings => {
        const target = { Target: posix.join(place, path), ReadOnly: true };
        return volume === undefined
          ? { Type: 'bind', Source: hostPath, ...target }
          : {
              Type: 'volume',
              Source: volume,
              ...target,
              VolumeOptions: {
                NoCopy: true,
                Labels: {},
                DriverConfig: { Name: '', Options: {} },
              },
            };
      }),
    ),
  ];
}
