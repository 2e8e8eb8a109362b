import type { GenerateMessage, ProgressItem } from '../protocol.ts';
import { choicesOf, createReplyTree, type DrawnBy, type ReplyNode } from '../replies/reply-set.ts';
import { type Batch, createBatch, type Row } from './batch.ts';
import { drawReply } from './drawn-reply.ts';
import { type ReplySearch, searchLikeliest } from './likeliest-reply.ts';
import { uniform } from './random.ts';
import { readChunk } from './read-chunk.ts';
import { rememberReplyLogits } from './reply-logits.ts';
import type { Network } from './runtime.ts';
import { sampleToken, sampleWeighted } from './sample.ts';
import type { SequenceCache } from './sequence-cache.ts';
import { createSessionCaches } from './session-caches.ts';

export interface DecoderOptions {
  readonly maxBatch: number;
  readonly cacheBytes: number;
  onProgress(item: ProgressItem): void;
  onFailure(request: number, reason: string): void;
}

/** Decodes for any number of sessions of one model at once. */
export interface Decoder {
  generate(request: GenerateMessage): void;
  cancel(request: number): void;
  forget(session: number): void;
  /** Ends after the step that is being computed; requests that are left get no answer. */
  close(): Promise<void>;
}

interface Active extends Row {
  readonly request: GenerateMessage;
  readonly reused: number;
  sampled: number;
  batch: Batch<Active> | undefined;
  /** It leaves between two steps: rows must not move while one is computed. */
  cancelled: boolean;
}

/** A reply of a set is being drawn, or the most probable one looked for. */
interface Searching {
  readonly request: GenerateMessage;
  readonly reused: number;
  readonly root: ReplyNode;
  readonly search: ReplySearch;
  readonly drawnBy: DrawnBy;
  cancelled: boolean;
}

/** Places of draws where no token ever stands. */
const WHO_DRAWS = 0xffff_ffff;
const WEIGHTS_DRAW = 0xffff_fffe;

/** Batches that nobody is in are kept for the next one up to this size. */
const IDLE_BATCH_BYTES = 64 * 1024 * 1024;

/** Room that a new batch has for each of its sequences to grow. */
const HEADROOM = 48;
const BATCH_SLOT_STEP = 128;

/** Prompts whose replies' logits are kept: at most some hundred kB each. */
const KNOWN_PROMPTS = 128;

/**
 * Prompts come first, in chunks, so that as many sequences as possible share the steps that follow
 * (continuous batching: sequences join and leave between any two steps).
 */
