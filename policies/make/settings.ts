/** Everything that decides what nano becomes; recorded with it. */
export interface NanoSettings {
  /** The tasks that tell train from held-out: `prime-agent tasks build --generate COUNT --seed SEED`. */
  readonly evaluation: { readonly count: number; readonly seed: number };
  readonly demonstrations: {
    /** Each is made by itself, so that an interruption loses little. */
    readonly shards: number;
    readonly tasksPerShard: number;
    readonly firstSeed: number;
    /** Demonstrations of each task, with other wrong edits. */
    readonly perTask: number;
    readonly noise: number;
    readonly mostOfAShape: number;
    /** Longer ones are left out. */
    readonly mostCharacters: number;
  };
  readonly vocabulary: number;
  readonly shape: {
    readonly hidden: number;
    readonly layers: number;
    readonly heads: number;
    readonly kv_heads: number;
    readonly feed_forward: number;
    readonly context: number;
  };
  readonly training: {
    readonly steps: number;
    readonly rows_per_step: number;
    readonly peak: number;
    readonly warmup_steps: number;
    readonly seed: number;
  };
}

export const FULL: NanoSettings = {
  evaluation: { count: 2000, seed: 1 },
  demonstrations: {
    shards: 6,
    tasksPerShard: 2000,
    firstSeed: 1001,
    perTask: 2,
    noise: 0.4,
    mostOfAShape: 8,
    mostCharacters: 3_200,
  },
  vocabulary: 1024,
  shape: { hidden: 192, layers: 4, heads: 6, kv_heads: 2, feed_forward: 512, context: 4096 },
  training: { steps: 6000, rows_per_step: 16, peak: 2e-3, warmup_steps: 100, seed: 1 },
};
