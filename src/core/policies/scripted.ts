import type { CallForm } from '../agent/messages.ts';
import { createCallIds } from './calls/call-ids.ts';
import { parseCalls } from './calls/parse-calls.ts';
import type {
  MalformedCall,
  Policy,
  PolicyReply,
  PolicyRequest,
  SampledTokens,
  TokenUsage,
} from './policy.ts';

/**
 * One reply of a script. A string is what a model would write and is read like that; calls are
 * taken as native ones.
 */
export type ScriptedReply =
  | string
  | {
      readonly content?: string;
      readonly reasoning?: string;
      readonly calls?: readonly {
        readonly name: string;
        readonly arguments: Readonly<Record<string, unknown>>;
      }[];
      readonly callForm?: CallForm;
      readonly malformed?: readonly MalformedCall[];
      readonly finish?: 'stop' | 'length';
      readonly usage?: TokenUsage;
      readonly tokens?: SampledTokens;
    };

export type Script =
  | readonly ScriptedReply[]
  | ((turn: ScriptedTurn) => ScriptedReply | Promise<ScriptedReply>);

export interface ScriptedTurn {
  /** From 0. */
  readonly index: number;
  readonly seed: number;
  readonly request: PolicyRequest;
}

/**
 * A policy that does what it is told; the same script and seed give the same replies. A list that
 * has come to its end goes on with replies that hold no call. A function may throw `PolicyFailure`.
 */
export function createScriptedPolicy(
  script: Script,
  options: { readonly label?: string; readonly contextTokens?: number } = {},
): Policy {
  const label = options.label ?? 'scripted';
  return {
    description: {
      kind: 'scripted',
      label,
      model: label,
      ...(options.contextTokens === undefined ? {} : { contextTokens: options.contextTokens }),
      sampling: { temperature: 1, topP: 1, topK: -1 },
    },
    async start(seed) {
      const nextId = createCallIds();
      let index = -1;
      return {
        async next(request) {
          request.signal.throwIfAborted();
          index += 1;
          const scripted =
            typeof script === 'function'
              ? await untilAborted(script({ index, seed, request }), request.signal)
              : (script[index] ?? 'The script is over.');
          const reply = replyFrom(scripted, request, nextId);
          if (reply.content !== '') request.onText?.(reply.content);
          return reply;
        },
        async close() {},
      };
    },
  };
}

function replyFrom(
  scripted: ScriptedReply,
  request: PolicyRequest,
  nextId: () => string,
): PolicyReply {
  if (typeof scripted === 'string') {
    const { repairs: _, ...parsed } = parseCalls(scripted, { nextId, tools: request.tools });
    return { ...parsed, finish: 'stop', usage: countedBy(request, scripted) };
  }
  const calls = (scripted.calls ?? []).map((call) => ({ id: nextId(), ...call }));
  const content = scripted.content ?? '';
  const written = content + JSON.stringify(calls);
  return {
    content,
    ...(scripted.reasoning === undefined ? {} : { reasoning: scripted.reasoning }),
    calls,
    callForm: scripted.callForm ?? (calls.length > 0 ? 'native' : 'none'),
    malformed: scripted.malformed ?? [],
    finish: scripted.finish ?? 'stop',
    usage: scripted.usage ?? countedBy(request, written),
    ...(scripted.tokens === undefined ? {} : { tokens: scripted.tokens }),
  };
}

/** A script has no tokens; a word stands for one, so that budgets of tokens can be tested. */
function countedBy(request: PolicyRequest, written: string): TokenUsage {
  const prompt = request.messages.map((message) => message.content).join(' ');
  return { promptTokens: words(prompt), completionTokens: words(written) };
}

function words(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

function untilAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}
