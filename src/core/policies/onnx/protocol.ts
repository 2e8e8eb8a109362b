import type { TokenChoice } from '../policy.ts';
import type { DrawnBy, WeightedReply } from './replies/reply-set.ts';
import type { SamplingRule } from './worker/sample.ts';

/** What a cache needs to know of a model; the same words as in export.json. */
export interface DecodeShape {
  readonly vocabulary: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
}

/** Messages of the engine to its worker, over the channel of `fork`. */
export type ToWorker =
  | {
      readonly type: 'open';
      readonly model: number;
      readonly folder: string;
      readonly shape: DecodeShape;
    }
  | { readonly type: 'close'; readonly model: number }
  | GenerateMessage
  | { readonly type: 'cancel'; readonly request: number }
  /** The session has ended: its cache may go. */
  | { readonly type: 'forget'; readonly model: number; readonly session: number };

export interface GenerateMessage {
  readonly type: 'generate';
  readonly request: number;
  readonly model: number;
  /** Requests of one session reuse its cache; only one of them at a time. */
  readonly session: number;
  /** The whole sequence so far. */
  readonly ids: readonly number[];
  readonly maxTokens: number;
  readonly stopId: number;
  readonly seed: number;
  readonly sampling: SamplingRule;
  /** The reply is one of these; undefined: any. */
  readonly replies?: readonly WeightedReply[];
  /** Share of the draws that the weights of the replies decide alone, 0 to 1; default: 0. */
  readonly byWeights?: number;
  /** In those draws the weights count to this power; default: 1. */
  readonly weightsPower?: number;
}

export type FromWorker =
  | { readonly type: 'ready' }
  /** The runtime cannot be loaded; the worker ends. */
  | { readonly type: 'unavailable'; readonly reason: string }
  | { readonly type: 'opened'; readonly model: number }
  | { readonly type: 'open-failed'; readonly model: number; readonly reason: string }
  | { readonly type: 'progress'; readonly items: readonly ProgressItem[] }
  | { readonly type: 'failed'; readonly request: number; readonly reason: string };

export interface ProgressItem {
  readonly request: number;
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  /** Of these ids, where the reply is one of a set. */
  readonly choices?: readonly TokenChoice[];
  readonly finish?: 'stop' | 'length';
  /** With `finish`: who drew the reply; default: the network. */
  readonly drawnBy?: DrawnBy;
  /** With `finish`: natural logarithm of what the network gives the reply; default: the sum of `logprobs`. */
  readonly networkLogprob?: number;
  /** With `finish`: tokens of the prompt that were found in the cache. */
  readonly reused?: number;
}

/** The worker's command line: which runtime, and its settings as JSON. */
export type RuntimeName = 'native' | 'wasm';

export interface WorkerSettings {
  readonly runtime: RuntimeName;
  /** Threads of one matrix product. */
  readonly threads: number;
  /** Sequences of one decoding step. */
  readonly maxBatch: number;
  /** Memory for keys and values of sessions that wait for their next turn. */
  readonly cacheBytes: number;
}

/** Set to `off`, it makes the native runtime unavailable: for tests and for machines where it crashes. */
export const NATIVE_SWITCH = 'PRIME_AGENT_ONNX_NATIVE';
