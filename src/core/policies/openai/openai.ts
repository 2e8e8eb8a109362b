import type { ToolCall } from '../../agent/messages.ts';
import { createCallIds } from '../calls/call-ids.ts';
import { readNativeCalls } from '../calls/native-calls.ts';
import { parseCalls } from '../calls/parse-calls.ts';
import {
  type Policy,
  PolicyFailure,
  type PolicyReply,
  type PolicyRequest,
  type Sampling,
  type TokenUsage,
} from '../policy.ts';
import { type Endpoint, parseEndpoint } from './endpoint.ts';
import {
  networkTrouble,
  type Place,
  saidBy,
  statusTrouble,
  type Trouble,
  trouble,
  withoutSecrets,
} from './failures.ts';
import {
  createDispatcher,
  DEFAULT_TIMEOUTS,
  type Exchange,
  readAll,
  send,
  type Timeouts,
} from './http.ts';
import { fetchModels, type ModelsResult } from './models.ts';
import { readReply } from './read-reply.ts';
import type { RawReply } from './reply-builder.ts';
import { DEFAULT_RETRIES, type RetrySettings, type Tried, withRetries } from './retry.ts';
import { readSampledTokens } from './sampled-tokens.ts';
import { adapt, type BodySettings, requestBody, samplingDoubt, type Traits } from './traits.ts';
import type { ServedModel } from './wire.ts';

export interface OpenAiOptions {
  /** `http://host:port`, with or without `/v1`; see `parseEndpoint`. */
  readonly baseUrl: string;
  /** Without it the server's only model is taken. */
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Default: temperature 1, top-p 1, no top-k. */
  readonly sampling?: Sampling;
  /** Prompt plus reply; default: what the server tells. */
  readonly contextTokens?: number | undefined;
  readonly prices?: Prices | undefined;
  /** `auto`: native tools, and text from the first refusal on. */
  readonly toolMode?: 'native' | 'text' | 'auto';
  /** Repair two frequent faults in calls and report it; never for training. Default: off. */
  readonly lenient?: boolean;
  /** Ask for token ids and log-probabilities. Default: on. */
  readonly recordTokens?: boolean;
  /** Keeps the prefix caches of policy versions apart (vLLM). */
  readonly cacheSalt?: string | undefined;
  /** Certificates of your own authority, PEM. */
  readonly caFile?: string | undefined;
  readonly timeouts?: Partial<Timeouts>;
  readonly retries?: Partial<RetrySettings>;
  readonly version?: string | undefined;
  readonly hash?: string | undefined;
  readonly scaffoldHash?: string | undefined;
}

/** US dollars per million tokens. */
export interface Prices {
  readonly promptPerMillion: number;
  readonly completionPerMillion: number;
}

export const PLAIN_SAMPLING: Sampling = { temperature: 1, topP: 1, topK: -1 };

/**
 * A policy behind an OpenAI-compatible endpoint. Asks the server for its models first, so that a
 * wrong address, key or model shows before an attempt starts.
 * @throws PolicyFailure, or the signal's reason.
 */
