import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { shellQuote } from '../platform/shell-quote.ts';
import type { Engine } from '../sandbox/docker/engine.ts';
import { isLeftOver, LABEL, sessionLabels } from '../sandbox/docker/labels.ts';
import { statusOf } from '../sandbox/docker/problems.ts';
import { removeContainer, removeVolume } from '../sandbox/docker/reap.ts';
import { type DependencyFolder, WORKSPACE } from '../sandbox/sandbox.ts';
import { type TarEntry, writeTar } from '../snapshot/tar.ts';
import type { FileTree } from '../tasks/tree.ts';
import { type EnvironmentDescription, INSTALLED, SCRATCH } from './description.ts';
import { buildBase } from './dockerfile.ts';
import { environmentHash, setupFiles } from './hash.ts';
import {
  BASE_BYTES,
  BYTES,
  builderName,
  FOLDERS,
  findFinished,
  HASH,
  imageName,
  inspectImage,
  KIND,
  REPOSITORY,
  SOURCE,
  volumeName,
} from './on-engine.ts';
import { type EnvironmentProblem, engineProblem, noImage, setupProblem } from './problems.ts';
import { NO_SETTINGS, type RegistrySettings } from './registry-settings.ts';
import { type SetupContainer, startSetupContainer } from './setup-container.ts';
import { markUse, withLock } from './uses.ts';

/** What a session needs to know: part of its `SandboxSpec`. */
export interface SessionEnvironment {
  /** Id of an image of the engine. */
  readonly image: string;
  /** Folders of the workspace that are volumes of the engine, mounted read-only. */
  readonly dependencies: readonly DependencyFolder[];
}

export interface ReadyEnvironment extends SessionEnvironment {
  readonly kind: 'ready';
  readonly hash: string;
  /** False: it was there already. */
  readonly built: boolean;
  /** Until then it is not collected as garbage. */
  readonly release: () => Promise<void>;
}

export type EnvironmentOutcome =
  | ReadyEnvironment
  | EnvironmentProblem
  | { readonly kind: 'cancelled' };

export type EnvironmentEvent =
  /** Another process builds the same one. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'base'; readonly dockerfile: string }
  | {
      readonly kind: 'step';
      readonly command: string;
      readonly index: number;
      readonly count: number;
    }
  /** As a command prints it. */
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'saving' };

export interface EnsureOptions {
  readonly engine: Engine;
  readonly description: EnvironmentDescription;
  /** The repository's files. */
  readonly files: FileTree;
  readonly stateDir: string;
  /** Network of the set-up: one of the engine's, or `default`. */
  readonly network?: string;
  readonly registries?: RegistrySettings;
  /** For each command of the set-up. */
  readonly stepTimeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Must not throw. */
  readonly onProgress?: (event: EnvironmentEvent) => void;
}

const STEP_MS = 30 * 60_000;
const SMALL_STEP_MS = 10 * 60_000;
const LOOK_MS = 500;
/** Of a command's output, for its last lines. */
const KEPT_OUTPUT = 64 * 1024;
/** More folders than this are no help to anybody, and each is a mount. */
const MOST_FOLDERS = 100;

/**
 * The environment of a description over a repository's files: found on the engine by its hash, or
 * built there once. The network exists in the set-up alone. Never rejects for what engines,
 * registries and commands do.
 */
export async function ensureEnvironment(options: EnsureOptions): Promise<EnvironmentOutcome> {
  const { engine, description, files, stateDir, signal } = options;
  try {
    signal?.throwIfAborted();
    const base = await resolveBase(options);
    if (base.kind !== 'base') return base;
    const hash = environmentHash(description, files, base.id);
    const isPlain =
      description.setup.length === 0 &&
      description.path.length === 0 &&
      Object.keys(description.variables).length === 0;
    const onWait = (): void => options.onProgress?.({ kind: 'waiting' });
    return await withLock(
      stateDir,
      hash,
      signal,
      async () => {
        const release = await markUse(stateDir, hash);
        try {
          const outcome = isPlain
            ? ({ kind: 'found', image: base.id, dependencies: [], built: false } as const)
            : await findOrBuild(options, base, hash);
          if (outcome.kind === 'found') {
            const { image, dependencies, built } = outcome;
            return { kind: 'ready', hash, image, dependencies, built, release };
          }
          await release();
          return outcome;
        } catch (error) {
          await release();
          throw error;
        }
      },
      onWait,
    );
  } catch (error) {
    if (signal?.aborted) return { kind: 'cancelled' };
    return engineProblem(error, engine.address);
  }
}

