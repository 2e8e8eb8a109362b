import type { TokenChoice } from '../../policy.ts';

/*
 * Replies from a closed set (constrained decoding): the set is a tree of tokens, and the policy draws
 * its way down. Where one token alone goes on it is taken; where several do, one is drawn from
 *
 *   softmax((logit(token) + bias(token)) / temperature),   bias = log(weight below the token / weight here)
 *
 * so that a network that knows nothing draws each reply in proportion to its weight. The learner trains
 * under the same distribution (server/learner, "Replies from a set" in docs/learner.md).
 *
 * A share of the replies may be drawn by the weights alone (`byWeights`). A reply's probability is then
 *
 *   (1 − byWeights) · what the network gives it + byWeights · its share of the weight
 *
 * At temperature 0 the reply that is most probable in this is taken (worker/likeliest-reply.ts).
 */

/** Which of the two drew a reply. */
export type DrawnBy = 'network' | 'weights';

export interface WeightedReply {
  /** The stop token included. No reply may be the beginning of another one. */
  readonly ids: readonly number[];
  /** Above 0, in any unit. */
  readonly weight: number;
}

export interface ReplyNode {
  /** Of all replies that go on from here. */
  readonly weight: number;
  /** Of the heaviest of them. */
  readonly heaviest: number;
  /** Index of the first of them in the set. */
  readonly first: number;
  readonly next: ReadonlyMap<number, ReplyNode>;
}

interface GrowingNode extends ReplyNode {
  weight: number;
  heaviest: number;
  readonly next: Map<number, GrowingNode>;
}

/** @throws RangeError for a set that is empty, a weight that is no weight, a reply that goes on in another */
export function createReplyTree(replies: readonly WeightedReply[]): ReplyNode {
  const root = growingNode(0);
  if (replies.length === 0) throw new RangeError('there is no reply to choose from');
  for (const [first, { ids, weight }] of replies.entries()) {
    if (!(weight > 0) || !Number.isFinite(weight) || ids.length === 0) {
      throw new RangeError(`a reply of ${ids.length} tokens cannot have the weight ${weight}`);
    }
    let node = root;
    add(node, weight);
    for (const [at, id] of ids.entries()) {
      const last = at === ids.length - 1;
      const known = node.next.get(id);
      if (known && (known.next.size === 0) !== last) {
        throw new RangeError('one reply is the beginning of another one');
      }
      const child = known ?? growingNode(first);
      add(child, weight);
      node.next.set(id, child);
      node = child;
    }
  }
  return root;
}

function growingNode(first: number): GrowingNode {
  return { weight: 0, heaviest: 0, first, next: new Map() };
}

function add(node: GrowingNode, weight: number): void {
  node.weight += weight;
  node.heaviest = Math.max(node.heaviest, weight);
}

/** What may come at a place; undefined where one token alone does. */
export function choiceAt(node: ReplyNode, at: number): TokenChoice | undefined {
  if (node.next.size < 2) return undefined;
  const ids = [...node.next.keys()].sort((a, b) => a - b);
  const bias = ids.map((id) => Math.log((node.next.get(id)?.weight ?? 0) / node.weight));
  return { at, ids, bias };
}

/** The choices on the way of one reply of the set; undefined: it is not in the set. */
export function choicesOf(root: ReplyNode, reply: readonly number[]): TokenChoice[] | undefined {
  const choices: TokenChoice[] = [];
  let node = root;
  for (const [at, id] of reply.entries()) {
    const next = node.next.get(id);
    if (!next) return undefined;
    const choice = choiceAt(node, at);
    if (choice) choices.push(choice);
    node = next;
  }
  return node.next.size === 0 ? choices : undefined;
}