export async function createOpenAiPolicy(
  options: OpenAiOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<Policy> {
  const parsed = parseEndpoint(options.baseUrl);
  if (parsed.kind === 'invalid') {
    throw new PolicyFailure(
      'bad-request',
      parsed.message,
      'Write it like http://127.0.0.1:8000/v1.',
    );
  }
  const { endpoint } = parsed;
  const exchange = createExchange(endpoint, options);
  const clean = cleaner(options, endpoint);
  const models = await fetchModels(exchange, clean, signal);
  const model = chooseModel(options.model, models, endpoint);
  const sampling = options.sampling ?? PLAIN_SAMPLING;
  const contextTokens = options.contextTokens ?? model.contextTokens;
  const traits: Traits = {
    tools: options.toolMode !== 'text',
    refused: new Set(),
    answered: models.kind === 'models',
  };
  const settings: BodySettings = {
    model: model.id,
    sampling,
    recordTokens: options.recordTokens !== false,
    cacheSalt: options.cacheSalt,
  };
  const asker: Asker = { exchange, endpoint, settings, traits, clean, options };
  return {
    description: {
      kind: 'openai',
      label: `${model.id} at ${new URL(endpoint.origin).host}`,
      model: model.id,
      ...(options.version === undefined ? {} : { version: options.version }),
      ...(options.hash === undefined ? {} : { hash: options.hash }),
      ...(options.scaffoldHash === undefined ? {} : { scaffoldHash: options.scaffoldHash }),
      ...(contextTokens === undefined ? {} : { contextTokens }),
      sampling,
    },
    async start(seed) {
      const nextId = createCallIds();
      let turn = 0;
      return {
        async next(request) {
          turn += 1;
          const turnSeed = (seed * 1_000_003 + turn) % 2 ** 31;
          return readTurn(asker, request, await ask(asker, request, turnSeed), nextId);
        },
        async close() {},
      };
    },
  };
}

/**
 * What a server offers, before one of its models is chosen.
 * @throws PolicyFailure, or the signal's reason.
 */
export async function listModels(
  options: Pick<OpenAiOptions, 'baseUrl' | 'apiKey' | 'caFile' | 'timeouts'>,
  signal: AbortSignal,
): Promise<ModelsResult> {
  const parsed = parseEndpoint(options.baseUrl);
  if (parsed.kind === 'invalid') throw new PolicyFailure('bad-request', parsed.message);
  const { endpoint } = parsed;
  return fetchModels(createExchange(endpoint, options), cleaner(options, endpoint), signal);
}

function createExchange(endpoint: Endpoint, options: OpenAiOptions): Exchange {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const key = options.apiKey?.trim();
  const authorization = key === undefined || key === '' ? endpoint.authorization : `Bearer ${key}`;
  if (authorization !== undefined && /[^\x20-\x7e]/.test(authorization)) {
    throw new PolicyFailure(
      'unauthorized',
      'The API key holds characters that a key cannot have (a line break, a quote from a text editor …).',
      'Copy the key again.',
    );
  }
  return {
    dispatcher: createDispatcher(endpoint, {
      caFile: options.caFile,
      connectMs: timeouts.connectMs,
    }),
    endpoint,
    headers: authorization === undefined ? {} : { authorization },
    timeouts,
  };
}

/** Takes keys out of whatever a server or a library says. */
function cleaner(options: OpenAiOptions, endpoint: Endpoint): (text: string) => string {
  const basic = endpoint.authorization?.replace(/^Basic /, '');
  const password = /^https?:\/\/[^/@]*:([^/@]+)@/i.exec(options.baseUrl.trim())?.[1];
  const query = endpoint.search === '' ? undefined : endpoint.search.slice(1);
  return (text) => withoutSecrets(text, [options.apiKey?.trim(), basic, password, query]);
}

function chooseModel(
  wanted: string | undefined,
  models: ModelsResult,
  endpoint: Endpoint,
): ServedModel {
  const served = models.kind === 'models' ? models.models : [];
  if (wanted !== undefined) {
    return served.find((model) => model.id === wanted) ?? { id: wanted };
  }
  const [only, ...others] = served;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    throw new PolicyFailure(
      'unknown-model',
      models.kind === 'models'
        ? `${endpoint.label} serves no model.`
        : `${endpoint.label} does not list its models.`,
      models.kind === 'models' ? 'Load a model on the server.' : 'Name the model.',
    );
  }
  throw new PolicyFailure(
    'unknown-model',
    `${endpoint.label} serves several models: ${listOf(served)}.`,
    'Name one of them.',
  );
}

interface Asker {
  readonly exchange: Exchange;
  readonly endpoint: Endpoint;
  readonly settings: BodySettings;
  readonly traits: Traits;
  readonly clean: (text: string) => string;
  readonly options: OpenAiOptions;
}

function ask(asker: Asker, request: PolicyRequest, seed: number): Promise<RawReply> {
  const settings = { ...DEFAULT_RETRIES, ...asker.options.retries };
  let shown = false;
  const onText = (text: string): void => {
    shown = true;
    request.onText?.(text);
  };
  return withRetries(
    () => askOnce(asker, request, seed, onText),
    settings,
    request.signal,
    () => {
      if (shown) request.onText?.('\n[the connection broke; asking again]\n');
    },
  );
}

/** Refusals that can be adapted to are not failures: the request is repeated without the cause. */
const MAX_ADAPTATIONS = 16;

async function askOnce(
  asker: Asker,
  request: PolicyRequest,
  seed: number,
  onText: (text: string) => void,
): Promise<Tried<RawReply>> {
  const { exchange, endpoint, clean } = asker;
  // What is given up counts for later requests only if the request then succeeds: a guess about a
  // refusal with another cause must not cost every later attempt its token ids.
  const traits: Traits = { ...asker.traits, refused: new Set(asker.traits.refused) };
  const mayDropTools = asker.options.toolMode !== 'native';
  const place: Place = {
    label: endpoint.label,
    model: asker.settings.model,
    answeredBefore: traits.answered,
  };
  let { maxTokens } = request;
  try {
    for (let round = 0; ; round += 1) {
      const body = requestBody(request, asker.settings, traits, seed, maxTokens);
      const http = await send(exchange, 'POST', '/chat/completions', body, request.signal);
      let status = http.status;
      let said: string;
      if (status === 200) {
        const read = await readReply(http, endpoint.label, onText);
        if (read.kind === 'reply') {
          learn(asker.traits, traits);
          return { kind: 'done', value: read.reply };
        }
        if (read.kind === 'trouble')
          return { kind: 'trouble', trouble: cleaned(read.trouble, clean) };
        ({ status, said } = read);
      } else said = saidBy(await readAll(http, 1_000_000));
      said = clean(said);

      const adaptation =
        round < MAX_ADAPTATIONS
          ? adapt(traits, status, said, body, mayDropTools)
          : ({ kind: 'none' } as const);
      if (adaptation.kind === 'again-shorter') maxTokens = adaptation.maxTokens;
      if (adaptation.kind !== 'none') continue;
      if (status === 404) return { kind: 'trouble', trouble: await notFound(asker, said, request) };
      return {
        kind: 'trouble',
        trouble: statusTrouble(status, said, http.header('retry-after'), place),
      };
    }
  } catch (error) {
    request.signal.throwIfAborted();
    return { kind: 'trouble', trouble: cleaned(networkTrouble(error, place), clean) };
  }
}

