import type { HeaderLine, TurnLine } from './schema.ts';
import type { Trajectory } from './trajectory.ts';

/** The record's own lines; several exports can be joined and read back by `parseTrajectories`. */
export function toJsonLines({ header, turns, end }: Trajectory): string {
  const lines = end ? [header, ...turns, end] : [header, ...turns];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

const ATIF_VERSION = 'ATIF-v1.7';

/** Agent Trajectory Interchange Format, version 1.7. What it has no field for is under `extra`. */
export interface AtifTrajectory {
  readonly schema_version: typeof ATIF_VERSION;
  readonly session_id: string;
  readonly trajectory_id: string;
  readonly agent: AtifAgent;
  readonly steps: readonly AtifStep[];
  readonly final_metrics?: AtifFinalMetrics;
  readonly extra: Readonly<Record<string, unknown>>;
}

interface AtifAgent {
  readonly name: string;
  readonly version: string;
  readonly model_name: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

interface AtifStep {
  readonly step_id: number;
  readonly timestamp?: string;
  readonly source: 'system' | 'user' | 'agent';
  readonly message: string;
  readonly model_name?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly AtifToolCall[];
  readonly observation?: { readonly results: readonly AtifObservationResult[] };
  readonly metrics?: AtifMetrics;
  readonly extra?: Readonly<Record<string, unknown>>;
}

interface AtifToolCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

interface AtifObservationResult {
  readonly source_call_id: string;
  readonly content: string;
}

interface AtifMetrics {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_usd?: number;
  readonly prompt_token_ids?: readonly number[];
  readonly completion_token_ids?: readonly number[];
  readonly logprobs?: readonly number[];
}

interface AtifFinalMetrics {
  readonly total_prompt_tokens: number;
  readonly total_completion_tokens: number;
  readonly total_cost_usd?: number;
  readonly total_steps: number;
}

type UnnumberedStep = Omit<AtifStep, 'step_id'>;

export function toAtif(trajectory: Trajectory): AtifTrajectory {
  const { header, turns, end, cut } = trajectory;
  const unnumbered = [
    ...header.messages.map((message) => openingStep(message, header.startedAt)),
    ...turns.flatMap((turn) => turnSteps(turn, header)),
  ];
  const steps = unnumbered.map((step, index) => ({ step_id: index + 1, ...step }));
  const { policy, agent } = header;
  return {
    schema_version: ATIF_VERSION,
    session_id: header.seriesId,
    trajectory_id: header.attemptId,
    agent: {
      name: agent.name,
      version: agent.version,
      model_name: policy.model,
      extra: { policy, scaffold_hash: header.scaffoldHash, rules: header.rules },
    },
    steps,
    ...(end ? { final_metrics: finalMetrics(end.totals, steps.length) } : {}),
    extra: {
      format_version: header.version,
      seed: header.seed,
      sandbox: header.sandbox,
      budgets: header.budgets,
      task: header.task,
      ...(end
        ? {
            end: end.end,
            outcome: end.outcome,
            reward: end.reward,
            reason: end.reason,
            patch: end.patch,
            summary: end.summary,
            flags: end.flags,
            leniency_used: end.leniencyUsed,
            local_only: end.localOnly,
          }
        : { outcome: 'unfinished', cut }),
    },
  };
}

function openingStep(message: HeaderLine['messages'][number], timestamp: string): UnnumberedStep {
  switch (message.role) {
    case 'system':
    case 'user':
      return { timestamp, source: message.role, message: message.content };
    case 'assistant':
      return { timestamp, source: 'agent', message: message.content };
    case 'tool':
      return { timestamp, source: 'user', message: message.content };
  }
}

function turnSteps(turn: TurnLine, header: HeaderLine): readonly UnnumberedStep[] {
  const { reply, observations, nudge } = turn;
  const step: UnnumberedStep = {
    timestamp: turn.startedAt,
    source: 'agent',
    model_name: header.policy.model,
    message: reply.content,
    ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
    ...(reply.calls.length === 0 ? {} : { tool_calls: reply.calls.map(atifCall) }),
    ...(observations.length === 0
      ? {}
      : {
          observation: {
            results: observations.map(({ callId, content }) => ({
              source_call_id: callId,
              content,
            })),
          },
        }),
    metrics: metricsOf(reply),
    extra: { call_form: reply.callForm, finish: reply.finish, malformed: reply.malformed },
  };
  if (nudge === undefined) return [step];
  return [step, { timestamp: turn.startedAt, source: 'user', message: nudge }];
}

function atifCall(call: TurnLine['reply']['calls'][number]): AtifToolCall {
  return { tool_call_id: call.id, function_name: call.name, arguments: call.arguments };
}

function metricsOf({ usage, tokens }: TurnLine['reply']): AtifMetrics {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    ...(usage.cost === undefined ? {} : { cost_usd: usage.cost }),
    ...(tokens
      ? {
          prompt_token_ids: tokens.promptIds,
          completion_token_ids: tokens.sampledIds,
          logprobs: tokens.logprobs,
        }
      : {}),
  };
}

function finalMetrics(
  totals: NonNullable<Trajectory['end']>['totals'],
  steps: number,
): AtifFinalMetrics {
  return {
    total_prompt_tokens: totals.promptTokens,
    total_completion_tokens: totals.completionTokens,
    ...(totals.cost === undefined ? {} : { total_cost_usd: totals.cost }),
    total_steps: steps,
  };
}
