import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import type { Engine } from '../sandbox/docker/engine.ts';
import { LABEL } from '../sandbox/docker/labels.ts';
import { writeTar } from '../snapshot/tar.ts';
import type { FileTree } from '../tasks/tree.ts';
import type { EnvironmentEvent } from './build.ts';
import type { EnvironmentBase } from './description.ts';
import { contextFiles, dockerfileHash, dockerfileName, imagesOf } from './hash.ts';
import { BASE_REPOSITORY, HASH, inspectImage } from './on-engine.ts';
import { type EnvironmentProblem, isDiskFull, lastLines } from './problems.ts';
import { NO_SETTINGS, type RegistrySettings } from './registry-settings.ts';

export interface BuildBaseOptions {
  readonly engine: Engine;
  readonly base: Extract<EnvironmentBase, { kind: 'dockerfile' }>;
  readonly files: FileTree;
  readonly network?: string;
  readonly registries?: RegistrySettings;
  readonly signal?: AbortSignal;
  readonly onProgress?: (event: EnvironmentEvent) => void;
}

type BuiltBase =
  | { readonly kind: 'built'; readonly image: string }
  | EnvironmentProblem
  | { readonly kind: 'cancelled' };

/** Value of `LABEL` of images that Dockerfiles made. */
export const BASE_KIND = 'environment-base';

/** Proxies alone: engines keep them out of the image, other arguments they would not. */
const PROXY = /^(?:https?|no|all)_proxy$/i;

/** The image of a Dockerfile, found by the hash of what it is made of, or built by the engine. */
export async function buildBase(options: BuildBaseOptions): Promise<BuiltBase> {
  const { engine, base, files, network, registries = NO_SETTINGS, signal } = options;
  const text = files.get(base.dockerfile)?.content.toString('utf8');
  if (text === undefined) {
    return failed(`The repository has no ${base.dockerfile}`, 'Name an image: --image NAME', '');
  }
  const ids: Record<string, string> = {};
  for (const image of imagesOf(text)) {
    const found = await inspectImage(engine.docker, image);
    if (found !== undefined) ids[image] = found.Id;
  }
  const hash = dockerfileHash(base, files, ids);
  const name = `${BASE_REPOSITORY}:${hash.slice(0, 32)}`;
  if ((await inspectImage(engine.docker, name)) !== undefined)
    return { kind: 'built', image: name };

  options.onProgress?.({ kind: 'base', dockerfile: base.dockerfile });
  const entries = [...contextFiles(base, files)].map(([path, { mode, content }]) => ({
    path: Buffer.from(path).toString('latin1'),
    kind: mode === '120000' ? ('link' as const) : ('file' as const),
    mode: mode === '100755' ? 0o755 : 0o644,
    content,
  }));
  const proxies = Object.entries(registries.variables).filter(([variable]) => PROXY.test(variable));
  const stream = await engine.docker.buildImage(
    // It is read as a stream, whatever the types say.
    Readable.from([writeTar(entries, 0)]),
    {
      t: name,
      dockerfile: dockerfileName(base),
      ...(base.target === undefined ? {} : { target: base.target }),
      buildargs: { ...Object.fromEntries(proxies), ...base.args },
      labels: { [LABEL]: BASE_KIND, [HASH]: hash },
      ...(network === undefined || network === 'default' ? {} : { networkmode: network }),
      rm: true,
      forcerm: true,
      ...(signal && { abortSignal: signal }),
    },
  );
  let output = '';
  let error: string | undefined;
  const say = (part: BuildMessage): void => {
    if (part.stream) {
      output = (output + part.stream).slice(-64 * 1024);
      options.onProgress?.({ kind: 'output', text: part.stream });
    }
    error = part.error ?? error;
  };
  try {
    await new Promise<void>((resolve, reject) => {
      engine.docker.modem.followProgress(
        stream,
        (problem: Error | null) => (problem ? reject(problem) : resolve()),
        say,
      );
    });
  } catch (problem) {
    if (signal?.aborted) return { kind: 'cancelled' };
    error ??= problem instanceof Error ? problem.message : String(problem);
  }
  if (error === undefined && (await inspectImage(engine.docker, name)) !== undefined) {
    return { kind: 'built', image: name };
  }
  return failed(
    `${base.dockerfile} could not be built: ${error ?? 'the engine made no image of it'}`,
    'See the last lines, or name an image: --image NAME',
    `${output}\n${error ?? ''}`,
  );
}

interface BuildMessage {
  readonly stream?: string;
  readonly error?: string;
}

function failed(reason: string, remedy: string, output: string): EnvironmentProblem {
  return {
    kind: 'problem',
    cause: isDiskFull(output) ? 'disk-full' : 'build-failed',
    reason,
    remedy,
    log: lastLines(output),
  };
}
