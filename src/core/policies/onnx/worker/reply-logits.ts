import type { AskNetwork, TokenLogits } from './likeliest-reply.ts';
import { readChunk, runBehind } from './read-chunk.ts';
import type { Network } from './runtime.ts';
import { commonPrefix, type SequenceCache, truncate } from './sequence-cache.ts';

/**
 * Logits behind beginnings of replies to one prompt. They do not depend on what else is in the set, so an
 * attempt's next choice, which reads the same prompt, starts from them.
 */
export interface ReplyLogits {
  isFor(promptIds: readonly number[]): boolean;
  /**
   * For one search, whose first question is about what all its replies have in common.
   *
   * @param cache holds the prompt; what the replies have in common is added to it
   */
  asking(network: Network, cache: SequenceCache): AskNetwork;
}

export function createReplyLogits(promptIds: readonly number[]): ReplyLogits {
  const known = new Map<string, TokenLogits>();
  return {
    isFor: (ids) => ids.length === promptIds.length && commonPrefix(ids, promptIds) === ids.length,
    asking(network, cache) {
      let first = true;
      return async (beginning, wanted) => {
        const ids = [...promptIds, ...beginning];
        if (first) await readAll(network, cache, ids.slice(0, -1));
        first = false;
        const key = beginning.join();
        const before = known.get(key);
        if (before && wanted.every((id) => before.has(id))) return before;
        // The logits behind the last token are wanted: it must be run, even where the cache has it.
        truncate(cache, ids.length - 1);
        const { logits } = await runBehind(network, cache, ids.slice(cache.ids.length));
        const asked = new Map(wanted.map((id) => [id, logits[id] ?? Number.NaN]));
        known.set(key, new Map([...(before ?? []), ...asked]));
        return asked;
      };
    },
  };
}

async function readAll(
  network: Network,
  cache: SequenceCache,
  ids: readonly number[],
): Promise<void> {
  while (cache.ids.length < ids.length) await readChunk(network, cache, ids);
}
