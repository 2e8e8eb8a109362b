import type Docker from 'dockerode';
import { isLeftOver, LABEL, ownFilter } from './labels.ts';
import { statusOf } from './problems.ts';

const DAY_S = 86_400;
/** Prepared images are made again in a second; older ones go, unless a container uses them. */
const KEEP_IMAGES_DAYS = 7;
const REMOVAL_MS = 10_000;
const RETRY_MS = 100;

/** Removes a container, running or not, with its anonymous volumes; returns when it is gone. */
export async function removeContainer(docker: Docker, id: string): Promise<void> {
  const container = docker.getContainer(id);
  try {
    await container.remove({ force: true, v: true });
  } catch (error) {
    // 404: gone already. 409: the engine is removing it, because it has ended.
    if (statusOf(error) === 409) await goneWithin(() => container.inspect());
    else if (statusOf(error) !== 404) throw error;
  }
}

/** Removes a volume that no container uses any more, or will not in a moment. */
export async function removeVolume(docker: Docker, name: string): Promise<void> {
  await goneWithin(() => docker.getVolume(name).remove());
}

/** Asks until the answer is that there is no such thing. */
async function goneWithin(ask: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + REMOVAL_MS;
  for (;;) {
    try {
      await ask();
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) return;
      if (status !== 409 || performance.now() > end) throw error;
    }
    if (performance.now() > end) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/**
 * Removes containers and volumes of processes of this machine that no longer live, and images that
 * were prepared long ago. Returns how many containers and volumes. Nothing of it fails.
 */
export async function reapLeftOvers(docker: Docker): Promise<number> {
  const filters = await ownFilter();
  let removed = 0;
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      removed++;
    } catch {
      // Still in use, or removed by another process: the next start tries again.
    }
  };
  const containers = await docker.listContainers({ all: true, filters }).catch(() => []);
  for (const { Id, Labels } of containers) {
    if (await isLeftOver(Labels)) await attempt(() => removeContainer(docker, Id));
  }
  const volumes = await docker.listVolumes({ filters }).catch(() => ({ Volumes: [] }));
  for (const { Name, Labels } of volumes.Volumes ?? []) {
    if (await isLeftOver(Labels ?? {})) await attempt(() => removeVolume(docker, Name));
  }
  const images = await docker
    .listImages({ filters: { label: [`${LABEL}=image`] } })
    .catch(() => []);
  const oldest = Date.now() / 1000 - KEEP_IMAGES_DAYS * DAY_S;
  for (const { Id, Created } of images) {
    // One that a container uses is refused.
    if (Created < oldest)
      await docker
        .getImage(Id)
        .remove()
        .catch(() => {});
  }
  return removed;
}
