import type { AskNetwork, TokenLogits } from './likeliest-reply.ts';
import { readChunk, runBehind } from './read-chunk.ts';
import type { Network } from './runtime.ts';
import { type SequenceCache, truncate } from './sequence-cache.ts';

/**
 * Logits behind beginnings of replies to one prompt. They do not depend on what else is in the set, so the next
 * choice of an attempt and other attempts at the same task, which read the same prompt, start from them.
 */
export interface ReplyLogits {
  /**
   * For one reply, whose first question is about what all replies of the set have in common.
   *
   * @param cache of the beginning of the prompt; what is not known yet of prompt and replies is read into it
   */
  asking(network: Network, cache: SequenceCache): AskNetwork;
}

function createReplyLogits(promptIds: readonly number[]): ReplyLogits {
  const known = new Map<string, TokenLogits>();
  return {
    asking(network, cache) {
      let common: readonly number[] | undefined;
      return async (beginning, wanted) => {
        const ids = [...promptIds, ...beginning];
        common ??= ids.slice(0, -1);
        const key = beginning.join();
        const before = known.get(key);
        if (before && wanted.every((id) => before.has(id))) return before;
        await readAll(network, cache, common);
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

/** The logits of the prompts that were read last. */
export interface KnownReplyLogits {
  /** Has a choice been made behind this prompt before? */
  has(promptIds: readonly number[]): boolean;
  of(promptIds: readonly number[]): ReplyLogits;
}

/** @param most prompts */
export function rememberReplyLogits(most: number): KnownReplyLogits {
  // In the order of their last use.
  const prompts = new Map<string, ReplyLogits>();
  return {
    has: (promptIds) => prompts.has(promptIds.join()),
    of(promptIds) {
      const key = promptIds.join();
      const logits = prompts.get(key) ?? createReplyLogits(promptIds);
      prompts.delete(key);
      prompts.set(key, logits);
      for (const oldest of prompts.keys()) {
        if (prompts.size <= most) break;
        prompts.delete(oldest);
      }
      return logits;
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
