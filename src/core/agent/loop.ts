import { performance } from 'node:perf_hooks';
import {
  type Policy,
  PolicyFailure,
  type PolicyReply,
  type PolicySession,
} from '../policies/policy.ts';
import { SandboxFailure } from '../sandbox/sandbox.ts';
import { checkCall, toToolSchema } from '../tools/registry.ts';
import type { Tool, ToolSchema } from '../tools/tool.ts';
import { TrajectoryWriteError } from '../trajectories/errors.ts';
import type { Budgets, TrajectorySink, TurnLine } from '../trajectories/schema.ts';
import type { AttemptListener } from './events.ts';
import type { Message, ToolCall } from './messages.ts';
import type { AttemptEnd } from './outcomes.ts';
import { malformedCallMessage, NO_CALL_MESSAGE, repeatedCallNote } from './prompt.ts';
import type { Redactor } from './redactor.ts';
import { createRepetitionWatch, type RepetitionWatch } from './repetition.ts';
import { createTryCounter, type Effort, type TryCounter } from './tries.ts';

/** Replies without any call, in a row, that are answered before the attempt ends. */
const SILENT_REPLIES = 2;

/** A low guess, to see an overflow of the context coming before the endpoint refuses. */
const CHARACTERS_PER_TOKEN = 3;

const CANCEL_GRACE_MS = 500;

export interface LoopOptions {
  readonly policy: Policy;
  readonly tools: readonly Tool[];
  /** System and first user message, already redacted. */
  readonly messages: readonly Message[];
  readonly budgets: Budgets;
  /** Strict: a malformed call ends the attempt (training). Lenient: it is answered (interactive). */
  readonly rules: 'strict' | 'lenient';
  readonly seed: number;
  readonly redactor: Redactor;
  readonly sink: TrajectorySink;
  readonly signal: AbortSignal;
  readonly listener?: AttemptListener;
}

export interface LoopResult {
  readonly end: AttemptEnd;
  readonly messages: readonly Message[];
  /** From the `submit` call, empty otherwise. Not redacted. */
  readonly summary: string;
  readonly leniencyUsed: boolean;
  readonly localOnly: boolean;
  readonly totals: LoopTotals;
  readonly effort: Effort;
}

export interface LoopTotals {
  readonly turns: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** US dollars; undefined where no reply named a price. */
  readonly cost?: number;
}

/** What changes while an attempt runs. */
interface Run {
  readonly options: LoopOptions;
  readonly signal: AbortSignal;
  readonly session: PolicySession;
  readonly schemas: readonly ToolSchema[];
  readonly messages: Message[];
  readonly repetition: RepetitionWatch;
  readonly tries: TryCounter;
  totals: LoopTotals;
  /** Estimate of the next prompt, in tokens. */
  contextTokens: number;
  silentReplies: number;
  summary: string;
  leniencyUsed: boolean;
  localOnly: boolean;
}

type Observation = TurnLine['observations'][number];

/** What a reply was answered with. */
interface TurnAnswer {
  readonly observations: Observation[];
  /** Instead of observations, where the reply had no call. */
  nudge?: string;
}

/**
 * The agent: ask the policy, run its calls, show it what happened, until it submits or something
 * ends it. The conversation only grows, and the record is appended after every turn. Never rejects:
 * whatever happens is an `AttemptEnd`.
 */
export async function runLoop(options: LoopOptions): Promise<LoopResult> {
  const deadline = AbortSignal.timeout(options.budgets.timeMs);
  const signal = AbortSignal.any([options.signal, deadline]);
  const run: Run = {
    options,
    signal,
    session: lazySession(options.policy, options.seed),
    schemas: options.tools.map(toToolSchema),
    messages: [...options.messages],
    repetition: createRepetitionWatch(),
    tries: createTryCounter(),
    totals: { turns: 0, promptTokens: 0, completionTokens: 0 },
    contextTokens: 0,
    silentReplies: 0,
    summary: '',
    leniencyUsed: false,
    localOnly: false,
  };
  let end: AttemptEnd | undefined;
  try {
    while (!end) end = await takeTurn(run);
  } catch (error) {
    end = endOf(error, options.signal, deadline);
  } finally {
    await run.session.close().catch(() => undefined);
  }
  const { messages, summary, leniencyUsed, localOnly, totals } = run;
  return { end, messages, summary, leniencyUsed, localOnly, totals, effort: run.tries.effort() };
}