interface Base {
  readonly kind: 'base';
  readonly id: string;
  readonly bytes: number;
  /** Of the image's own variables. */
  readonly path: string | undefined;
}

async function resolveBase(
  options: EnsureOptions,
): Promise<Base | EnvironmentProblem | { readonly kind: 'cancelled' }> {
  const { engine, description } = options;
  let name: string;
  if (description.base.kind === 'image') name = description.base.image;
  else {
    const built = await buildBase({ ...options, base: description.base });
    if (built.kind !== 'built') return built;
    name = built.image;
  }
  const found = await inspectImage(engine.docker, name);
  if (found === undefined) return noImage(name, engine.address);
  const path = found.Config?.Env?.find((line) => line.startsWith('PATH='))?.slice('PATH='.length);
  return { kind: 'base', id: found.Id, bytes: found.Size, path };
}

type Found = SessionEnvironment & { readonly kind: 'found'; readonly built: boolean };

async function findOrBuild(
  options: EnsureOptions,
  base: Base,
  hash: string,
): Promise<Found | EnvironmentProblem | { readonly kind: 'cancelled' }> {
  const { engine, signal, onProgress } = options;
  for (let waited = false; ; waited = true) {
    signal?.throwIfAborted();
    const known = await findFinished(engine.docker, hash);
    if (known !== undefined) return { kind: 'found', ...known, built: false };
    const outcome = await build(options, base, hash);
    if (outcome.kind !== 'busy') return outcome;
    // Another machine on the same engine.
    if (!waited) onProgress?.({ kind: 'waiting' });
    await sleep(LOOK_MS, undefined, { signal });
  }
}

type BuildOutcome =
  | Found
  | EnvironmentProblem
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'busy' };

async function build(options: EnsureOptions, base: Base, hash: string): Promise<BuildOutcome> {
  const { engine, description, network = 'default' } = options;
  const { docker } = engine;
  const name = builderName(hash);
  const labels = await sessionLabels(name);
  // Each try has its own: what a dead one left is removed with its process.
  const suffix = randomBytes(4).toString('hex');
  const workspace = `${name}-workspace-${suffix}`;
  const scratch = `${name}-scratch-${suffix}`;
  const variables = imageVariables(description, base.path);
  let setup: SetupContainer | undefined;
  try {
    for (const volume of [workspace, scratch]) {
      await docker.createVolume({ Name: volume, Labels: { ...labels } });
    }
    try {
      setup = await startSetupContainer({
        engine,
        image: base.id,
        name,
        labels,
        network,
        variables,
        volumes: [
          { volume: workspace, target: WORKSPACE },
          { volume: scratch, target: SCRATCH },
        ],
      });
    } catch (error) {
      if (statusOf(error) !== 409 || !/already in use/i.test(String(error))) throw error;
      await removeDeadBuilder(engine, name);
      return { kind: 'busy' };
    }
    const problem = await runSetup(options, setup);
    if (problem !== undefined) return problem;
    options.onProgress?.({ kind: 'saving' });
    return await save({ options, base, hash, setup, workspace });
  } finally {
    await setup?.close();
    for (const volume of [workspace, scratch]) await removeVolume(docker, volume).catch(() => {});
  }
}

/** What the image keeps: no settings of the host. */
function imageVariables(
  description: EnvironmentDescription,
  basePath: string | undefined,
): Record<string, string> {
  const path = [
    ...description.path,
    basePath ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ];
  return {
    ...description.variables,
    ...(description.path.length > 0 && { PATH: path.join(':') }),
  };
}

async function removeDeadBuilder({ docker }: Engine, name: string): Promise<void> {
  const found = await docker
    .getContainer(name)
    .inspect()
    .catch(() => undefined);
  if (found !== undefined && (await isLeftOver(found.Config.Labels))) {
    await removeContainer(docker, found.Id);
  }
}

