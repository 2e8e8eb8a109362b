import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import type Docker from 'dockerode';
import { type TarEntry, writeTar } from '../../snapshot/tar.ts';
import { createSandboxFiles } from '../files.ts';
import { SANDBOX_ID } from '../inside.ts';
import {
  type DependencyFolder,
  type ExecResult,
  type SandboxAvailability,
  SandboxFailure,
  type SandboxProvider,
  type SandboxSession,
  type SandboxSpec,
  WORKSPACE,
} from '../sandbox.ts';
import { createSupervisorClient, type SupervisorClient } from '../supervisor/supervisor-client.ts';
import { sendFolder } from './archive.ts';
import { containerOptions } from './container-options.ts';
import { LOOK_AT_DISK_MS, watchDisk } from './disk-watch.ts';
import { connectEngine, type Engine } from './engine.ts';
import { type PreparedImage, prepareImage } from './image.ts';
import { sessionLabels } from './labels.ts';
import { asSandboxFailure, statusOf } from './problems.ts';
import { withProfile } from './profile.ts';
import { reapLeftOvers, removeContainer, removeVolume } from './reap.ts';
import { attachContainer } from './streams.ts';

/** Node, Python 3, git and compilers, on Debian. Projects usually need an image of their own. */
export const DEFAULT_IMAGE = 'node:22-bookworm';

/** What a workspace may hold, where nobody says it. */
const DISK_BYTES = 16 * 1024 ** 3;

/** The engine ends a container in its own time; after this it is told to. */
const CLOSE_MS = 1_500;

export interface DockerSandboxOptions {
  /** Tag, digest or id of an image that the engine has. */
  readonly image?: string | undefined;
  /** The host's variables: they name the engine. */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
  readonly home?: string;
  /** A network of the engine by its name. Default: none at all. */
  readonly network?: string;
  readonly cpus?: number;
  /** `copy`: dependency folders are sent, also to an engine of this machine. */
  readonly dependencies?: 'auto' | 'copy';
  /** How often what a session has written is measured. Milliseconds; default 5,000. */
  readonly lookAtDiskMs?: number;
}

interface Support {
  readonly engine: Engine;
  readonly detail: string;
}

/** uid of commands: the user's own, so that mounted folders can be read; never root. */
function commandId(): number {
  const own = process.platform === 'linux' ? (process.getuid?.() ?? 0) : 0;
  return own === 0 ? SANDBOX_ID : own;
}

