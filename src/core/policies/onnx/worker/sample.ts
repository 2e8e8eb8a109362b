import type { TokenChoice } from '../../policy.ts';
import { logSumExp } from './log-sum-exp.ts';

export interface SamplingRule {
  /** 0: always the most likely token. */
  readonly temperature: number;
  readonly topP: number;
  /** -1: no limit. */
  readonly topK: number;
}

export interface Draw {
  readonly id: number;
  /** Natural logarithm of the token's probability in the distribution that was drawn from. */
  readonly logprob: number;
}

/**
 * Draws a token. Temperature first, then the top k, then the smallest set of tokens that holds topP of
 * what is left (the order of transformers). Sums are in fp64.
 *
 * @param logits raw, one per entry of the vocabulary
 * @param chance uniform, from 0 to 1
 */
export function sampleToken(logits: Float32Array, rule: SamplingRule, chance: number): Draw {
  const best = largest(logits);
  // The distribution is one token: its probability is 1.
  if (rule.temperature === 0) return { id: best, logprob: 0 };
  const weights = new Float64Array(logits.length);
  const highest = logits[best] ?? 0;
  for (let id = 0; id < weights.length; id += 1) {
    weights[id] = Math.exp(((logits[id] ?? 0) - highest) / rule.temperature);
  }
  restrict(weights, rule);
  const total = sum(weights);
  const id = draw(weights, chance * total, best);
  return { id, logprob: Math.log((weights[id] ?? 0) / total) };
}

/**
 * Draws one of the tokens of a choice (replies/reply-set.ts). Top p and top k do not apply: the set has
 * left out already what makes no sense.
 *
 * @param logits one for each id of the choice, in its order
 * @param chance uniform, from 0 to 1
 */
export function sampleChoice(
  logits: Float32Array,
  { ids, bias }: Pick<TokenChoice, 'ids' | 'bias'>,
  { temperature }: Pick<SamplingRule, 'temperature'>,
  chance: number,
): Draw {
  const scores = Float32Array.from(ids, (_, index) => (logits[index] ?? 0) + (bias[index] ?? 0));
  const rule = { temperature, topP: 1, topK: -1 };
  const { id: index, logprob } = sampleToken(scores, rule, chance);
  return { id: ids[index] ?? 0, logprob };
}

/**
 * Natural logarithm of what `sampleChoice` draws this id with; at temperature 0 as at temperature 1.
 *
 * @param logits one for each id of the choice, in its order
 */
export function choiceLogprob(
  logits: Float32Array,
  { ids, bias }: Pick<TokenChoice, 'ids' | 'bias'>,
  { temperature }: Pick<SamplingRule, 'temperature'>,
  id: number,
): number {
  const scores = ids.map(
    (_, index) => ((logits[index] ?? 0) + (bias[index] ?? 0)) / (temperature || 1),
  );
  return (scores[ids.indexOf(id)] ?? Number.NaN) - logSumExp(scores);
}

/**
 * An index in proportion to its weight to the power 1 / temperature; at temperature 0 the first of the heaviest.
 *
 * @param weights above 0
 * @param chance uniform, from 0 to 1
 */
export function sampleWeighted(
  weights: readonly number[],
  { temperature }: Pick<SamplingRule, 'temperature'>,
  chance: number,
): number {
  const heaviest = Math.max(...weights);
  if (temperature === 0) return weights.indexOf(heaviest);
  const all = Float64Array.from(weights, (weight) => (weight / heaviest) ** (1 / temperature));
  return draw(all, chance * sum(all), 0);
}

/** Sets to 0 what the rule leaves out. Of equal weights the lower id stays. */
function restrict(weights: Float64Array, rule: SamplingRule): void {
  const limited = rule.topK > 0 && rule.topK < weights.length;
  if (!limited && rule.topP >= 1) return;
  const order = Array.from(weights.keys()).sort(
    (a, b) => (weights[b] ?? 0) - (weights[a] ?? 0) || a - b,
  );
  let keep = limited ? rule.topK : weights.length;
  if (rule.topP < 1) {
    const among = order.slice(0, keep);
    const wanted = rule.topP * among.reduce((total, id) => total + (weights[id] ?? 0), 0);
    let held = 0;
    keep = 0;
    // At least one token stays, and the one that crosses the line is in.
    while (keep < among.length && (keep === 0 || held < wanted)) {
      held += weights[among[keep] ?? 0] ?? 0;
      keep += 1;
    }
  }
  for (const id of order.slice(keep)) weights[id] = 0;
}

function draw(weights: Float64Array, threshold: number, fallback: number): number {
  let passed = 0;
  let last = fallback;
  for (let id = 0; id < weights.length; id += 1) {
    const weight = weights[id] ?? 0;
    if (weight === 0) continue;
    passed += weight;
    if (passed > threshold) return id;
    last = id;
  }
  // Rounding: the threshold was the whole sum.
  return last;
}

function largest(values: Float32Array): number {
  let best = 0;
  for (let id = 1; id < values.length; id += 1) {
    if ((values[id] ?? 0) > (values[best] ?? 0)) best = id;
  }
  return best;
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