export function createDecoder(network: Network, options: DecoderOptions): Decoder {
  const { shape } = network;
  const caches = createSessionCaches(shape, options.cacheBytes);
  const waiting: GenerateMessage[] = [];
  const active = new Map<number, Active>();
  const searching = new Map<number, Searching>();
  /** What was computed for the replies to a prompt: the next set behind it is nearly the same. */
  const replyLogits = rememberReplyLogits(KNOWN_PROMPTS);
  let batches: Batch<Active>[] = [];
  /** The prompt that is being read can be cancelled between two chunks. */
  let reading: { readonly request: number; cancelled: boolean } | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  const leave = (sequence: Active): void => {
    active.delete(sequence.request.request);
    sequence.batch?.leave(sequence);
    sequence.batch = undefined;
    caches.park(sequence.request.session);
    let idle = 0;
    batches = batches.filter((batch) => {
      if (batch.rows.length > 0) return true;
      idle += batch.bytes();
      return idle <= IDLE_BATCH_BYTES;
    });
  };

  /** The batch with the fewest slots that fits; one that is much too wide would cost more than a new one. */
  const join = (sequence: Active): void => {
    const needed = sequence.cache.ids.length + 1;
    const fitting = batches
      .filter((batch) => batch.slots >= needed && batch.slots <= 1.25 * needed + BATCH_SLOT_STEP)
      .filter((batch) => batch.rows.length < options.maxBatch)
      .sort((a, b) => a.slots - b.slots);
    let batch = fitting[0];
    if (!batch) {
      const slots = Math.ceil((needed + HEADROOM) / BATCH_SLOT_STEP) * BATCH_SLOT_STEP;
      batch = createBatch<Active>(shape, slots, options.maxBatch);
      batches.push(batch);
    }
    batch.join(sequence);
    sequence.batch = batch;
  };

  /** Draws the next token of a sequence; true where it goes on. */
  const accept = (sequence: Active, logits: Float32Array): boolean => {
    const { request } = sequence;
    const place = sequence.cache.ids.length;
    const chance = uniform(request.seed, place);
    const { id, logprob } = sampleToken(logits, request.sampling, chance);
    sequence.pending = id;
    sequence.sampled += 1;
    const finish =
      id === request.stopId ? 'stop' : sequence.sampled >= request.maxTokens ? 'length' : undefined;
    const item = { request: request.request, ids: [id], logprobs: [logprob] };
    options.onProgress(finish ? { ...item, finish, reused: sequence.reused } : item);
    return finish === undefined;
  };

  const readPrompt = async (request: GenerateMessage): Promise<void> => {
    const state = { request: request.request, cancelled: false };
    reading = state;
    try {
      const cache = caches.take(request.session, request.ids);
      const reused = cache.ids.length;
      const root = request.replies && createReplyTree(request.replies);
      // Behind a prompt that is known the network may have nothing left to say.
      const enough = root !== undefined && replyLogits.has(request.ids);
      let logits: Float32Array = new Float32Array();
      while (!enough && cache.ids.length < request.ids.length && !state.cancelled && !closed) {
        logits = await readChunk(network, cache, request.ids);
      }
      if (root && !state.cancelled && !closed) {
        searching.set(request.request, startSearch(request, root, cache, reused));
        return;
      }
      const sequence: Active = {
        request,
        cache,
        reused,
        pending: 0,
        sampled: 0,
        batch: undefined,
        cancelled: false,
      };
      if (state.cancelled || closed || !accept(sequence, logits)) {
        caches.park(request.session);
        return;
      }
      active.set(request.request, sequence);
      join(sequence);
    } catch (error) {
      caches.forget(request.session);
      options.onFailure(request.request, reasonOf(error));
    } finally {
      reading = undefined;
    }
  };

  const stepBatch = async (batch: Batch<Active>): Promise<void> => {
    for (const row of batch.rows.filter((row) => row.cancelled)) leave(row);
    // A row without a free slot goes to a batch with more of them.
    for (const row of batch.rows.filter((row) => row.cache.ids.length >= batch.slots)) {
      batch.leave(row);
      join(row);
    }
    if (batch.rows.length === 0) return;
    const rows = [...batch.rows];
    try {
      const logits = await batch.step(network);
      for (const [at, row] of rows.entries()) {
        if (row.cancelled || !accept(row, logits[at] ?? new Float32Array())) leave(row);
      }
    } catch (error) {
      for (const row of rows.filter((row) => row.batch === batch)) {
        leave(row);
        options.onFailure(row.request.request, reasonOf(error));
      }
    }
  };

  const startSearch = (
    request: GenerateMessage,
    root: ReplyNode,
    cache: SequenceCache,
    reused: number,
  ): Searching => {
    const { ids, byWeights, sampling, seed } = request;
    const ask = replyLogits.of(ids).asking(network, cache);
    if (sampling.temperature === 0) {
      const search = searchLikeliest(root, ask, byWeights);
      return { request, reused, root, search, drawnBy: 'network', cancelled: false };
    }
    const drawn = drawnByWeights(request);
    const { temperature } = sampling;
    const chanceAt = (place: number): number => uniform(seed, ids.length + place);
    const search = drawReply(root, ask, { temperature, chanceAt, drawn });
    const drawnBy = drawn ? 'weights' : 'network';
    return { request, reused, root, search, drawnBy, cancelled: false };
  };

  const stepSearch = async (one: Searching): Promise<void> => {
    const { request, reused, root, search, drawnBy } = one;
    const { session } = request;
    const leaveSearch = (): void => {
      searching.delete(request.request);
      caches.park(session);
    };
    if (one.cancelled) {
      leaveSearch();
      return;
    }
    try {
      const found = await search.step();
      if (!found || one.cancelled) return;
      leaveSearch();
      const { ids, logprobs, networkLogprob } = found;
      const choices = choicesOf(root, ids) ?? [];
      const item = { request: request.request, ids, logprobs, choices, networkLogprob };
      options.onProgress({ ...item, finish: 'stop', drawnBy, reused });
    } catch (error) {
      searching.delete(request.request);
      caches.forget(session);
      options.onFailure(request.request, reasonOf(error));
    }
  };

  const work = async (): Promise<void> => {
    while (!closed) {
      const next = waiting.shift();
      if (next) {
        await readPrompt(next);
        continue;
      }
      const busy = batches.filter((batch) => batch.rows.length > 0);
      if (busy.length === 0 && searching.size === 0) return;
      for (const batch of busy) {
        if (closed) return;
        await stepBatch(batch);
      }
      for (const one of [...searching.values()]) {
        if (closed) return;
        await stepSearch(one);
      }
    }
  };

  const wake = (): void => {
    running ??= work().finally(() => {
      running = undefined;
      if (waiting.length > 0 && !closed) wake();
    });
  };

  return {
    generate(request) {
      waiting.push(request);
      wake();
    },
    cancel(request) {
      const queued = waiting.findIndex((candidate) => candidate.request === request);
      if (queued >= 0) waiting.splice(queued, 1);
      if (reading?.request === request) reading.cancelled = true;
      const sequence = active.get(request);
      if (sequence) sequence.cancelled = true;
      const search = searching.get(request);
      if (search) search.cancelled = true;
    },
    forget(session) {
      caches.forget(session);
    },
    async close() {
      closed = true;
      await running;
      await network.release();
    },
  };
}

/** The reply, where the weights alone draw it. */
function drawnByWeights(request: GenerateMessage) {
  const { replies, byWeights = 0, weightsPower = 1, seed, sampling } = request;
  if (!replies || uniform(seed, WHO_DRAWS) >= byWeights) return undefined;
  const weights = replies.map(({ weight }) => weight ** weightsPower);
  return replies[sampleWeighted(weights, sampling, uniform(seed, WEIGHTS_DRAW))]?.ids;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
