import type { TokenChoice } from '../../policy.ts';
import { choiceAt, type ReplyNode } from '../replies/reply-set.ts';
import { type AskNetwork, type ReplySearch, untilChoice } from './likeliest-reply.ts';
import { choiceLogprob, type Draw, sampleChoice } from './sample.ts';

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
  let { ids, node } = untilChoice([], root);
  /** By place; where nothing was drawn there is none. */
  const drawn = new Map<number, number>();
  const draw = async (choice: TokenChoice): Promise<Draw> => {
    const logits = await ask(ids, choice.ids);
    const wanted = Float32Array.from(choice.ids, (id) => logits.get(id) ?? Number.NaN);
    const id = options.drawn?.[choice.at];
    if (id === undefined) {
      return sampleChoice(wanted, choice, options, options.chanceAt(choice.at));
    }
    return { id, logprob: choiceLogprob(wanted, choice, options, id) };
  };
  return {
    async step() {
      const choice = choiceAt(node, ids.length);
      if (choice) {
        const { id, logprob } = await draw(choice);
        drawn.set(choice.at, logprob);
        ({ ids, node } = untilChoice([...ids, id], node.next.get(id) ?? impossible(id)));
      }
      if (node.next.size > 0) return undefined;
      const logprobs = ids.map((_, at) => drawn.get(at) ?? 0);
      const networkLogprob = logprobs.reduce((sum, one) => sum + one, 0);
      return { ids, logprobs, networkLogprob };
    },
  };
}

function impossible(id: number): never {
  throw new Error(`the token ${id} is in no reply of the set`);
}
