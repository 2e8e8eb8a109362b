import type { DecodeShape } from '../protocol.ts';
import { HIDDEN, type Network } from './runtime.ts';
import { append, bytesPerSlot, copySlots, type SequenceCache } from './sequence-cache.ts';

/** A sequence that is being decoded. */
export interface Row {
  readonly cache: SequenceCache;
  /** Sampled, and not yet in the cache. */
  pending: number;
}

/**
 * Sequences that are decoded together, each with its own length: one token for each in a step. The
 * batch holds its own copy of their keys and values, laid out as the network reads them, so that
 * a step copies nothing but its new tokens. A free slot is hidden by its bias.
 */
export interface Batch<R extends Row> {
  readonly slots: number;
  readonly rows: readonly R[];
  bytes(): number;
  join(row: R): void;
  leave(row: R): void;
  /** @returns logits of each row, in the order of `rows` */
  step(network: Network): Promise<readonly Float32Array[]>;
}

export function createBatch<R extends Row>(
  shape: DecodeShape,
  slots: number,
  maxRows: number,
): Batch<R> {
  const rows: R[] = [];
  const rowSize = shape.kvHeads * slots * shape.headSize;
  let room = 0;
  let parts: Float32Array[] = [];
  let bias = new Float32Array();

  /** Copies what the sequence has cached into a row. */
  const fill = (row: R, at: number): void => {
    const length = row.cache.ids.length;
    for (const [index, part] of parts.entries()) {
      const from = row.cache.parts[index];
      if (from) copySlots(shape, from, row.cache.capacity, part, slots, at, length);
    }
    bias.fill(0, at * slots, at * slots + length);
    bias.fill(HIDDEN, at * slots + length, (at + 1) * slots);
  };

  const grow = (): void => {
    room = Math.min(maxRows, Math.max(1, 2 * room));
    parts = Array.from({ length: 2 * shape.layers }, () => new Float32Array(room * rowSize));
    bias = new Float32Array(room * slots);
    rows.forEach(fill);
  };

  const keep = (fresh: readonly Float32Array[]): void => {
    for (const [at, row] of rows.entries()) {
      const length = row.cache.ids.length;
      for (const [index, part] of parts.entries()) {
        const from = fresh[index];
        if (!from) continue;
        for (let head = 0; head < shape.kvHeads; head += 1) {
          const source = (at * shape.kvHeads + head) * shape.headSize;
          const target = ((at * shape.kvHeads + head) * slots + length) * shape.headSize;
          for (let i = 0; i < shape.headSize; i += 1) part[target + i] = from[source + i] ?? 0;
        }
      }
      bias[at * slots + length] = 0;
      append(row.cache, fresh, at, 1, [row.pending]);
    }
  };

  return {
    slots,
    rows,
    bytes: () => room * slots * bytesPerSlot(shape),
    join(row) {
      if (rows.length === room) grow();
      rows.push(row);
      fill(row, rows.length - 1);
    },
    leave(row) {
      const at = rows.indexOf(row);
      const last = rows.pop();
      if (at < 0 || last === undefined) throw new Error('a row left a batch that it was not in');
      if (last === row) return;
      rows[at] = last;
      fill(last, at);
    },
    async step(network) {
      const batch = rows.length;
      const { logits, fresh } = await network.run({
        batch,
        fresh: 1,
        slots,
        ids: BigInt64Array.from(rows, (row) => BigInt(row.pending)),
        positions: BigInt64Array.from(rows, (row) => BigInt(row.cache.ids.length)),
        newest: new BigInt64Array(batch),
        cacheBias: bias.subarray(0, batch * slots),
        cache: parts.map((part) => part.subarray(0, batch * rowSize)),
      });
      keep(fresh);
      return rows.map((_, at) =>
        logits.subarray(at * shape.vocabulary, (at + 1) * shape.vocabulary),
      );
    },
  };
}
