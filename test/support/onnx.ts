import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import type { PolicyManifest } from '../../src/core/policies/onnx/policy-folder.ts';
import { writePolicyManifest } from '../../src/core/policies/onnx/policy-folder.ts';
import type { DecodeShape } from '../../src/core/policies/onnx/protocol.ts';
import { tempFolder } from './temp.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Made by server/learner/tests/make_decode_fixtures.py: random weights, and PyTorch's figures for them. */
export const SMALL_MODEL = join(root, 'test/fixtures/onnx-policy');

export const SMALL_SHAPE: DecodeShape = {
  vocabulary: 400,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headSize: 8,
};

export interface SampledReference {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  /** How far each draw was from giving another token. */
  readonly edges: readonly number[];
}

export interface DecodeCase {
  readonly prompt: readonly number[];
  readonly greedy: readonly number[];
  /** Of the two best log-probabilities at each greedy step. */
  readonly margins: readonly number[];
  readonly seed: number;
  readonly sampling: { temperature: number; topP: number; topK: number };
  readonly first: SampledReference;
  readonly observation: readonly number[];
  readonly second: SampledReference;
}

export async function decodeCases(): Promise<readonly DecodeCase[]> {
  return JSON.parse(await readFile(`${SMALL_MODEL}.json`, 'utf8')).cases;
}

/** The worker from source, as `npm run build` bundles it. It lies where it finds its packages. */
export function builtWorker(): () => string {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(root, 'node_modules', '.onnx-worker-'));
    const bundle = new URL('../../scripts/lib/bundle.mjs', import.meta.url).href;
    const { bundleOptions } = await import(/* @vite-ignore */ bundle);
    await build({
      ...bundleOptions,
      entryPoints: [join(root, 'src/core/policies/onnx/worker/main.ts')],
      outfile: join(folder, 'worker.mjs'),
    });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () => join(folder, 'worker.mjs');
}

export const SMALL_MANIFEST: PolicyManifest = {
  format: 1,
  name: 'small',
  scaffoldHash: 'a'.repeat(64),
  contextTokens: 512,
  systemMessage: 'omitted',
  sampling: { temperature: 1, topP: 1, topK: -1 },
  handles: { extensions: ['.js'], largestFileTokens: 300 },
};

/** A policy folder of the small model, which goes with the test. */
export async function smallPolicy(changes: Partial<PolicyManifest> = {}): Promise<string> {
  const folder = await tempFolder('prime-agent-policy-');
  await cp(SMALL_MODEL, folder, { recursive: true });
  await writePolicyManifest(folder, { ...SMALL_MANIFEST, ...changes });
  return folder;
}
