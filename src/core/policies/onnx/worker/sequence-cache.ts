import type { DecodeShape } from '../protocol.ts';

/** Slots are added in such steps: a prompt is read in chunks of this size. */
export const SLOT_STEP = 128;

/**
 * Keys and values of one sequence, in the layout of a batch of one: per layer two arrays
 * [kv heads, capacity, head size]. `ids` are the tokens that they belong to.
 */
export interface SequenceCache {
  readonly shape: DecodeShape;
  readonly ids: number[];
  capacity: number;
  parts: Float32Array[];
}

export function createSequenceCache(shape: DecodeShape): SequenceCache {
  return { shape, ids: [], capacity: 0, parts: emptyParts(shape, 0) };
}

export function cacheBytes(cache: SequenceCache): number {
  return cache.capacity * bytesPerSlot(cache.shape);
}

export function bytesPerSlot(shape: DecodeShape): number {
  return 2 * shape.layers * shape.kvHeads * shape.headSize * 4;
}

/** Forgets all but the first `length` tokens; the memory stays. */
export function truncate(cache: SequenceCache, length: number): void {
  cache.ids.length = Math.min(length, cache.ids.length);
}

/** A new cache with the first `length` tokens of another one. */
export function copyPrefix(source: SequenceCache, length: number): SequenceCache {
  const copy = createSequenceCache(source.shape);
  reserve(copy, length);
  for (const [index, part] of copy.parts.entries()) {
    const from = source.parts[index];
    if (from) copySlots(source.shape, from, source.capacity, part, copy.capacity, 0, length);
  }
  copy.ids.push(...source.ids.slice(0, length));
  return copy;
}

/**
 * Takes over new tokens.
 *
 * @param fresh key and value of each layer: [B, kv heads, S, head size]
 * @param row which of the B sequences
 * @param width S
 * @param ids the new tokens of this sequence, at most S
 */
export function append(
  cache: SequenceCache,
  fresh: readonly Float32Array[],
  row: number,
  width: number,
  ids: readonly number[],
): void {
  const { headSize, kvHeads } = cache.shape;
  const length = cache.ids.length;
  reserve(cache, length + ids.length);
  for (const [index, part] of cache.parts.entries()) {
    const from = fresh[index];
    if (!from) continue;
    for (let head = 0; head < kvHeads; head += 1) {
      const start = (row * kvHeads + head) * width * headSize;
      const values = from.subarray(start, start + ids.length * headSize);
      part.set(values, (head * cache.capacity + length) * headSize);
    }
  }
  for (const id of ids) cache.ids.push(id);
}

/** Copies the first `length` slots of one sequence into row `row` of arrays with `slots` slots a row. */
export function copySlots(
  shape: DecodeShape,
  source: Float32Array,
  capacity: number,
  target: Float32Array,
  slots: number,
  row: number,
  length: number,
): void {
  const { headSize, kvHeads } = shape;
  for (let head = 0; head < kvHeads; head += 1) {
    const start = head * capacity * headSize;
    const values = source.subarray(start, start + length * headSize);
    target.set(values, (row * kvHeads + head) * slots * headSize);
  }
}

function reserve(cache: SequenceCache, length: number): void {
  if (length <= cache.capacity) return;
  const capacity = Math.ceil(length / SLOT_STEP) * SLOT_STEP;
  const parts = emptyParts(cache.shape, capacity);
  for (const [index, part] of parts.entries()) {
    const from = cache.parts[index];
    if (from) copySlots(cache.shape, from, cache.capacity, part, capacity, 0, cache.ids.length);
  }
  cache.capacity = capacity;
  cache.parts = parts;
}

function emptyParts(shape: DecodeShape, capacity: number): Float32Array[] {
  return Array.from(
    { length: 2 * shape.layers },
    () => new Float32Array(shape.kvHeads * capacity * shape.headSize),
  );
}

export function commonPrefix(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length += 1;
  return length;
}