async function runSetup(
  options: EnsureOptions,
  setup: SetupContainer,
): Promise<EnvironmentProblem | { readonly kind: 'cancelled' } | undefined> {
  const { description, files, registries = NO_SETTINGS, network = 'default', signal } = options;
  const entries = [...folderEntries(), ...settingsEntries(registries)];
  await setup.container.putArchive(writeTar(entries, 0), { path: '/' });
  const tree = treeEntries(setupFiles(description, files));
  await setup.container.putArchive(writeTar(tree, 0), { path: WORKSPACE });

  const variables = { ...SETUP_VARIABLES, ...registries.variables };
  for (const [index, { folder, command }] of description.setup.entries()) {
    options.onProgress?.({ kind: 'step', command, index, count: description.setup.length });
    let output = '';
    const end = await setup.exec(command, {
      cwd: posix.join(WORKSPACE, folder),
      variables,
      timeoutMs: options.stepTimeoutMs ?? STEP_MS,
      signal,
      onOutput: (text) => {
        output = (output + text).slice(-KEPT_OUTPUT);
        options.onProgress?.({ kind: 'output', text });
      },
    });
    if (end.kind === 'cancelled') return { kind: 'cancelled' };
    if (end.kind === 'exited' && end.code === 0) continue;
    if (end.kind === 'timeout') {
      const seconds = Math.round((options.stepTimeoutMs ?? STEP_MS) / 1000);
      return {
        ...setupProblem(command, 1, output, network),
        cause: 'timeout',
        reason: `\`${command}\` did not end within ${seconds} s`,
      };
    }
    return setupProblem(command, end.kind === 'exited' ? end.code : 137, output, network);
  }
  return undefined;
}

/** No questions, no colours, no news of versions; nothing is kept of HOME and caches. */
const SETUP_VARIABLES: Readonly<Record<string, string>> = {
  HOME: `${SCRATCH}/home`,
  TMPDIR: `${SCRATCH}/tmp`,
  XDG_CACHE_HOME: `${SCRATCH}/cache`,
  npm_config_cache: `${SCRATCH}/cache/npm`,
  npm_config_update_notifier: 'false',
  // The set-up is root, and so are the files it gets.
  npm_config_unsafe_perm: 'true',
  PIP_ROOT_USER_ACTION: 'ignore',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  DEBIAN_FRONTEND: 'noninteractive',
  CI: '1',
  NO_COLOR: '1',
  LANG: 'C.UTF-8',
};

