import type { DecodeShape } from '../protocol.ts';
import {
  cacheBytes,
  commonPrefix,
  copyPrefix,
  createSequenceCache,
  type SequenceCache,
  truncate,
} from './sequence-cache.ts';

/** Below this a copy of a beginning that another session computed is not worth it. */
const SHORTEST_SHARED = 16;

/**
 * The caches of a model's sessions. A session goes on from its own; a new one starts from the longest
 * beginning that any of them has computed (attempts of one group share their prompt). Whatever waits
 * for its next turn counts against the limit and goes when it was unused for longest; it is then
 * computed again.
 */
export interface SessionCaches {
  /** The session's cache, cut to what it has in common with `ids` (the last token excluded); in use from now. */
  take(session: number, ids: readonly number[]): SequenceCache;
  /** The session waits for its next turn. */
  park(session: number): void;
  forget(session: number): void;
}

export function createSessionCaches(shape: DecodeShape, limitBytes: number): SessionCaches {
  // In the order of their last use.
  const caches = new Map<number, SequenceCache>();
  const inUse = new Set<number>();

  const evict = (): void => {
    let bytes = 0;
    for (const cache of caches.values()) bytes += cacheBytes(cache);
    for (const [session, cache] of caches) {
      if (bytes <= limitBytes) return;
      if (inUse.has(session)) continue;
      caches.delete(session);
      bytes -= cacheBytes(cache);
    }
  };

  return {
    take(session, ids) {
      const usable = ids.length - 1;
      const own = caches.get(session);
      const held = own ? Math.min(commonPrefix(own.ids, ids), usable) : 0;
      let cache = own ?? createSequenceCache(shape);
      truncate(cache, held);
      if (held < SHORTEST_SHARED) {
        let longest = SHORTEST_SHARED - 1;
        let source: SequenceCache | undefined;
        for (const other of caches.values()) {
          const shared = Math.min(commonPrefix(other.ids, ids), usable);
          if (shared > longest) [longest, source] = [shared, other];
        }
        if (source) cache = copyPrefix(source, longest);
      }
      caches.delete(session);
      caches.set(session, cache);
      inUse.add(session);
      return cache;
    },
    park(session) {
      inUse.delete(session);
      evict();
    },
    forget(session) {
      inUse.delete(session);
      caches.delete(session);
    },
  };
}