async function takeTurn(run: Run): Promise<AttemptEnd | undefined> {
  const used = usedUp(run);
  if (used) return used;
  run.signal.throwIfAborted();

  const index = run.totals.turns;
  const startedAt = new Date().toISOString();
  const began = performance.now();
  run.options.listener?.({ kind: 'turn', index });
  const reply = await ask(run, index);
  const policyMs = performance.now() - began;

  const turn: TurnAnswer = { observations: [] };
  try {
    return await answer(run, reply, index, turn);
  } finally {
    // In a `finally`: what a turn had so far belongs into the record, whatever ended it.
    const record = recordedReply(reply);
    await run.options.sink.append({
      type: 'turn',
      index,
      startedAt,
      reply: record,
      ...turn,
      policyMs,
    });
  }
}

function usedUp({ options, totals, contextTokens }: Run): AttemptEnd | undefined {
  const { budgets } = options;
  if (totals.turns >= budgets.turns) return { kind: 'budget', budget: 'turns' };
  if (totals.completionTokens >= budgets.generatedTokens) {
    return { kind: 'budget', budget: 'generated_tokens' };
  }
  if (contextTokens >= budgets.contextTokens) return { kind: 'budget', budget: 'context_tokens' };
  return undefined;
}

async function ask(run: Run, index: number): Promise<PolicyReply> {
  const { budgets, listener, redactor } = run.options;
  const request = {
    messages: run.messages,
    tools: run.schemas,
    maxTokens: Math.min(budgets.replyTokens, budgets.generatedTokens - run.totals.completionTokens),
    signal: run.signal,
    onText: (text: string) => listener?.({ kind: 'text', index, text }),
  };
  const reply = await orAbort(run.session.next(request), run.signal);
  const { usage } = reply;
  run.totals = addUsage(run.totals, usage);
  run.contextTokens = usage.promptTokens + usage.completionTokens;
  run.localOnly ||= await redactor.holdsSecret(sampledText(reply));
  const { content, reasoning, calls, callForm } = reply;
  run.messages.push({ role: 'assistant', content, reasoning, calls, callForm });
  return reply;
}

/** Runs the calls of a reply, or says why it has none that can be run. */
async function answer(
  run: Run,
  reply: PolicyReply,
  index: number,
  turn: TurnAnswer,
): Promise<AttemptEnd | undefined> {
  if (reply.finish === 'length') return { kind: 'budget', budget: 'reply' };
  run.leniencyUsed ||= (reply.repairs?.length ?? 0) > 0;

  const [malformed] = reply.malformed;
  if (malformed) {
    if (run.options.rules === 'strict')
      return { kind: 'invalid_tool_call', reason: malformed.reason };
    run.leniencyUsed = true;
  }
  if (reply.calls.length === 0) {
    run.silentReplies += 1;
    if (run.silentReplies > SILENT_REPLIES) return { kind: 'budget', budget: 'no_call' };
    const content = malformed ? malformedCallMessage(malformed.reason) : NO_CALL_MESSAGE;
    turn.nudge = content;
    run.messages.push({ role: 'user', content });
    return undefined;
  }
  run.silentReplies = 0;

  for (const call of reply.calls) {
    const end = await runCall(run, call, index, turn.observations);
    if (end) return end;
  }
  return undefined;
}

