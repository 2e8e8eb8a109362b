import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { TokenChoice } from '../policy.ts';
import type {
  DecodeShape,
  FromWorker,
  GenerateMessage,
  ProgressItem,
  RuntimeName,
  ToWorker,
  WorkerSettings,
} from './protocol.ts';
import type { DrawnBy } from './replies/reply-set.ts';
import { workerFile } from './worker-file.ts';

export interface EngineOptions {
  /** Threads of one matrix product. For small models one is best. */
  readonly threads?: number;
  /** Sequences of one decoding step. */
  readonly maxBatch?: number;
  /** Memory for keys and values of sessions between their turns. */
  readonly cacheBytes?: number;
  /** `auto`: the native runtime, and WASM where that cannot be loaded or crashes. */
  readonly runtime?: 'auto' | 'wasm';
  /** Called once when WASM takes over, with a sentence for people. */
  readonly onNotice?: (text: string) => void;
  /** A Node program for the worker; by default the one that runs this. */
  readonly node?: string;
  /** The worker's bundle; by default dist/onnx-worker.js of this package. */
  readonly workerFile?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export type GenerateRequest = Omit<GenerateMessage, 'type' | 'request' | 'model'> & {
  readonly signal: AbortSignal;
  /** Tokens as they come; never called after the signal has aborted. */
  readonly onTokens?: (ids: readonly number[]) => void;
};

export interface Generation {
  readonly ids: readonly number[];
  /** Natural logarithms, one per id. */
  readonly logprobs: readonly number[];
  /** Where the reply is one of a set: what could have come, at each place with a choice. */
  readonly choices: readonly TokenChoice[];
  /** Of a reply from a set: by the network, or by the weights alone. */
  readonly drawnBy: DrawnBy;
  /** Natural logarithm of what the network gives the whole reply, whoever drew it. */
  readonly networkLogprob: number;
  readonly finish: 'stop' | 'length';
  /** Tokens of the prompt that did not have to be computed. */
  readonly reused: number;
}

export interface EngineModel {
  /** Rejects with `EngineFailure`, or with the signal's reason as soon as it aborts. */
  generate(request: GenerateRequest): Promise<Generation>;
  /** The session has ended; its cache may go. */
  forget(session: number): void;
  /** Running generations get no answer any more. */
  close(): void;
}

/** One process that runs models. Everything that shares it is decoded in common batches. */
export interface OnnxEngine {
  /** Rejects with `EngineFailure`. Several versions of a model may be open at a time. */
  open(folder: string, shape: DecodeShape): Promise<EngineModel>;
  /** Which runtime works, and in which process. */
  status(): { readonly runtime: RuntimeName; readonly pid: number | undefined };
  close(): Promise<void>;
}

/** The model could not be run. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure';
  readonly remedy: string;
  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

interface Model {
  readonly folder: string;
  readonly shape: DecodeShape;
  opened: boolean;
  readonly settle: { resolve(): void; reject(error: EngineFailure): void };
}

interface Pending {
  readonly message: GenerateMessage;
  readonly ids: number[];
  readonly logprobs: number[];
  readonly choices: TokenChoice[];
  reused: number | undefined;
  readonly onTokens: ((ids: readonly number[]) => void) | undefined;
  resolve(generation: Generation): void;
  reject(error: unknown): void;
}

interface Releasable {
  ref(): unknown;
  unref(): unknown;
}

const CACHE_BYTES = 512 * 1024 * 1024;
const REINSTALL =
  'Install the packages again (npm ci), or use another policy: --policy edit-search.';

/** The process starts with the first model. It keeps nothing alive while no generation runs. */
export function createOnnxEngine(options: EngineOptions = {}): OnnxEngine {
  const models = new Map<number, Model>();
  const pending = new Map<number, Pending>();
  let runtime: RuntimeName = options.runtime === 'wasm' ? 'wasm' : 'native';
  let child: ChildProcess | undefined;
  let failure: EngineFailure | undefined;
  let closed = false;
  let count = 0;

  const start = (): ChildProcess => {
    if (child) return child;
    const settings: WorkerSettings = {
      runtime,
      threads: Math.min(options.threads ?? 1, availableParallelism()),
      maxBatch: options.maxBatch ?? 64,
      cacheBytes: options.cacheBytes ?? CACHE_BYTES,
    };
    const file = options.workerFile ?? workerFile();
    if (!existsSync(file)) {
      throw new EngineFailure(
        `The program that runs embedded models is missing (${file}).`,
        'Build it with npm run build.',
      );
    }
    const started = fork(file, [JSON.stringify(settings)], {
      execPath: options.node ?? process.execPath,
      // Not those of a debugger or of a test runner.
      execArgv: [],
      env: { ...(options.env ?? process.env), ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let log = '';
    let unavailable: string | undefined;
    started.stderr?.on('data', (part) => {
      log = (log + String(part)).slice(-2000);
    });
    started.on('message', (message: FromWorker) => {
      if (child !== started) return;
      if (message.type === 'unavailable') unavailable = message.reason;
      else receive(message);
    });
    const ended = (how: string): void => {
      if (child !== started) return;
      child = undefined;
      if (!closed) replace(unavailable ?? how, unavailable !== undefined, log);
    };
    started.once('error', (error) => ended(`it could not be started: ${error.message}`));
    // Not `close`: the channel's end is not waited for after a crash.
    started.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
    child = started;
    hold();
    return started;
  };

  /** A process that waits for nothing must be able to end, with this one idle. */
  const hold = (): void => {
    const busy = pending.size > 0 || [...models.values()].some((model) => !model.opened);
    // The types of the channel and of the stream do not know that both can be let go.
    const handles = [child, child?.channel, child?.stderr] as (Releasable | null | undefined)[];
    for (const handle of handles) {
      if (busy) handle?.ref();
      else handle?.unref();
    }
  };

  /** After the end of the worker: WASM takes over and goes on where the other one was. */
  const replace = (how: string, unavailable: boolean, log: string): void => {
    const detail = log.trim() === '' ? '' : `\n${log.trim()}`;
    if (runtime === 'wasm') {
      const what = unavailable ? 'cannot be loaded' : 'ended unexpectedly';
      failure = new EngineFailure(
        `The embedded model's WASM runtime ${what} (${how}).${detail}`,
        REINSTALL,
      );
      for (const { reject } of pending.values()) reject(failure);
      for (const { opened, settle } of models.values()) if (!opened) settle.reject(failure);
      pending.clear();
      models.clear();
      return;
    }
    runtime = 'wasm';
    const what = unavailable ? 'cannot be loaded here' : 'crashed';
    options.onNotice?.(
      `The native ONNX runtime ${what} (${how}). The WASM runtime takes over: the same results, more slowly.`,
    );
    try {
      start();
    } catch (error) {
      replace(error instanceof Error ? error.message : String(error), true, '');
      return;
    }
    for (const [model, { folder, shape }] of models) send({ type: 'open', model, folder, shape });
    for (const request of pending.values()) send(resumed(request));
  };

  const send = (message: ToWorker): void => {
    // A failed write means that the worker is gone, which its `exit` tells.
    start().send(message, () => undefined);
  };

  const receive = (message: Exclude<FromWorker, { type: 'unavailable' }>): void => {
    switch (message.type) {
      case 'ready':
        return;
      case 'opened': {
        const model = models.get(message.model);
        if (model) model.opened = true;
        model?.settle.resolve();
        break;
      }
      case 'open-failed':
        models
          .get(message.model)
          ?.settle.reject(
            new EngineFailure(
              `The embedded model cannot be opened: ${message.reason}`,
              'Get its folder again, or make it again with the script that made it.',
            ),
          );
        models.delete(message.model);
        break;
      case 'progress':
        for (const item of message.items) take(item);
        break;
      case 'failed':
        pending
          .get(message.request)
          ?.reject(
            new EngineFailure(
              `The embedded model failed: ${message.reason}`,
              'Try again; if it goes on, report it with this message.',
            ),
          );
        pending.delete(message.request);
        break;
    }
    hold();
  };

  const take = (item: ProgressItem): void => {
    const request = pending.get(item.request);
    if (!request) return;
    request.ids.push(...item.ids);
    request.logprobs.push(...item.logprobs);
    request.choices.push(...(item.choices ?? []));
    request.onTokens?.(item.ids);
    if (!item.finish) return;
    pending.delete(item.request);
    const { ids, logprobs, choices } = request;
    request.resolve({
      ids,
      logprobs,
      choices,
      drawnBy: item.drawnBy ?? 'network',
      networkLogprob: item.networkLogprob ?? logprobs.reduce((sum, one) => sum + one, 0),
      finish: item.finish,
      reused: item.reused ?? 0,
    });
  };

  const generate = (model: number, request: GenerateRequest): Promise<Generation> => {
    const { signal, onTokens, ...rest } = request;
    return new Promise<Generation>((resolve, reject) => {
      signal.throwIfAborted();
      assertUsable();
      if (!models.has(model)) throw new EngineFailure('The embedded model is closed.', 'Open it.');
      const id = count++;
      const message: GenerateMessage = { ...rest, type: 'generate', request: id, model };
      const cancel = (): void => {
        if (!pending.delete(id)) return;
        send({ type: 'cancel', request: id });
        hold();
        reject(signal.reason);
      };
      const settled = <T>(settle: (value: T) => void): ((value: T) => void) => {
        return (value) => {
          signal.removeEventListener('abort', cancel);
          settle(value);
        };
      };
      pending.set(id, {
        message,
        ids: [],
        logprobs: [],
        choices: [],
        reused: undefined,
        onTokens,
        resolve: settled(resolve),
        reject: settled(reject),
      });
      signal.addEventListener('abort', cancel, { once: true });
      send(message);
      hold();
    });
  };

  const assertUsable = (): void => {
    if (closed) throw new EngineFailure('The embedded model was closed.', 'Start it again.');
    if (failure) throw failure;
  };

  const closeModel = (model: number): void => {
    if (!models.delete(model) || !child) return;
    send({ type: 'close', model });
    for (const [id, request] of pending) {
      if (request.message.model !== model) continue;
      pending.delete(id);
      request.reject(new EngineFailure('The embedded model was closed.', 'Start it again.'));
    }
    hold();
  };

  return {
    async open(folder, shape) {
      assertUsable();
      const model = count++;
      start();
      await new Promise<void>((resolve, reject) => {
        models.set(model, { folder, shape, opened: false, settle: { resolve, reject } });
        send({ type: 'open', model, folder, shape });
        hold();
      });
      return {
        generate: (request) => generate(model, request),
        forget(session) {
          if (child && models.has(model)) send({ type: 'forget', model, session });
        },
        close: () => closeModel(model),
      };
    },
    status: () => ({ runtime, pid: child?.pid }),
    async close() {
      if (closed) return;
      for (const model of [...models.keys()]) closeModel(model);
      closed = true;
      const ending = child;
      child = undefined;
      if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
      const ended = new Promise((resolve) => ending.once('exit', resolve));
      ending.ref();
      ending.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * What was sampled before a crash stays; draws depend on their place, so the rest is the same. A reply of a set
 * comes all at once, or is drawn again.
 */
function resumed({ message, ids }: Pending): GenerateMessage {
  if (ids.length === 0) return message;
  return {
    ...message,
    ids: [...message.ids, ...ids],
    maxTokens: message.maxTokens - ids.length,
  };
}
