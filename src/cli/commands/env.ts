import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { EnvironmentEvent } from '../../core/environments/build.ts';
import type { StoredEnvironment } from '../../core/environments/collect.ts';
import type { DetectedEnvironment } from '../../core/environments/detect/detect.ts';
import { type PrepareProblem, problem } from '../../core/fix/prepare.ts';
import { stateFolder } from '../../core/platform/state-folder.ts';
import type { Engine } from '../../core/sandbox/docker/engine.ts';
import { makeBase } from '../../core/snapshot/base.ts';
import { type FileTree, readTree } from '../../core/tasks/tree.ts';
import type { CliContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { reportCancelled, reportProblem } from '../job.ts';
import { createProgress } from '../render/progress.ts';
import { plural } from '../render/style.ts';

export interface EnvOptions {
  /** In place of the base image that was found. */
  readonly image?: string;
  readonly json: boolean;
}

/** Says what the repository's tests need and how it would be set up. Starts nothing. */
export async function envShowCommand(
  path: string,
  options: EnvOptions,
  context: CliContext,
): Promise<ExitCode> {
  const read = await describe(path, options, context);
  if (read.kind === 'problem') return reportProblem(read, context, options.json);
  const { description, source } = read;
  if (options.json) {
    context.stdout.write(`${JSON.stringify({ source, description }, null, 2)}\n`);
    return EXIT.ok;
  }
  const { base, setup, files, notes } = description;
  const lines = [
    `from ${source}`,
    `base ${base.kind === 'image' ? base.image : `${base.dockerfile} (built)`}`,
    ...setup.map(
      ({ folder, command }) => `run  ${folder === '' ? '' : `in ${folder}: `}${command}`,
    ),
    ...(setup.length > 0 ? [`with ${files === 'all' ? 'all files' : files.join(', ')}`] : []),
    ...notes.map((note) => `note ${note}`),
  ];
  context.stdout.write(`${lines.join('\n')}\n`);
  return EXIT.ok;
}

export interface EnvBuildOptions extends EnvOptions {
  readonly setupNetwork: string;
  /** Minutes for each command. */
  readonly maxMinutes: number;
}

/** Builds the environment of a repository, unless it is there. */
export async function envBuildCommand(
  path: string,
  options: EnvBuildOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { json } = options;
  const read = await describe(path, options, context);
  if (read.kind === 'problem') return reportProblem(read, context, json);
  const engine = await connect(context);
  if (engine.kind === 'problem') return reportProblem(engine, context, json);
  // Loaded when they are asked for: they bring a client for container engines.
  const { ensureEnvironment } = await import('../../core/environments/build.ts');
  const { hostRegistrySettings } = await import('../../core/environments/registry-settings.ts');
  const progress = createProgress(context);
  try {
    const outcome = await ensureEnvironment({
      engine: engine.engine,
      description: read.description,
      files: read.files,
      stateDir: stateFolder(context.env),
      network: options.setupNetwork,
      registries: await hostRegistrySettings(context.env),
      stepTimeoutMs: options.maxMinutes * 60_000,
      signal: context.signal,
      onProgress: (event) => {
        const text = sayEvent(event);
        if (text !== undefined) progress.listener({ kind: 'progress', text });
      },
    });
    progress.stop();
    if (outcome.kind === 'cancelled') return reportCancelled(context, json);
    if (outcome.kind === 'problem') {
      const { reason, remedy } = outcome;
      return reportProblem(problem('environment', `${reason}.`, remedy), context, json);
    }
    await outcome.release();
    const { hash, image, dependencies, built } = outcome;
    const folders = dependencies.map((dependency) => dependency.path);
    if (json) context.stdout.write(`${JSON.stringify({ hash, image, folders, built }, null, 2)}\n`);
    else {
      context.stdout.write(
        `${built ? 'built' : 'there already'}: ${hash.slice(0, 12)}, ${image}\n`,
      );
      if (folders.length > 0) context.stdout.write(`folders of packages: ${folders.join(', ')}\n`);
    }
    return EXIT.ok;
  } finally {
    progress.stop();
  }
}

function sayEvent(event: EnvironmentEvent): string | undefined {
  switch (event.kind) {
    case 'waiting':
      return 'Another process builds the same environment; waiting for it';
    case 'base':
      return `Building ${event.dockerfile}`;
    case 'step':
      return `Set-up ${event.index + 1} of ${event.count}: ${event.command}`;
    case 'saving':
      return 'Saving the environment';
    case 'output':
      return undefined;
  }
}

/** Environments on the engine, those used last first. */
export async function envListCommand(
  { json }: { readonly json: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const engine = await connect(context);
  if (engine.kind === 'problem') return reportProblem(engine, context, json);
  const { listEnvironments } = await import('../../core/environments/collect.ts');
  const found = await listEnvironments(engine.engine, stateFolder(context.env));
  if (json) context.stdout.write(`${JSON.stringify({ environments: found }, null, 2)}\n`);
  else if (found.length === 0) context.stdout.write('There are no environments.\n');
  else context.stdout.write(`${found.map(line).join('\n')}\n`);
  return EXIT.ok;
}

export interface EnvCollectOptions {
  readonly maxDays: number;
  readonly maxGigabytes: number;
  /** Whatever nobody uses now. */
  readonly all: boolean;
  readonly json: boolean;
}

/** Removes environments that are old or too many. */
export async function envCollectCommand(
  { maxDays, maxGigabytes, all, json }: EnvCollectOptions,
  context: CliContext,
): Promise<ExitCode> {
  const engine = await connect(context);
  if (engine.kind === 'problem') return reportProblem(engine, context, json);
  const { collectEnvironments } = await import('../../core/environments/collect.ts');
  const limits = all
    ? { maxAgeMs: 0, maxBytes: 0 }
    : { maxAgeMs: maxDays * 24 * 3600 * 1000, maxBytes: maxGigabytes * 1e9 };
  const { removed, keptInUse } = await collectEnvironments(
    engine.engine,
    stateFolder(context.env),
    limits,
  );
  if (json) context.stdout.write(`${JSON.stringify({ removed, keptInUse }, null, 2)}\n`);
  else {
    const freed = removed.reduce((sum, { bytes }) => sum + bytes, 0);
    context.stdout.write(
      `${plural(removed.length, 'environment')} removed, ${size(freed)} freed\n`,
    );
    for (const environment of keptInUse) context.stdout.write(`kept: ${line(environment)}\n`);
  }
  return EXIT.ok;
}

const size = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function line({ hash, source, lastUsed, bytes, inUse }: StoredEnvironment): string {
  const day = new Date(lastUsed).toISOString().slice(0, 16).replace('T', ' ');
  return `${hash.slice(0, 12)}  ${size(bytes).padStart(10)}  ${day}  ${source}${inUse ? '  (in use)' : ''}`;
}

type Described = Extract<DetectedEnvironment, { kind: 'described' }> & { readonly files: FileTree };

/** Of the working tree, as attempts see it: with changes that are not committed. */
async function describe(
  path: string,
  { image }: EnvOptions,
  context: CliContext,
): Promise<Described | PrepareProblem> {
  const { detectEnvironment } = await import('../../core/environments/detect/detect.ts');
  const made = await makeBase(resolve(context.cwd, path), {
    stateDir: stateFolder(context.env),
    include: [],
    signal: context.signal,
  });
  if (made.kind !== 'base') {
    return problem('usage', made.reason, made.remedy);
  }
  const files = await readTree(made.base.tree);
  const found = detectEnvironment(files, image === undefined ? {} : { image });
  if (found.kind === 'unknown') return problem('environment', `${found.reason}.`, found.remedy);
  return { ...found, files };
}

async function connect(
  context: CliContext,
): Promise<{ readonly kind: 'engine'; readonly engine: Engine } | PrepareProblem> {
  const { connectEngine } = await import('../../core/sandbox/docker/engine.ts');
  const found = await connectEngine(context.env, context.env.HOME ?? homedir());
  if (found.kind === 'engine') return found;
  return problem('environment', `${found.reason}.`, found.remedy);
}
