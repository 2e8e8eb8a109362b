import { HIDDEN, type Network, type StepResult } from './runtime.ts';
import { append, type SequenceCache, SLOT_STEP } from './sequence-cache.ts';

/** Reads the next chunk of a prompt into its cache. Returns the logits behind it. */
export async function readChunk(
  network: Network,
  cache: SequenceCache,
  ids: readonly number[],
): Promise<Float32Array> {
  const length = cache.ids.length;
  const chunk = ids.slice(length, length + SLOT_STEP);
  const { logits, fresh } = await runBehind(network, cache, chunk);
  append(cache, fresh, 0, chunk.length, chunk);
  return logits;
}

/** Runs the network on what comes behind a cache, which stays as it is. */
export async function runBehind(
  network: Network,
  cache: SequenceCache,
  chunk: readonly number[],
): Promise<StepResult> {
  const { shape } = network;
  const length = cache.ids.length;
  // The network wants at least one slot; a hidden one is none.
  const slots = Math.max(1, cache.capacity);
  const cacheBias = new Float32Array(slots).fill(HIDDEN, length);
  const one = shape.kvHeads * shape.headSize;
  return network.run({
    batch: 1,
    fresh: chunk.length,
    slots,
    ids: BigInt64Array.from(chunk, BigInt),
    positions: BigInt64Array.from(chunk, (_, index) => BigInt(length + index)),
    newest: BigInt64Array.of(BigInt(chunk.length - 1)),
    cacheBias,
    cache: cache.capacity === 0 ? cache.parts.map(() => new Float32Array(one)) : cache.parts,
  });
}
