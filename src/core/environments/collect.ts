import type Docker from 'dockerode';
import type { Engine } from '../sandbox/docker/engine.ts';
import { LABEL } from '../sandbox/docker/labels.ts';
import { removeVolume } from '../sandbox/docker/reap.ts';
import { BASE_KIND } from './dockerfile.ts';
import { BASE_BYTES, BYTES, HASH, KIND, SOURCE } from './on-engine.ts';
import { forgetUses, isUsed, lastUse, withLock } from './uses.ts';

/** An environment that is built. */
export interface StoredEnvironment {
  readonly hash: string;
  /** What was installed: `npm`, `pip`. */
  readonly source: string;
  /** Milliseconds since the epoch; without uses on this machine: when it was made. */
  readonly lastUsed: number;
  /** Its own, without the image that it is built on. */
  readonly bytes: number;
  /** Now, by a process of this machine or by a container of the engine. */
  readonly inUse: boolean;
}

/** All environments of an engine, those used last first. Rejects with what the engine says. */
export async function listEnvironments(
  { docker }: Engine,
  stateDir: string,
): Promise<readonly StoredEnvironment[]> {
  const images = await docker.listImages({ filters: { label: [`${LABEL}=${KIND}`] } });
  const busy = await hashesInUse(docker);
  const found = new Map<string, StoredEnvironment>();
  for (const { Labels = {}, Created, Size } of images) {
    const hash = Labels[HASH];
    if (hash === undefined || found.has(hash)) continue;
    const own = Math.max(0, Size - number(Labels[BASE_BYTES]));
    found.set(hash, {
      hash,
      source: Labels[SOURCE] || 'variables',
      lastUsed: (await lastUse(stateDir, hash)) ?? Created * 1000,
      bytes: own + number(Labels[BYTES]),
      inUse: busy.has(hash) || (await isUsed(stateDir, hash)),
    });
  }
  return [...found.values()].sort((a, b) => b.lastUsed - a.lastUsed);
}

/** Containers have the labels of their image. */
async function hashesInUse(docker: Engine['docker']): Promise<ReadonlySet<string>> {
  const containers = await docker.listContainers({ all: true, filters: { label: [HASH] } });
  return new Set(containers.flatMap(({ Labels }) => Labels[HASH] ?? []));
}

const number = (text: string | undefined): number => Number(text ?? 0) || 0;

export interface EnvironmentLimits {
  /** Not used for this long: it goes. */
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

export const ENVIRONMENT_LIMITS: EnvironmentLimits = {
  maxAgeMs: 30 * 24 * 3600 * 1000,
  maxBytes: 20e9,
};

export interface CollectedEnvironments {
  readonly removed: readonly StoredEnvironment[];
  /** Over the limits, but somebody uses them. */
  readonly keptInUse: readonly StoredEnvironment[];
}

/** Keeps those used last within the limits; those in use stay whatever the limits say. */
export async function collectEnvironments(
  engine: Engine,
  stateDir: string,
  limits: EnvironmentLimits = ENVIRONMENT_LIMITS,
  now: number = Date.now(),
): Promise<CollectedEnvironments> {
  const removed: StoredEnvironment[] = [];
  const keptInUse: StoredEnvironment[] = [];
  let bytes = 0;
  for (const environment of await listEnvironments(engine, stateDir)) {
    const fits =
      now - environment.lastUsed <= limits.maxAgeMs && bytes + environment.bytes <= limits.maxBytes;
    if (!fits && (await removeEnvironment(engine, stateDir, environment.hash))) {
      removed.push(environment);
      continue;
    }
    if (!fits) keptInUse.push(environment);
    bytes += environment.bytes;
  }
  await removeRemains(engine, now - limits.maxAgeMs);
  return { removed, keptInUse };
}

/** False if somebody uses it. */
async function removeEnvironment(engine: Engine, stateDir: string, hash: string): Promise<boolean> {
  const { docker } = engine;
  return withLock(stateDir, hash, undefined, async () => {
    if (await isUsed(stateDir, hash)) return false;
    if ((await hashesInUse(docker)).has(hash)) return false;
    const images = await docker.listImages({ filters: { label: [`${HASH}=${hash}`] } });
    // What sandboxes made of it has its label too, and would keep it. One that was built a second
    // time has left an image without a name.
    const [own, made] = [
      images.filter(isEnvironment),
      images.filter((image) => !isEnvironment(image)),
    ];
    for (const { Id } of [...made, ...own]) {
      await docker
        .getImage(Id)
        .remove()
        .catch(() => {});
    }
    const { Volumes } = await docker.listVolumes({ filters: { label: [`${HASH}=${hash}`] } });
    for (const { Name } of Volumes ?? []) await removeVolume(docker, Name).catch(() => {});
    await forgetUses(stateDir, hash);
    return true;
  });
}

function isEnvironment({ Labels }: Docker.ImageInfo): boolean {
  return Labels?.[LABEL] === KIND;
}

/** Volumes whose image is gone, and old images of Dockerfiles on which nothing is built any more. */
async function removeRemains({ docker }: Engine, oldest: number): Promise<void> {
  const images = await docker.listImages({ filters: { label: [`${LABEL}=${KIND}`] } });
  const known = new Set(images.flatMap(({ Labels }) => Labels?.[HASH] ?? []));
  const { Volumes } = await docker.listVolumes({ filters: { label: [`${LABEL}=${KIND}`] } });
  const building = await docker.listContainers({ filters: { name: ['prime-agent-environment-'] } });
  for (const { Name, Labels } of Volumes ?? []) {
    // One that is being filled has no image yet.
    if (known.has(Labels?.[HASH] ?? '') || building.length > 0) continue;
    await docker
      .getVolume(Name)
      .remove()
      .catch(() => {});
  }
  const bases = await docker.listImages({ filters: { label: [`${LABEL}=${BASE_KIND}`] } });
  for (const { Id, RepoTags, Created } of bases) {
    if (Created * 1000 > oldest) continue;
    const children = await docker.listImages({ filters: { since: [Id] } });
    const used = children.some(({ ParentId }) => ParentId === Id);
    if (used) continue;
    for (const tag of RepoTags ?? [Id]) {
      await docker
        .getImage(tag)
        .remove()
        .catch(() => {});
    }
  }
}
