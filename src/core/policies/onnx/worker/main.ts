import type { TokenChoice } from '../../policy.ts';
import type { FromWorker, ProgressItem, ToWorker, WorkerSettings } from '../protocol.ts';
import { createDecoder, type Decoder } from './decoder.ts';
import { loadRuntime, type Runtime } from './runtime.ts';

/*
 * The process that the model runs in: ONNX Runtime is native code, and what it may do to its process
 * must not happen to the editor's. Started by engine.ts with `fork`; ends with its parent.
 */

/** Tokens go to the parent in one message per such time, so that messages cost next to nothing. */
const PROGRESS_MS = 15;

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? '{}');
const models = new Map<number, Decoder>();
const owners = new Map<number, number>();

type Unsent = { ids: number[]; logprobs: number[]; choices: TokenChoice[] } & Partial<ProgressItem>;
let unsent = new Map<number, Unsent>();
let timer: NodeJS.Timeout | undefined;

process.on('disconnect', () => process.exit(0));
// Ctrl+C in a terminal goes to every process there; the parent decides when this one ends.
process.on('SIGINT', () => undefined);

try {
  const runtime = await loadRuntime(settings.runtime, settings.threads);
  // One after the other: a generation may follow the opening of its model at once.
  let queue = Promise.resolve();
  process.on('message', (message: ToWorker) => {
    queue = queue.then(() => handle(runtime, message));
  });
  send({ type: 'ready' });
} catch (error) {
  const sent = { type: 'unavailable', reason: reasonOf(error) } satisfies FromWorker;
  process.send?.(sent, () => process.exit(0));
}

async function handle(runtime: Runtime, message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'open':
      try {
        const network = await runtime.open(message.folder, message.shape);
        models.set(message.model, createDecoder(network, decoderOptions()));
        send({ type: 'opened', model: message.model });
      } catch (error) {
        send({ type: 'open-failed', model: message.model, reason: reasonOf(error) });
      }
      return;
    case 'close': {
      const model = models.get(message.model);
      models.delete(message.model);
      // Not waited for: other models go on.
      void model?.close().catch(() => undefined);
      return;
    }
    case 'generate': {
      const model = models.get(message.model);
      if (!model) {
        send({ type: 'failed', request: message.request, reason: 'its model is closed' });
        return;
      }
      owners.set(message.request, message.model);
      model.generate(message);
      return;
    }
    case 'cancel':
      models.get(owners.get(message.request) ?? -1)?.cancel(message.request);
      owners.delete(message.request);
      unsent.delete(message.request);
      return;
    case 'forget':
      models.get(message.model)?.forget(message.session);
  }
}

function decoderOptions(): Parameters<typeof createDecoder>[1] {
  return {
    maxBatch: settings.maxBatch,
    cacheBytes: settings.cacheBytes,
    onProgress(item) {
      const waiting = unsent.get(item.request) ?? { ids: [], logprobs: [], choices: [] };
      waiting.ids.push(...item.ids);
      waiting.logprobs.push(...item.logprobs);
      waiting.choices.push(...(item.choices ?? []));
      unsent.set(item.request, { ...item, ...waiting });
      if (item.finish) {
        owners.delete(item.request);
        flushSoon(0);
      } else flushSoon(PROGRESS_MS);
    },
    onFailure(request, reason) {
      owners.delete(request);
      unsent.delete(request);
      send({ type: 'failed', request, reason });
    },
  };
}

/** With 0: in this turn of the event loop, together with whatever else ended in the same step. */
function flushSoon(delayMs: number): void {
  if (delayMs === 0) {
    clearTimeout(timer);
    timer = undefined;
    queueMicrotask(flush);
  } else timer ??= setTimeout(flush, delayMs);
}

function flush(): void {
  clearTimeout(timer);
  timer = undefined;
  if (unsent.size === 0) return;
  const items = [...unsent.entries()].map(([request, item]) => ({ ...item, request }));
  unsent = new Map();
  send({ type: 'progress', items });
}

function send(message: FromWorker): void {
  process.send?.(message);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
