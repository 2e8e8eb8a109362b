import type Docker from 'dockerode';
import { LABEL } from '../sandbox/docker/labels.ts';
import { statusOf } from '../sandbox/docker/problems.ts';
import type { DependencyFolder } from '../sandbox/sandbox.ts';

/** How environments are named and labelled on an engine. */

export const REPOSITORY = 'prime-agent/environment';
/** Images that Dockerfiles made. */
export const BASE_REPOSITORY = 'prime-agent/environment-base';

/** Value of `LABEL` for what belongs to an environment. */
export const KIND = 'environment';
export const HASH = 'prime-agent.environment';
/** JSON: paths of the dependency folders, in the order of their volumes. */
export const FOLDERS = 'prime-agent.environment.folders';
/** Of the volumes. */
export const BYTES = 'prime-agent.environment.bytes';
/** Size of the base image: what is above it is this environment's own. */
export const BASE_BYTES = 'prime-agent.environment.base-bytes';
/** For people: what it installs. */
export const SOURCE = 'prime-agent.environment.source';

const short = (hash: string): string => hash.slice(0, 32);

export const imageName = (hash: string): string => `${REPOSITORY}:${short(hash)}`;
export const builderName = (hash: string): string => `prime-agent-environment-${short(hash)}`;
export const volumeName = (hash: string, index: number): string =>
  `prime-agent-environment-${short(hash)}-${index}`;

export async function inspectImage(
  docker: Docker,
  name: string,
): Promise<Docker.ImageInspectInfo | undefined> {
  try {
    return await docker.getImage(name).inspect();
  } catch (error) {
    const status = statusOf(error);
    if (status === 404 || status === 400) return undefined;
    throw error;
  }
}

async function volumeExists(docker: Docker, name: string): Promise<boolean> {
  try {
    await docker.getVolume(name).inspect();
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}

/** Reads the label of an image; a mount that is not there is never made up. */
export function foldersOf(
  labels: Readonly<Record<string, string>>,
  hash: string,
): readonly DependencyFolder[] {
  let paths: unknown = [];
  try {
    paths = JSON.parse(labels[FOLDERS] ?? '[]');
  } catch {
    // Written by something else: as if there were none.
  }
  return Array.isArray(paths)
    ? paths.flatMap((path, index) =>
        typeof path === 'string' ? [{ path, hostPath: '', volume: volumeName(hash, index) }] : [],
      )
    : [];
}

/** The finished environment, when image and volumes are all there. */
export async function findFinished(
  docker: Docker,
  hash: string,
): Promise<
  { readonly image: string; readonly dependencies: readonly DependencyFolder[] } | undefined
> {
  const found = await inspectImage(docker, imageName(hash));
  const labels = found?.Config?.Labels ?? {};
  if (found === undefined || labels[HASH] !== hash || labels[LABEL] !== KIND) return undefined;
  const dependencies = foldersOf(labels, hash);
  for (const { volume = '' } of dependencies) {
    // An engine would make an empty one in its place.
    if (!(await volumeExists(docker, volume))) return undefined;
  }
  return { image: found.Id, dependencies };
}
