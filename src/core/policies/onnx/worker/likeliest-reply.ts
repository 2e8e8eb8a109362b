import type { ReplyNode } from '../replies/reply-set.ts';
import { logSumExp } from './log-sum-exp.ts';

/** Logits of some tokens behind a beginning of a reply. */
export type TokenLogits = ReadonlyMap<number, number>;

/**
 * The network, asked for what may come behind a beginning.
 *
 * @param beginning ids of the reply so far
 * @param wanted at least two ids
 * @returns a logit for each of them
 */
export type AskNetwork = (
  beginning: readonly number[],
  wanted: readonly number[],
) => Promise<TokenLogits>;

/** How a reply of a set comes to be. */
export interface ReplySearch {
  /** Asks the network at most once. Returns the reply as soon as it is known. */
  step(): Promise<FoundReply | undefined>;
}

export interface FoundReply {
  readonly ids: readonly number[];
  /** Natural logarithms of what each token was drawn with: 0 where it was not drawn. */
  readonly logprobs: readonly number[];
  /** Natural logarithm of what the network gives it. */
  readonly networkLogprob: number;
}

/** A beginning that is not followed yet, up to where something can be chosen, or a whole reply. */
interface Open {
  readonly ids: readonly number[];
  readonly node: ReplyNode;
  /** Natural logarithm of what the network gives the beginning, and so at most gives each of its replies. */
  readonly networkLogprob: number;
  /** Natural logarithm; an upper bound for each reply that goes on from here, exact for a whole one. */
  readonly logprob: number;
}

/** Probabilities nearer than this (natural logarithms) are equal: rounding must not decide. */
const EQUAL = 1e-6;

/**
 * The most probable reply of a set: what temperature 0 means where replies are chosen from. Taking the most
 * probable token at each place would not find it: a line with many unlikely edits has more weight
 * together than the one line with the likely edit.
 *
 * Best-first search: a beginning is at least as probable as each of its replies, so when the most
 * probable of all that is open is a whole reply, no other can be more probable. Of equal ones the first
 * of the set wins.
 *
 * @param byWeights share of the draws that the weights decide alone, 0 to 1 (reply-set.ts)
 */
export function searchLikeliest(root: ReplyNode, ask: AskNetwork, byWeights = 0): ReplySearch {
  const opened = (beginning: readonly number[], from: ReplyNode, networkLogprob: number): Open => {
    const { ids, node } = untilChoice(beginning, from);
    const byNetwork = (1 - byWeights) * Math.exp(networkLogprob);
    // In logarithms where it can be: what the network hardly gives anything must not all become 0.
    const logprob =
      byWeights === 0
        ? networkLogprob
        : Math.log(byNetwork + (byWeights * node.heaviest) / root.weight);
    return { ids, node, networkLogprob, logprob };
  };
  const open = [opened([], root, 0)];
  return {
    async step() {
      const best = take(open);
      if (best.node.next.size === 0) {
        const { ids, networkLogprob } = best;
        // The distribution is one reply: its probability is 1.
        return { ids, logprobs: ids.map(() => 0), networkLogprob };
      }
      const wanted = [...best.node.next.keys()];
      const logits = await ask(best.ids, wanted);
      const scores = wanted.map(
        (id) => (logits.get(id) ?? Number.NaN) + Math.log(best.node.next.get(id)?.weight ?? 0),
      );
      const total = logSumExp(scores);
      for (const [at, [id, node]] of [...best.node.next].entries()) {
        const logprob = best.networkLogprob + (scores[at] ?? 0) - total;
        open.push(opened([...best.ids, id], node, logprob));
      }
      return undefined;
    },
  };
}

/** Where one token alone goes on it is taken. */
export function untilChoice(ids: readonly number[], node: ReplyNode): Pick<Open, 'ids' | 'node'> {
  const all = [...ids];
  let last = node;
  while (last.next.size === 1) {
    for (const [id, next] of last.next) {
      all.push(id);
      last = next;
    }
  }
  return { ids: all, node: last };
}

function take(open: Open[]): Open {
  const highest = Math.max(...open.map(({ logprob }) => logprob));
  if (Number.isNaN(highest)) throw new Error('the network gave no number for a token');
  let chosen: number | undefined;
  for (const [at, { logprob, node }] of open.entries()) {
    if (logprob < highest - EQUAL) continue;
    if (chosen === undefined || node.first < (open[chosen]?.node.first ?? 0)) chosen = at;
  }
  const [best] = open.splice(chosen ?? 0, 1);
  if (best === undefined) throw new Error('a set of replies has no reply');
  return best;
}