function learn(shared: Traits, tried: Traits): void {
  shared.answered = true;
  shared.tools = shared.tools && tried.tools;
  for (const field of tried.refused) shared.refused.add(field);
}

/** 404: the model or the path is unknown. The server's own list tells which. */
async function notFound(asker: Asker, said: string, request: PolicyRequest): Promise<Trouble> {
  const { endpoint, settings } = asker;
  const models = await fetchModels(asker.exchange, asker.clean, request.signal).catch((error) => {
    request.signal.throwIfAborted();
    return { kind: 'unlisted', said: String(error) } as const;
  });
  const quote = said === '' ? '' : `: ${said}`;
  const served = models.kind === 'models' ? models.models : [];
  const known = served.some((model) => model.id === settings.model);
  if (!known && (models.kind === 'models' || /model/i.test(said))) {
    return trouble(
      'unknown-model',
      `${endpoint.label} does not know the model "${settings.model}"${quote}`,
      served.length === 0
        ? 'Load the model on the server, or name another one.'
        : `It serves: ${listOf(served)}.`,
      false,
    );
  }
  return trouble(
    'bad-request',
    `${endpoint.label}/chat/completions does not exist (404)${quote}`,
    'Check the path of the address: it usually ends in /v1.',
    false,
  );
}

function listOf(models: readonly ServedModel[]): string {
  const shown = models.slice(0, 20).map((model) => model.id);
  const more = models.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

function cleaned(found: Trouble, clean: (text: string) => string): Trouble {
  const { failure } = found;
  return {
    ...found,
    failure: new PolicyFailure(failure.kind, clean(failure.message), failure.remedy),
  };
}

/** From a raw reply to what the agent reads. */
function readTurn(
  asker: Asker,
  request: PolicyRequest,
  raw: RawReply,
  nextId: () => string,
): PolicyReply {
  const finish =
    raw.finishReason === 'length' || raw.finishReason === 'max_tokens' ? 'length' : 'stop';
  const lenient = asker.options.lenient === true;
  const natives = readNativeCalls(raw.natives, { nextId, finish, lenient });
  const native = raw.natives.length > 0;
  // With native calls the text is prose; it is read only to take thinking out of it.
  const ids = native ? () => '' : nextId;
  const text = parseCalls(raw.content, { nextId: ids, finish, lenient, tools: request.tools });
  const calls: readonly ToolCall[] = native ? natives.calls : text.calls;
  const repairs = native ? natives.repairs : text.repairs;
  const reasoning = [raw.reasoning, text.reasoning ?? ''].filter((part) => part !== '').join('\n');
  return {
    content: text.content,
    ...(reasoning === '' ? {} : { reasoning }),
    calls,
    callForm: native ? 'native' : text.callForm,
    malformed: native ? natives.malformed : text.malformed,
    finish,
    usage: usageOf(asker, request, raw),
    ...(repairs.length === 0 ? {} : { repairs }),
    ...tokensOf(asker, raw),
  };
}

function tokensOf(asker: Asker, raw: RawReply): Pick<PolicyReply, 'tokens' | 'tokensMissing'> {
  if (!asker.settings.recordTokens) return {};
  const read = readSampledTokens(raw.tokens, raw.usage?.completionTokens);
  if (read.kind === 'missing') return { tokensMissing: read.reason };
  const doubt = samplingDoubt(asker.traits);
  return doubt === undefined ? { tokens: read.tokens } : { tokensMissing: doubt };
}

/** About four characters a token: only where a server does not count. */
function usageOf(asker: Asker, request: PolicyRequest, raw: RawReply): TokenUsage {
  const { prices } = asker.options;
  const counted = raw.usage;
  const completionText = raw.content + raw.reasoning + JSON.stringify(raw.natives);
  const promptTokens =
    counted?.promptTokens ?? estimate(JSON.stringify([request.messages, request.tools]));
  const completionTokens = counted?.completionTokens ?? estimate(completionText);
  const cost =
    prices === undefined
      ? undefined
      : (promptTokens * prices.promptPerMillion + completionTokens * prices.completionPerMillion) /
        1e6;
  return {
    promptTokens,
    completionTokens,
    ...(cost === undefined ? {} : { cost }),
    ...(counted === undefined ? { estimated: true } : {}),
  };
}

function estimate(text: string): number {
  return Math.ceil(text.length / 4);
}