async function runCall(
  run: Run,
  call: ToolCall,
  index: number,
  observations: Observation[],
): Promise<AttemptEnd | undefined> {
  const { listener, redactor, rules, tools, budgets } = run.options;
  run.signal.throwIfAborted();
  listener?.({ kind: 'call', index, call });

  const observe = (ok: boolean, content: string, extra: Partial<Observation> = {}): void => {
    run.messages.push({ role: 'tool', callId: call.id, name: call.name, content });
    run.contextTokens += content.length / CHARACTERS_PER_TOKEN;
    observations.push({ callId: call.id, name: call.name, ok, content, durationMs: 0, ...extra });
    listener?.({ kind: 'observation', index, call, ok, text: content });
  };

  const checked = checkCall(tools, call);
  if (checked.kind === 'not-well-formed') {
    if (rules === 'strict') return { kind: 'invalid_tool_call', reason: checked.reason };
    run.leniencyUsed = true;
    observe(false, malformedCallMessage(checked.reason));
    return undefined;
  }

  const { tries = Number.POSITIVE_INFINITY } = budgets;
  if (run.tries.isNewTry(call) && run.tries.effort().tries >= tries) {
    return { kind: 'budget', budget: 'tries' };
  }
  const began = performance.now();
  const onOutput = (text: string): void => listener?.({ kind: 'output', index, text });
  const result = await orAbort(checked.run({ signal: run.signal, onOutput }), run.signal);
  const times = run.repetition.count(call, result);
  run.tries.observe(call, result.detail?.changed);
  const text = await redactor.redact(result.text);
  const detail = result.detail as Observation['detail'];
  const durationMs = performance.now() - began;
  observe(result.ok, times > 1 ? text + repeatedCallNote(times) : text, { detail, durationMs });
  if (!result.submitted) return undefined;
  run.summary = typeof call.arguments.summary === 'string' ? call.arguments.summary : '';
  return { kind: 'submitted' };
}

/** Why the loop stopped, from what was thrown. */
function endOf(error: unknown, cancel: AbortSignal, deadline: AbortSignal): AttemptEnd {
  if (cancel.aborted) return { kind: 'cancelled' };
  if (deadline.aborted) return { kind: 'budget', budget: 'time' };
  if (error instanceof PolicyFailure) {
    if (error.kind === 'context-exceeded') return { kind: 'budget', budget: 'context_tokens' };
    return { kind: 'infrastructure', reason: error.message, remedy: error.remedy };
  }
  if (error instanceof SandboxFailure || error instanceof TrajectoryWriteError) {
    return { kind: 'infrastructure', reason: error.message, remedy: error.remedy };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'infrastructure', reason: `unexpected: ${reason}` };
}

/**
 * Cancellation must not wait for a policy or a tool that is slow to notice it, but a short grace
 * lets a tool hand over what it had printed.
 */
function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const abort = (): void => {
      timer = setTimeout(() => reject(signal.reason), CANCEL_GRACE_MS);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  });
}

/** The policy's session starts with the first turn, so that a failure to start is an `AttemptEnd` too. */
function lazySession(policy: Policy, seed: number): PolicySession {
  let started: Promise<PolicySession> | undefined;
  return {
    next: async (request) => {
      started ??= policy.start(seed);
      return (await started).next(request);
    },
    close: async () => (await started)?.close(),
  };
}

function addUsage(totals: LoopTotals, usage: PolicyReply['usage']): LoopTotals {
  return {
    turns: totals.turns + 1,
    promptTokens: totals.promptTokens + usage.promptTokens,
    completionTokens: totals.completionTokens + usage.completionTokens,
    ...(usage.cost === undefined
      ? { cost: totals.cost }
      : { cost: (totals.cost ?? 0) + usage.cost }),
  };
}

function sampledText(reply: PolicyReply): string {
  return [
    reply.reasoning ?? '',
    reply.content,
    JSON.stringify(reply.calls.map((call) => call.arguments)),
  ].join('\n');
}

/** A copy: what a policy does with its reply later must not change the record. */
function recordedReply(reply: PolicyReply): TurnLine['reply'] {
  return structuredClone(reply) as TurnLine['reply'];
}