/** A container for each session, on Docker or on Podman with its compatible interface. */
export function createDockerSandbox(options: DockerSandboxOptions = {}): SandboxProvider {
  const image = options.image ?? DEFAULT_IMAGE;
  const id = commandId();
  const prepared = new Map<string, Promise<PreparedImage>>();
  /** undefined: not tried yet. */
  let sharesFiles: boolean | undefined = options.dependencies === 'copy' ? false : undefined;
  let known: Promise<SandboxAvailability> | undefined;
  let engine: Promise<Engine> | undefined;

  const connect = async (): Promise<Engine> => {
    const outcome = await connectEngine(
      options.variables ?? process.env,
      options.home ?? homedir(),
    );
    if (outcome.kind === 'problem') throw new SandboxFailure(`${outcome.reason}.`, outcome.remedy);
    await reapLeftOvers(outcome.engine.docker);
    return outcome.engine;
  };
  const connected = (): Promise<Engine> => {
    engine ??= connect().catch((error: unknown) => {
      engine = undefined;
      throw error;
    });
    return engine;
  };
  const preparedImage = (on: Engine, spec: SandboxSpec): Promise<PreparedImage> => {
    const name = spec.image ?? image;
    const key = JSON.stringify([name, spec.toolbox]);
    let found = prepared.get(key);
    if (found === undefined) {
      found = prepareImage(on, name, spec.toolbox, id);
      prepared.set(key, found);
      // Made again when it failed.
      found.catch(() => prepared.delete(key));
    }
    return found;
  };

  const openOn = async (
    on: Engine,
    spec: SandboxSpec,
    signal: AbortSignal | undefined,
  ): Promise<SandboxSession> => {
    const { dependencies } = spec.base;
    const volumes = dependencies.filter(({ volume }) => volume !== undefined);
    const present = await existing(dependencies.filter(({ volume }) => volume === undefined));
    const mounts = on.onThisMachine && sharesFiles !== false;
    const made = await preparedImage(on, spec);
    const open = (mounted: boolean): Promise<SandboxSession> =>
      openSession({
        engine: on,
        image: made,
        spec,
        id,
        mounted: mounted ? [...present, ...volumes] : volumes,
        sent: mounted ? [] : present,
        network: options.network ?? 'none',
        cpus: options.cpus,
        lookAtDiskMs: options.lookAtDiskMs ?? LOOK_AT_DISK_MS,
        signal,
      });
    try {
      return await open(mounts);
    } catch (error) {
      if (isGone(error)) prepared.clear();
      // An engine in a machine of its own (Docker Desktop, a forwarded socket) sees other files.
      if (!mounts || present.length === 0 || !isMissingMount(error)) throw error;
      sharesFiles = false;
      return open(false);
    }
  };

  const open = async (spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxSession> => {
    signal?.throwIfAborted();
    const on = await connected();
    try {
      try {
        return await openOn(on, spec, signal);
      } catch (error) {
        // The prepared image was removed behind our back: once more with a new one.
        if (!isGone(error)) throw error;
        return await openOn(on, spec, signal);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw asSandboxFailure(error, on.address);
    }
  };

  const probe = async (): Promise<SandboxAvailability> => {
    try {
      const { detail } = await tryEngine(await connected(), image, open);
      return { available: true, detail };
    } catch (error) {
      const failure = asSandboxFailure(error, 'the container engine');
      return {
        available: false,
        reason: failure.message.replace(/\.$/, ''),
        remedy: failure.remedy ?? 'Run `docker info`.',
      };
    }
  };

  return {
    kind: 'docker',
    availability: async () => {
      known ??= probe();
      const state = await known;
      // An engine that is started or an image that is pulled in the meantime is noticed.
      if (!state.available) known = undefined;
      return state;
    },
    open,
  };
}

/** A whole session over an empty folder: engines differ in what they allow. */
async function tryEngine(
  engine: Engine,
  image: string,
  open: (spec: SandboxSpec) => Promise<SandboxSession>,
): Promise<Support> {
  const folder = await mkdtemp(join(tmpdir(), 'prime-docker-'));
  try {
    const session = await open({
      base: { id: 'probe', tree: folder, workspacePath: WORKSPACE, dependencies: [] },
      toolchain: { path: [], mounts: [], env: {} },
      toolbox: {},
      limits: { processes: 64, fileBytes: 1024 ** 2 },
    });
    try {
      const result = await session.run(
        {
          argv: ['bash', '-c', 'touch file && stat -c %s file && realpath -mz . && timeout 9 true'],
        },
        { timeoutMs: 20_000, maxOutputBytes: 4096 },
      );
      if (result.end.kind !== 'exited' || result.end.code !== 0) {
        const said = Buffer.from(result.output.head).toString().trim();
        throw new SandboxFailure(
          `Commands do not work in the image ${image}: ${said || result.end.kind}.`,
          'The sandbox needs bash and GNU coreutils in the image.',
        );
      }
    } finally {
      await session.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const missing = Object.entries(engine.limits).flatMap(([name, works]) => (works ? [] : [name]));
  const name = engine.kind === 'podman' ? 'Podman' : 'Docker';
  return {
    engine,
    detail: [
      `${name} ${engine.version} at ${engine.address}${engine.rootless ? ' (rootless)' : ''}`,
      `image ${image}`,
      ...(engine.kind === 'podman' && !engine.onThisMachine
        ? ['with its own profile of system calls']
        : []),
      ...(missing.length > 0 ? [`no limit for ${missing.join(', ')} here`] : []),
    ].join(', '),
  };
}

/** Folders that are gone are left out, as in the other sandboxes. */
async function existing(folders: readonly DependencyFolder[]): Promise<DependencyFolder[]> {
  const found: DependencyFolder[] = [];
  for (const folder of folders) {
    const info = await stat(folder.hostPath).catch(() => undefined);
    if (info?.isDirectory()) found.push(folder);
  }
  return found;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

function isMissingMount(error: unknown): boolean {
  return /mount config for type "bind"|bind source path does not exist|statfs .*no such file|bind mount/i.test(
    messageOf(error),
  );
}

/** The image that was asked for by its id is not there any more. */
function isGone(error: unknown): boolean {
  const said = messageOf(error);
  // Podman takes an id that it does not know for a name that nobody may have.
  if (/cannot specify 64-byte hexadecimal strings/.test(said)) return true;
  return statusOf(error) === 404 && /no such image/i.test(said);
}

async function openSession(input: {
  readonly engine: Engine;
  readonly image: PreparedImage;
  readonly spec: SandboxSpec;
  readonly id: number;
  readonly mounted: readonly DependencyFolder[];
  /** Dependency folders that are copied into the workspace. */
  readonly sent: readonly DependencyFolder[];
  readonly network: string;
  readonly cpus: number | undefined;
  readonly lookAtDiskMs: number;
  readonly signal: AbortSignal | undefined;
}): Promise<SandboxSession> {
  const { engine, spec, id, signal } = input;
  const { docker } = engine;
  const name = `prime-agent-${randomBytes(8).toString('hex')}`;
  const labels = await sessionLabels(name);
  let container: Docker.Container | undefined;
  const remove = async (): Promise<void> => {
    // An engine that is gone cannot be told; the next start removes what is left.
    if (container !== undefined) await removeContainer(docker, container.id).catch(() => {});
    await removeVolume(docker, name).catch(() => {});
  };
  try {
    await docker.createVolume({ Name: name, Labels: { ...labels } });
    container = await withProfile(engine, (seccomp) =>
      docker.createContainer({
        name,
        ...containerOptions({ ...input, volume: name, labels, seccomp }),
      }),
    );
    signal?.throwIfAborted();
    await sendFolder(container, spec.base.tree, WORKSPACE, id, signal);
    for (const dependency of input.sent) {
      await container.putArchive(writeTar(foldersTo(dependency.path, id), 0), { path: WORKSPACE });
      const target = posix.join(WORKSPACE, dependency.path);
      await sendFolder(container, dependency.hostPath, target, id, signal);
    }
    signal?.throwIfAborted();
    const supervisor = await attachContainer(container);
    const client = createSupervisorClient(supervisor, {
      workspace: WORKSPACE,
      describe: `${engine.kind}, ${engine.address}`,
      closeMs: CLOSE_MS,
      remedy:
        'See that the container engine runs (`docker info`) and has memory and disk left, then try again.',
    });
    try {
      await container.start();
      await client.ready();
      signal?.throwIfAborted();
    } catch (error) {
      await client.close();
      throw error;
    }
    const watch = watchDisk({
      container,
      address: engine.address,
      limitBytes: spec.limits.diskBytes ?? DISK_BYTES,
      everyMs: input.lookAtDiskMs,
      mounted: input.mounted.map(({ path }) => path),
      end: supervisor.kill,
    });
    const isWell = ({ end }: ExecResult): boolean => end.kind === 'exited' && end.code === 0;
    const watched: SupervisorClient = {
      ...client,
      shell: (command, exec) => watch.guard(() => client.shell(command, exec), isWell),
      run: (request, exec) => watch.guard(() => client.run(request, exec), isWell),
      script: (text, stdin, exec) => watch.guard(() => client.script(text, stdin, exec), isWell),
      restartShell: () => watch.guard(client.restartShell, () => true),
    };
    let closing: Promise<void> | undefined;
    return {
      kind: 'docker',
      files: createSandboxFiles(watched, {
        samePlace: { from: spec.base.workspacePath, to: WORKSPACE },
      }),
      shell: watched.shell,
      run: watched.run,
      restartShell: watched.restartShell,
      close: () => {
        watch.stop();
        closing ??= client.close().then(remove);
        return closing;
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The folders on the way to `path`, relative to the workspace, itself included. */
function foldersTo(path: string, owner: number): TarEntry[] {
  const parts = Buffer.from(path).toString('latin1').split('/');
  return parts.map((_, index) => ({
    path: parts.slice(0, index + 1).join('/'),
    kind: 'folder',
    mode: 0o755,
    owner,
    content: Buffer.alloc(0),
  }));
}
