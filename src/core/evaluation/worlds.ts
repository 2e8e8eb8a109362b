import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrepareProblem } from '../fix/prepare.ts';

/** What was made of a task so that it can be worked on. */
interface Opened {
  readonly kind: 'views';
}

export interface Worlds<Views extends Opened> {
  /**
   * Works in the world of a task, which is opened for the first who comes. Rejects with what `work`
   * rejects with, with the signal's reason, or where the world cannot be opened for reasons that are
   * no `PrepareProblem`.
   */
  use<Result>(
    key: string,
    open: (folder: string, signal: AbortSignal) => Promise<Views | PrepareProblem>,
    signal: AbortSignal,
    work: (views: Views) => Promise<Result>,
  ): Promise<Result | PrepareProblem>;
  /** Removes what is open; nothing is opened any more. */
  close(): Promise<void>;
}

/** In a folder of its own. */
interface World<Views> {
  readonly folder: Promise<string>;
  readonly opened: Promise<Views | PrepareProblem>;
  readonly ended: AbortController;
  users: number;
}

/** A world was asked for after the end. */
export class WorldsClosed extends Error {
  override readonly name = 'WorldsClosed';
}

/**
 * Tasks that are open: each once for all that is done with it, as long as that comes one after the
 * other; then its files go.
 *
 * @param idle worlds that stay open besides those in use
 * @param parent where their folders are; default: for temporary files
 */
export function createWorlds<Views extends Opened>(
  idle: number,
  parent: string = tmpdir(),
): Worlds<Views> {
  /** By task; those that were used last are at the end. */
  const worlds = new Map<string, World<Views>>();
  let closed = false;

  const enter = (
    key: string,
    open: (folder: string, signal: AbortSignal) => Promise<Views | PrepareProblem>,
  ): World<Views> => {
    const world = worlds.get(key) ?? newWorld(parent, open);
    world.users += 1;
    worlds.delete(key);
    worlds.set(key, world);
    return world;
  };

  // Out of the map before anything is waited for: who comes now gets a new one.
  const remove = async (key: string, world: World<Views>): Promise<void> => {
    if (worlds.get(key) === world) worlds.delete(key);
    world.ended.abort(new Error('the task was closed'));
    await Promise.allSettled([world.opened]);
    const folder = await world.folder.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };

  const leave = async (key: string, world: World<Views>, keep: boolean): Promise<void> => {
    world.users -= 1;
    const removed: Promise<void>[] = [];
    if (!keep && world.users === 0) removed.push(remove(key, world));
    const unused = [...worlds].filter(([, { users }]) => users === 0);
    for (const [other, old] of unused.slice(0, Math.max(0, unused.length - idle))) {
      removed.push(remove(other, old));
    }
    await Promise.all(removed);
  };

  return {
    async use(key, open, signal, work) {
      signal.throwIfAborted();
      if (closed) throw new WorldsClosed('the runner is closed');
      const world = enter(key, open);
      let keep = false;
      try {
        const views = await orAbort(world.opened, signal);
        if (views.kind === 'problem') return views;
        keep = true;
        return await work(views);
      } finally {
        await leave(key, world, keep);
      }
    },
    async close() {
      closed = true;
      await Promise.all([...worlds].map(([key, world]) => remove(key, world)));
    },
  };
}

function newWorld<Views>(
  parent: string,
  open: (folder: string, signal: AbortSignal) => Promise<Views | PrepareProblem>,
): World<Views> {
  const ended = new AbortController();
  const folder = mkdtemp(join(parent, 'prime-agent-eval-')).then((made) => realpath(made));
  const opened = folder.then((place) => open(place, ended.signal));
  return { folder, opened, ended, users: 0 };
}

/** Another one may still need what is waited for: only this one stops. */
function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
