import { Agent, request } from 'undici';
import { z } from 'zod';
import { modelListSchema, servedModels } from './openai/wire.ts';

/** A model server on this machine. */
export interface LocalServer {
  readonly name: 'Ollama' | 'llama.cpp' | 'LM Studio' | 'vLLM' | 'OpenAI-compatible server';
  /** For `createOpenAiPolicy`. */
  readonly baseUrl: string;
  readonly models: readonly string[];
  /** Prompt plus reply of the model that is loaded, where the server tells. */
  readonly contextTokens?: number;
}

export interface LocalPorts {
  readonly ollama: number;
  readonly llamaCpp: number;
  readonly lmStudio: number;
  readonly vllm: number;
}

const USUAL_PORTS: LocalPorts = { ollama: 11434, llamaCpp: 8080, lmStudio: 1234, vllm: 8000 };

/** A server on this machine answers these questions at once; a busy one is not waited for. */
const PATIENCE_MS = 300;

/**
 * Asks the usual ports, all at the same time, within 300 ms or `patienceMs`. Something else that listens there is
 * recognised by its answer and left out. Never rejects, except with the signal's reason.
 */
export async function findLocalServers(options: {
  readonly signal: AbortSignal;
  readonly ports?: Partial<LocalPorts>;
  readonly patienceMs?: number;
}): Promise<readonly LocalServer[]> {
  options.signal.throwIfAborted();
  const ports = { ...USUAL_PORTS, ...options.ports };
  const { patienceMs = PATIENCE_MS } = options;
  const dispatcher = new Agent({ connect: { timeout: patienceMs } });
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(patienceMs)]);
  const ask: Ask = (port, path, schema) => askJson(dispatcher, signal, port, path, schema);
  try {
    const found = await Promise.all([
      askOllama(ask, ports.ollama),
      askLlamaCpp(ask, ports.llamaCpp),
      askLmStudio(ask, ports.lmStudio),
      askVllm(ask, ports.vllm),
    ]);
    options.signal.throwIfAborted();
    const servers = found.filter((server) => server !== undefined);
    return servers.filter(
      (server, at) => servers.findIndex((other) => other.baseUrl === server.baseUrl) === at,
    );
  } finally {
    await dispatcher.destroy();
  }
}

type Ask = <Schema extends z.ZodType>(
  port: number,
  path: string,
  schema: Schema,
) => Promise<z.output<Schema> | undefined>;

const tagsSchema = z.looseObject({ models: z.array(z.looseObject({ name: z.string() })) });
const runningSchema = z.looseObject({
  models: z.array(z.looseObject({ context_length: z.int().positive().optional() })),
});
const propsSchema = z.looseObject({
  default_generation_settings: z.looseObject({ n_ctx: z.int().positive() }),
});
const lmStudioSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string().optional(),
      state: z.string().optional(),
      loaded_context_length: z.int().positive().optional(),
    }),
  ),
});
const ownedSchema = z.looseObject({
  data: z.array(z.looseObject({ owned_by: z.string().optional() })),
});

async function askOllama(ask: Ask, port: number): Promise<LocalServer | undefined> {
  const [tags, running] = await Promise.all([
    ask(port, '/api/tags', tagsSchema),
    ask(port, '/api/ps', runningSchema),
  ]);
  if (tags === undefined) return undefined;
  const sizes = running?.models.flatMap((model) => model.context_length ?? []) ?? [];
  return server(
    'Ollama',
    port,
    tags.models.map((model) => model.name),
    sizes[0],
  );
}

async function askLlamaCpp(ask: Ask, port: number): Promise<LocalServer | undefined> {
  const [props, list] = await Promise.all([
    ask(port, '/props', propsSchema),
    ask(port, '/v1/models', modelListSchema),
  ]);
  if (list === undefined) return undefined;
  const models = servedModels(list);
  return server(
    props === undefined ? 'OpenAI-compatible server' : 'llama.cpp',
    port,
    models.map((model) => model.id),
    props?.default_generation_settings.n_ctx ?? models[0]?.contextTokens,
  );
}

async function askLmStudio(ask: Ask, port: number): Promise<LocalServer | undefined> {
  const [own, list] = await Promise.all([
    ask(port, '/api/v0/models', lmStudioSchema),
    ask(port, '/v1/models', modelListSchema),
  ]);
  if (own !== undefined) {
    const chat = own.data.filter((model) => model.type !== 'embeddings');
    // Loaded models first: the others cost a long load.
    const loaded = chat.filter((model) => model.state === 'loaded');
    const rest = chat.filter((model) => model.state !== 'loaded');
    const names = [...loaded, ...rest].map((model) => model.id);
    return server('LM Studio', port, names, loaded[0]?.loaded_context_length);
  }
  if (list === undefined) return undefined;
  return server(
    'OpenAI-compatible server',
    port,
    list.data.map((model) => model.id),
    undefined,
  );
}

async function askVllm(ask: Ask, port: number): Promise<LocalServer | undefined> {
  const list = await ask(port, '/v1/models', modelListSchema);
  if (list === undefined) return undefined;
  const owned = ownedSchema.safeParse(list);
  const vllm = owned.success && owned.data.data.some((model) => model.owned_by === 'vllm');
  const models = servedModels(list);
  return server(
    vllm ? 'vLLM' : 'OpenAI-compatible server',
    port,
    models.map((model) => model.id),
    models[0]?.contextTokens,
  );
}

function server(
  name: LocalServer['name'],
  port: number,
  models: readonly string[],
  contextTokens: number | undefined,
): LocalServer {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return { name, baseUrl, models, ...(contextTokens === undefined ? {} : { contextTokens }) };
}

async function askJson<Schema extends z.ZodType>(
  dispatcher: Agent,
  signal: AbortSignal,
  port: number,
  path: string,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  try {
    const response = await request(`http://127.0.0.1:${port}${path}`, { dispatcher, signal });
    if (response.statusCode !== 200) {
      await response.body.dump();
      return undefined;
    }
    const parsed = schema.safeParse(await response.body.json());
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Nothing listens there, or it is no model server: both are ordinary.
    return undefined;
  }
}
