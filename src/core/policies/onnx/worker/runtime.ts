import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { type DecodeShape, NATIVE_SWITCH, type RuntimeName } from '../protocol.ts';

/** One call of the network: B sequences with S new tokens each, over a cache of C slots. */
export interface Step {
  readonly batch: number;
  readonly fresh: number;
  readonly slots: number;
  /** [B, S] */
  readonly ids: BigInt64Array;
  /** [B, S], from 0 */
  readonly positions: BigInt64Array;
  /** [B]: which of the new tokens gives the logits. */
  readonly newest: BigInt64Array;
  /** [B, C]: 0 for a slot that may be seen, HIDDEN otherwise. */
  readonly cacheBias: Float32Array;
  /** Key and value of each layer: [B, kv heads, C, head size]. Read and never changed. */
  readonly cache: readonly Float32Array[];
}

export interface StepResult {
  /** [B, V] */
  readonly logits: Float32Array;
  /** Key and value of each layer for the new tokens: [B, kv heads, S, head size]. */
  readonly fresh: readonly Float32Array[];
}

export interface Network {
  readonly shape: DecodeShape;
  run(step: Step): Promise<StepResult>;
  release(): Promise<void>;
}

/** Finite, so that a row that sees nothing does not become NaN. */
export const HIDDEN = -1e9;

export interface Runtime {
  /** @param folder holds model.onnx and model.safetensors */
  open(folder: string, shape: DecodeShape): Promise<Network>;
}

/** Rejects where the runtime cannot be loaded on this machine. */
export async function loadRuntime(name: RuntimeName, threads: number): Promise<Runtime> {
  const ort = name === 'native' ? await loadNative() : await loadWasm();
  return {
    async open(folder, shape) {
      const session = await createSession(ort, name, folder, threads);
      return network(ort, session, shape);
    },
  };
}

type OrtModule = Pick<typeof import('onnxruntime-node'), 'InferenceSession' | 'Tensor'>;

async function loadNative(): Promise<OrtModule> {
  if (process.env[NATIVE_SWITCH] === 'off') throw new Error(`${NATIVE_SWITCH} is off`);
  const module = await import('onnxruntime-node');
  // CommonJS: bundlers and Node differ in where they put its exports.
  return ('default' in module ? module.default : module) as OrtModule;
}

async function loadWasm(): Promise<OrtModule> {
  const ort = await import('onnxruntime-web');
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  return ort as unknown as OrtModule;
}

async function createSession(
  ort: OrtModule,
  name: RuntimeName,
  folder: string,
  threads: number,
): Promise<InferenceSession> {
  const options: InferenceSession.SessionOptions = {
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  };
  if (name === 'native') {
    return ort.InferenceSession.create(join(folder, 'model.onnx'), {
      ...options,
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
    });
  }
  const [graph, weights] = await Promise.all(
    ['model.onnx', 'model.safetensors'].map((file) => readFile(join(folder, file))),
  );
  if (!graph || !weights) throw new Error('unreachable');
  return ort.InferenceSession.create(new Uint8Array(graph), {
    ...options,
    executionProviders: ['wasm'],
    externalData: [{ path: 'model.safetensors', data: new Uint8Array(weights) }],
  });
}

function network(ort: OrtModule, session: InferenceSession, shape: DecodeShape): Network {
  const names = Array.from({ length: shape.layers }, (_, layer) => [
    `${layer}.key`,
    `${layer}.value`,
  ]).flat();
  const group = shape.heads / shape.kvHeads;
  const single = causalBias(group, 1);
  return {
    shape,
    async run(step) {
      const { batch, fresh, slots } = step;
      const feeds: Record<string, Tensor> = {
        input_ids: new ort.Tensor('int64', step.ids, [batch, fresh]),
        position_ids: new ort.Tensor('int64', step.positions, [batch, fresh]),
        newest: new ort.Tensor('int64', step.newest, [batch, 1]),
        cache_bias: new ort.Tensor('float32', step.cacheBias, [batch, 1, 1, slots]),
        new_bias: new ort.Tensor('float32', fresh === 1 ? single : causalBias(group, fresh), [
          1,
          1,
          group * fresh,
          fresh,
        ]),
      };
      const dims = [batch, shape.kvHeads, slots, shape.headSize];
      names.forEach((name, index) => {
        const part = step.cache[index] ?? new Float32Array();
        feeds[`past_key_values.${name}`] = new ort.Tensor('float32', part, dims);
      });
      const result = await session.run(feeds);
      const output = (name: string): Float32Array => {
        const tensor = result[name];
        if (!(tensor?.data instanceof Float32Array)) throw new Error(`no output ${name}`);
        return tensor.data;
      };
      return { logits: output('logits'), fresh: names.map((name) => output(`new.${name}`)) };
    },
    release: () => session.release(),
  };
}

/** [G · S, S]: a new token sees itself and the new ones before it. Heads that share keys repeat it. */
function causalBias(group: number, fresh: number): Float32Array {
  const bias = new Float32Array(group * fresh * fresh);
  for (let row = 0; row < group * fresh; row += 1) {
    const start = row * fresh;
    bias.fill(HIDDEN, start + (row % fresh) + 1, start + fresh);
  }
  return bias;
}
