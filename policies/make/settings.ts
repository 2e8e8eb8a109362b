import type { SplitName } from '../../src/core/tasks/split.ts';
import type { Budgets } from '../../src/core/trajectories/schema.ts';

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
    /** Share of the names that are replaced, one of these for each demonstration. */
    readonly renamed: readonly [number, ...number[]];
    readonly mostOfAShape: number;
    /** Longer ones are left out. */
    readonly mostCharacters: number;
  };
  /** Bugs in real code put right, behind the openings of the demonstrations (repairs.ts). */
  readonly repairs: {
    /** Pieces of the JavaScript of the installed packages, at most. */
    readonly chunks: number;
    /** Of each piece, with other bugs. */
    readonly variants: number;
    /** In each. */
    readonly edits: number;
  };
  /** Choices of an edit (task-decisions.ts), from tasks of their own. */
  readonly decisions: {
    readonly tasks: number;
    readonly seed: number;
    /** Functions of real code that are families as well (mined.ts), and tasks of them. */
    readonly mined: { readonly functions: number; readonly tasks: number };
    readonly perTask: number;
    /** Tries before the one that helps: one of these for each. */
    readonly wrongTries: readonly [number, ...number[]];
    /** As in demonstrations. */
    readonly renamed: readonly [number, ...number[]];
  };
  /** The edits that the policy chooses from, as in policy.json (core/policies/onnx/replies). */
  readonly replies: {
    readonly priorPower: number;
    readonly mostEdits: number;
    readonly byScores: number;
    readonly scoresPower: number;
  };
  readonly vocabulary: number;
  readonly shape: {
    readonly hidden: number;
    readonly layers: number;
    readonly heads: number;
    readonly kv_heads: number;
    readonly feed_forward: number;
    readonly context: number;
    readonly rope_theta: number;
    /** First weights with heads that copy (prime_learner/copying.py). */
    readonly copying_heads: boolean;
  };
  readonly training: {
    readonly seed: number;
    readonly tokens_per_pack: number;
    /** What moves the matrices of the layers (prime_learner/optimizer.py). */
    readonly matrices: 'adamw' | 'muon';
    /** One after the other, each from the weights of the one before. */
    readonly phases: readonly Phase[];
  };
  readonly budgets: Budgets;
  readonly measured: {
    readonly splits: readonly SplitName[];
    readonly samplings: readonly {
      readonly temperature: number;
      readonly attempts: number;
      /** Instead of the one below. */
      readonly limit?: number;
      /** Instead of all parts. */
      readonly splits?: readonly (SplitName | 'all')[];
    }[];
    /** Tasks of each part at most. */
    readonly limit: number;
  };
}

export interface Phase {
  readonly name: string;
  /** Demonstrations of the first so many shards. */
  readonly shards: number;
  /** The repairs as well. */
  readonly repairs: boolean;
  /** All of a conversation, only what the policy writes, or the choices of `decisions` and repairs. */
  readonly learn: 'everything' | 'assistant' | 'choices';
  readonly rows_per_step: number;
  readonly steps: number;
  /** Of the learning rate: warm-up to it, then a cosine to a tenth, or as it is. */
  readonly peak: number;
  readonly schedule: 'cosine' | 'constant';
  readonly warmup_steps: number;
}

/** Of an attempt in training and evaluation. */
const BUDGETS: Budgets = {
  // One look, twenty edits with tests and what takes them back, and the end: tries are what binds.
  turns: 200,
  tries: 20,
  contextTokens: 3_072,
  generatedTokens: 8_000,
  replyTokens: 400,
  // Turns and tokens are what binds: attempts that share a core with many others must not lose by it.
  timeMs: 1_800_000,
};

export const FULL: NanoSettings = {
  evaluation: { count: 2000, seed: 1 },
  demonstrations: {
    shards: 1,
    tasksPerShard: 1500,
    firstSeed: 1001,
    perTask: 4,
    noise: 0.4,
    renamed: [0.9, 0.9, 0.5],
    mostOfAShape: 8,
    mostCharacters: 4_500,
  },
  repairs: { chunks: 20_000, variants: 2, edits: 3 },
  decisions: {
    tasks: 2_500,
    seed: 2001,
    mined: { functions: 1_500, tasks: 4_000 },
    perTask: 3,
    wrongTries: [0, 0, 1, 4],
    renamed: [0.9, 0.9, 0.5],
  },
  replies: { priorPower: 1, mostEdits: 400, byScores: 0.5, scoresPower: 3 },
  vocabulary: 1536,
  shape: {
    hidden: 192,
    layers: 5,
    heads: 3,
    kv_heads: 3,
    feed_forward: 512,
    context: 4096,
    rope_theta: 1e10,
    copying_heads: true,
  },
  training: {
    seed: 1,
    tokens_per_pack: 4096,
    matrices: 'muon',
    phases: [
      {
        name: 'language',
        shards: 1,
        repairs: true,
        learn: 'everything',
        rows_per_step: 16,
        steps: 250,
        peak: 1.5e-3,
        schedule: 'constant',
        warmup_steps: 30,
      },
      {
        name: 'choices',
        shards: 0,
        repairs: true,
        learn: 'choices',
        rows_per_step: 16,
        steps: 1_400,
        peak: 1e-3,
        schedule: 'cosine',
        warmup_steps: 30,
      },
    ],
  },
  budgets: BUDGETS,
  measured: {
    splits: ['held-out', 'new-family', 'new-operator', 'train'],
    samplings: [
      { temperature: 0, attempts: 1 },
      { temperature: 1, attempts: 8, limit: 40, splits: ['held-out', 'new-family'] },
    ],
    limit: 150,
  },
};

/** Everything once, from nothing, in minutes: shows that it runs, not that it learns much. */
export const SMOKE: NanoSettings = {
  evaluation: { count: 40, seed: 1 },
  demonstrations: {
    ...FULL.demonstrations,
    shards: 1,
    tasksPerShard: 30,
    firstSeed: 7,
  },
  repairs: { chunks: 100, variants: 1, edits: 3 },
  decisions: { ...FULL.decisions, tasks: 20, seed: 8, mined: { functions: 8, tasks: 12 } },
  replies: { priorPower: 1, mostEdits: 400, byScores: 0.5, scoresPower: 3 },
  vocabulary: 400,
  shape: {
    hidden: 48,
    layers: 3,
    heads: 3,
    kv_heads: 3,
    feed_forward: 64,
    context: 4096,
    rope_theta: 1e10,
    copying_heads: true,
  },
  training: {
    seed: 1,
    tokens_per_pack: 4096,
    matrices: 'muon',
    phases: [
      {
        name: 'language',
        shards: 1,
        repairs: false,
        learn: 'assistant',
        rows_per_step: 4,
        steps: 6,
        peak: 2e-3,
        schedule: 'constant',
        warmup_steps: 2,
      },
      {
        name: 'replies',
        shards: 1,
        repairs: true,
        learn: 'assistant',
        rows_per_step: 4,
        steps: 6,
        peak: 1e-3,
        schedule: 'cosine',
        warmup_steps: 2,
      },
      {
        name: 'choices',
        shards: 1,
        repairs: true,
        learn: 'choices',
        rows_per_step: 4,
        steps: 6,
        peak: 1e-3,
        schedule: 'cosine',
        warmup_steps: 2,
      },
    ],
  },
  budgets: { ...BUDGETS, turns: 8 },
  measured: { splits: ['train'], samplings: [{ temperature: 1, attempts: 2 }], limit: 6 },
};
