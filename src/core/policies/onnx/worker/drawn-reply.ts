import { choiceAt, type ReplyNode } from '../replies/reply-set.ts';
import type { AskNetwork, ReplySearch } from './likeliest-reply.ts';
import { choiceLogprob, sampleChoice } from './sample.ts';

export interface DrawOptions {
  /** Above 0. */
  readonly temperature: number;
  /** Uniform, from 0 to 1, for the token at this place of the reply (from 0). */
  readonly chanceAt: (place: number) => number;
  /** The whole reply, where the weights alone have drawn it; undefined: the network draws. */
  readonly drawn: readonly number[] | undefined;
}

/**
 * Draws a reply of a set down its tree (replies/reply-set.ts). Only where several tokens may come is the network
 * asked, once for all tokens since the last such place; what follows the last one is not computed at all.
 */
export function drawReply(root: ReplyNode, ask: AskNetwork, options: DrawOptions): ReplySearch {
  const ids: number[] = [];
  const logprobs: number[] = [];
  let networkLogprob = 0;
  let node = root;
  const take = (id: number, logprob: number): void => {
    ids.push(id);
    logprobs.push(logprob);
    networkLogprob += logprob;
    node = node.next.get(id) ?? impossible(id);
  };
  const takeForced = (): void => {
    for (let [only] = node.next.keys(); node.next.size === 1 && only !== undefined; ) {
      take(only, 0);
      [only] = node.next.keys();
    }
  };
  return {
    async step() {
      takeForced();
      const at = ids.length;
      const choice = choiceAt(node, at);
      if (choice) {
        const logits = await ask([...ids], choice.ids);
        const wanted = Float32Array.from(choice.ids, (id) => logits.get(id) ?? Number.NaN);
        const given = options.drawn?.[at];
        if (given === undefined) {
          const { id, logprob } = sampleChoice(wanted, choice, options, options.chanceAt(at));
          take(id, logprob);
        } else take(given, choiceLogprob(wanted, choice, options, given));
        takeForced();
      }
      return node.next.size === 0 ? { ids, logprobs, networkLogprob } : undefined;
    },
  };
}

function impossible(id: number): never {
  throw new Error(`the token ${id} is in no reply of the set`);
}
