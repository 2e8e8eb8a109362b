import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OnnxEngine } from './onnx/engine.ts';
import { createOpenAiPolicy, type OpenAiOptions, PLAIN_SAMPLING } from './openai/openai.ts';
import { type Policy, PolicyFailure } from './policy.ts';

/** What people write: `--policy edit-search|nano|URL|DIR`, `--model NAME`. */
export interface PolicySpec {
  readonly policy: string;
  readonly model?: string | undefined;
  /** Repair two frequent faults in calls (interactive use only). */
  readonly lenient?: boolean | undefined;
  /** edit-search: as it is measured (`ONE_BY_ONE`). */
  readonly oneByOne?: boolean | undefined;
  /** Of sampling; default: 1, or what `openAi.sampling` says. */
  readonly temperature?: number | undefined;
}

export interface PolicyDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly openAi?: Partial<Pick<OpenAiOptions, 'timeouts' | 'retries' | 'sampling' | 'prices'>>;
  /** For policies from a folder; with an engine, they share its process. */
  readonly onnx?: {
    readonly engine?: OnnxEngine;
    readonly workerFile?: string;
    /** Another Node than the one that runs this; absolute path. */
    readonly node?: string | undefined;
  };
  /** What people should know although it works, once: a slower runtime took over. */
  readonly onNotice?: (text: string) => void;
}

export type CreatedPolicy =
  | { readonly kind: 'policy'; readonly policy: Policy }
  | {
      readonly kind: 'problem';
      /** `usage`: the words are wrong; `environment`: the endpoint does not answer as it should. */
      readonly cause: 'usage' | 'environment';
      readonly reason: string;
      readonly remedy: string;
    };

/** Rejects only with the signal's reason. */
export async function createPolicy(spec: PolicySpec, deps: PolicyDeps): Promise<CreatedPolicy> {
  const wanted = spec.policy.trim();
  if (wanted === 'edit-search') {
    if (spec.model !== undefined) {
      return problem(
        'usage',
        'edit-search has no models.',
        'Leave --model out, or name an endpoint with --policy.',
      );
    }
    if (spec.temperature !== undefined) {
      return problem('usage', 'edit-search samples nothing.', 'Leave --temperature out.');
    }
    // Loaded on demand: it brings parsers that an endpoint does not need.
    const { createEditSearchPolicy, ONE_BY_ONE } = await import('./edit-search/edit-search.ts');
    const options = spec.oneByOne === true ? ONE_BY_ONE : {};
    return { kind: 'policy', policy: createEditSearchPolicy(options) };
  }
  if (
    /^https?:\/\//i.test(wanted) ||
    /^(?:localhost|[\w.-]+|\[[\da-f:]+\]):\d+(?:\/|$)/i.test(wanted)
  ) {
    return openAi(wanted, spec, deps);
  }
  if (wanted === 'nano' || existsSync(wanted)) {
    if (spec.model !== undefined) {
      return problem(
        'usage',
        `A policy from a folder (${wanted}) has one model.`,
        'Leave --model out, or name an endpoint with --policy.',
      );
    }
    return embedded(wanted, spec, deps);
  }
  return problem(
    'usage',
    `There is no policy "${wanted}".`,
    'Use edit-search, nano, the address of an OpenAI-compatible server (http://127.0.0.1:8000/v1), or an existing folder.',
  );
}

async function embedded(
  wanted: string,
  { temperature }: PolicySpec,
  deps: PolicyDeps,
): Promise<CreatedPolicy> {
  // Loaded on demand: most runs have no use for a tokenizer and a runtime.
  const { createOnnxPolicy } = await import('./onnx/onnx-policy.ts');
  const { packageFolder } = await import('./onnx/worker-file.ts');
  const { currentScaffoldHash } = await import('../fix/scaffold.ts');
  const folder = wanted === 'nano' ? join(packageFolder(), 'policies', 'nano') : wanted;
  if (!existsSync(folder)) {
    return problem(
      'environment',
      `This copy of prime-agent has no embedded policy: ${folder} is missing.`,
      'Make it with npm run policy:nano, or use another policy: --policy edit-search.',
    );
  }
  const created = await createOnnxPolicy({
    folder,
    scaffoldHash: currentScaffoldHash(),
    ...(temperature === undefined ? {} : { sampling: { ...PLAIN_SAMPLING, temperature } }),
    ...(deps.onnx?.engine ? { engine: deps.onnx.engine } : {}),
    engineOptions: {
      env: deps.env,
      ...(deps.onnx?.workerFile === undefined ? {} : { workerFile: deps.onnx.workerFile }),
      ...(deps.onnx?.node === undefined ? {} : { node: deps.onnx.node }),
      ...(deps.onNotice ? { onNotice: deps.onNotice } : {}),
    },
  });
  deps.signal.throwIfAborted();
  if (created.kind === 'policy') return created;
  const cause = created.cause === 'runtime' || wanted === 'nano' ? 'environment' : 'usage';
  return problem(cause, created.reason, created.remedy);
}

async function openAi(address: string, spec: PolicySpec, deps: PolicyDeps): Promise<CreatedPolicy> {
  try {
    const policy = await createOpenAiPolicy(
      {
        ...deps.openAi,
        ...(spec.temperature === undefined
          ? {}
          : {
              sampling: {
                ...(deps.openAi?.sampling ?? PLAIN_SAMPLING),
                temperature: spec.temperature,
              },
            }),
        baseUrl: address,
        model: spec.model,
        apiKey: keyFor(address, deps.env),
        lenient: spec.lenient === true,
      },
      deps.signal,
    );
    return { kind: 'policy', policy };
  } catch (error) {
    deps.signal.throwIfAborted();
    if (!(error instanceof PolicyFailure)) throw error;
    const usage = error.kind === 'unknown-model' || error.kind === 'bad-request';
    return problem(
      usage ? 'usage' : 'environment',
      error.message,
      error.remedy ?? 'See the log of the server.',
    );
  }
}

/** A key goes only where it belongs: OpenAI's own never to another host. */
function keyFor(address: string, env: PolicyDeps['env']): string | undefined {
  const own = env.PRIME_AGENT_API_KEY;
  if (own !== undefined && own !== '') return own;
  return /^https:\/\/api\.openai\.com(?:[:/]|$)/i.test(address) ? env.OPENAI_API_KEY : undefined;
}

function problem(cause: 'usage' | 'environment', reason: string, remedy: string): CreatedPolicy {
  return { kind: 'problem', cause, reason, remedy };
}