function entry(path: string, kind: 'folder' | 'file', mode: number, text = ''): TarEntry {
  const name = Buffer.from(path).toString('latin1').replace(/^\//, '');
  return { path: name, kind, mode, content: Buffer.from(text) };
}

function folderEntries(): TarEntry[] {
  return [
    entry(INSTALLED, 'folder', 0o755),
    ...['home', 'tmp', 'cache'].map((name) => entry(`${SCRATCH}/${name}`, 'folder', 0o777)),
  ];
}

function settingsEntries({ files }: RegistrySettings): TarEntry[] {
  return Object.entries(files).map(([path, text]) => entry(path, 'file', 0o644, text));
}

function treeEntries(tree: FileTree): TarEntry[] {
  return [...tree].map(([path, { mode, content }]) => ({
    path: Buffer.from(path).toString('latin1'),
    kind: mode === '120000' ? 'link' : 'file',
    mode: mode === '100755' ? 0o755 : 0o644,
    content,
  }));
}

/** The outermost folders of packages that the set-up made in the workspace. */
const FIND_FOLDERS = `cd ${WORKSPACE} && find . \\( -name node_modules -o -name .venv \\) -type d -prune -print | LC_ALL=C sort`;

async function save(input: {
  readonly options: EnsureOptions;
  readonly base: Base;
  readonly hash: string;
  readonly setup: SetupContainer;
  readonly workspace: string;
}): Promise<BuildOutcome> {
  const { options, base, hash, setup } = input;
  const { engine, description, files } = options;
  const { docker } = engine;
  const listed = await small(setup, FIND_FOLDERS, options);
  if (listed.kind !== 'done') return listed.outcome;
  const held = [...setupFiles(description, files).keys()];
  const folders = listed.output
    .split('\n')
    .map((line) => line.replace(/^\.\//, ''))
    // A mount would hide the files of the repository there.
    .filter((path) => path !== '' && !held.some((file) => file.startsWith(`${path}/`)))
    .slice(0, MOST_FOLDERS);
  const readable = await small(setup, `chmod -R a+rX ${INSTALLED}`, options);
  if (readable.kind !== 'done') return readable.outcome;

  const environmentLabels = { [LABEL]: KIND, [HASH]: hash };
  let bytes = 0;
  if (folders.length > 0) {
    const copied = await copyFolders({ ...input, folders, labels: environmentLabels });
    if (copied.kind !== 'copied') return copied.outcome;
    bytes = copied.bytes;
  }
  const tag = imageName(hash).slice(REPOSITORY.length + 1);
  // The tag comes last: who finds the image finds everything.
  const made = (await setup.container.commit({
    _query: { container: setup.container.id, repo: REPOSITORY, tag, pause: false },
    _body: {
      Labels: {
        ...environmentLabels,
        [FOLDERS]: JSON.stringify(folders),
        [BYTES]: String(bytes),
        [BASE_BYTES]: String(base.bytes),
        [SOURCE]: [...new Set(description.setup.map(({ tool }) => tool))].join(', '),
      },
    },
  })) as unknown as { readonly Id: string };
  const id = (await docker.getImage(made.Id).inspect()).Id;
  const dependencies = folders.map((path, index) => ({
    path,
    hostPath: '',
    volume: volumeName(hash, index),
  }));
  return { kind: 'found', image: id, dependencies, built: true };
}

/** Each folder to a volume of its own, so that sessions can mount it and nobody can write to it. */
async function copyFolders(input: {
  readonly options: EnsureOptions;
  readonly base: Base;
  readonly hash: string;
  readonly workspace: string;
  readonly folders: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}): Promise<
  | { readonly kind: 'copied'; readonly bytes: number }
  | { readonly kind: 'not-copied'; readonly outcome: BuildOutcome }
> {
  const { options, base, hash, workspace, folders, labels } = input;
  const { engine } = options;
  const volumes = folders.map((_, index) => volumeName(hash, index));
  for (const volume of volumes) {
    // One without an image is half of an environment.
    await removeVolume(engine.docker, volume);
    await engine.docker.createVolume({ Name: volume, Labels: { ...labels } });
  }
  const name = `${builderName(hash)}-copy`;
  const copier = await startSetupContainer({
    engine,
    image: base.id,
    name: `${name}-${randomBytes(4).toString('hex')}`,
    labels: await sessionLabels(name),
    network: 'none',
    variables: {},
    volumes: [
      { volume: workspace, target: WORKSPACE },
      ...volumes.map((volume, index) => ({ volume, target: `/copy/${index}` })),
    ],
  });
  try {
    const copies = folders.map(
      (path, index) => `cp -a ${shellQuote(`${WORKSPACE}/${path}/.`)} /copy/${index}/`,
    );
    const script = ['set -e', ...copies, 'chmod -R a+rX /copy', 'du -sb /copy | cut -f1'].join(
      '\n',
    );
    const done = await small(copier, script, options);
    if (done.kind !== 'done') {
      for (const volume of volumes) await removeVolume(engine.docker, volume).catch(() => {});
      return { kind: 'not-copied', outcome: done.outcome };
    }
    return { kind: 'copied', bytes: Number(done.output.trim()) || 0 };
  } finally {
    await copier.close();
  }
}

/** A command of our own. */
async function small(
  container: SetupContainer,
  command: string,
  { signal }: EnsureOptions,
): Promise<
  | { readonly kind: 'done'; readonly output: string }
  | { readonly kind: 'not-done'; readonly outcome: BuildOutcome }
> {
  let output = '';
  const end = await container.exec(command, {
    cwd: '/',
    variables: { LC_ALL: 'C' },
    timeoutMs: SMALL_STEP_MS,
    signal,
    onOutput: (text) => {
      output += text;
    },
  });
  if (end.kind === 'exited' && end.code === 0) return { kind: 'done', output };
  const outcome: BuildOutcome =
    end.kind === 'cancelled'
      ? { kind: 'cancelled' }
      : setupProblem(
          'saving the environment',
          end.kind === 'exited' ? end.code : 1,
          output,
          'none',
        );
  return { kind: 'not-done', outcome };
}
