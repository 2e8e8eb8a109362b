import type { CallForm, Message, ToolCall } from '../agent/messages.ts';
import type { ToolSchema } from '../tools/tool.ts';

/** Who decides the next action. One object per attempt: it may keep a cache or a search state. */
export interface PolicySession {
  /** The next reply. Rejects only with `PolicyFailure` or, when `signal` aborts, with its reason. */
  next(request: PolicyRequest): Promise<PolicyReply>;
  close(): Promise<void>;
}

export interface Policy {
  readonly description: PolicyDescription;
  start(seed: number): Promise<PolicySession>;
  /** Why it cannot work on this, in words; undefined: it can. A policy without it takes everything. */
  whyNotSuited?(work: Work): string | undefined;
  /** Frees what it holds (a process), after its last session. A policy without it holds nothing. */
  close?(): Promise<void>;
}

/** What is known of a job before the first attempt. */
export interface Work {
  /** Relative to the workspace, like all paths here. */
  readonly testFile: string;
  /** What the policy would read first. */
  readonly opening: string;
  /** Files that the test imports, as far as they are found without a search. */
  readonly sources: readonly { readonly path: string; readonly text: string }[];
}

export interface PolicyDescription {
  readonly kind: 'openai' | 'onnx' | 'edit-search' | 'scripted';
  /** What people read, for example `edit-search` or `qwen2.5-coder:7b at 127.0.0.1:11434`. */
  readonly label: string;
  /** Name of the model as the endpoint knows it, or of the embedded policy. */
  readonly model: string;
  /** `policy-v{N}` or undefined where the policy has no versions. */
  readonly version?: string;
  /** sha256 of the weights or of whatever defines the behaviour, where known. */
  readonly hash?: string;
  /** Scaffold that it was trained for, where known. */
  readonly scaffoldHash?: string;
  /** Largest prompt plus reply in tokens, where known. */
  readonly contextTokens?: number;
  readonly sampling: Sampling;
}

export interface Sampling {
  readonly temperature: number;
  readonly topP: number;
  /** -1: no limit. */
  readonly topK: number;
}

export interface PolicyRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  /** Tokens that this reply may have at most. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** Text as it is sampled, for the live view; must not throw. */
  readonly onText?: (text: string) => void;
}

/** A call that was written but is not well-formed (bad JSON, no name …). */
export interface MalformedCall {
  readonly reason: string;
  /** The text that was taken for a call, cut to a readable length. */
  readonly text: string;
}

export interface PolicyReply {
  /** Text as sampled, without the thinking part. */
  readonly content: string;
  readonly reasoning?: string;
  readonly calls: readonly ToolCall[];
  readonly callForm: CallForm;
  readonly malformed: readonly MalformedCall[];
  /** `length`: cut off by the token limit. */
  readonly finish: 'stop' | 'length';
  readonly usage: TokenUsage;
  /** Lenient reading only: what had to be repaired in the calls. Such a turn is never trained on. */
  readonly repairs?: readonly string[];
  /** Why `tokens` is missing although the policy was asked for them. */
  readonly tokensMissing?: string;
  /** Recorded when they are sampled, where the policy gives them. */
  readonly tokens?: SampledTokens;
}

export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** US dollars, where prices are known. */
  readonly cost?: number;
  /** The endpoint gave no counts: these are estimated from the length of the text. */
  readonly estimated?: boolean;
}

export interface SampledTokens {
  readonly promptIds: readonly number[];
  /** Stop token included. Same length as `logprobs`. */
  readonly sampledIds: readonly number[];
  /** Natural logarithms under the distribution that was sampled from (processed, not raw). */
  readonly logprobs: readonly number[];
  /** Where the reply was drawn from a set: the places at which there was a choice (ascending). */
  readonly choices?: readonly TokenChoice[];
}

/** What could have been sampled at one place, and nothing else could. */
export interface TokenChoice {
  /** Place in the reply, from 0. */
  readonly at: number;
  /** At least two; in what order does not matter. */
  readonly ids: readonly number[];
  /** Added to the logits before the softmax over `ids`; natural logarithms. */
  readonly bias: readonly number[];
}

export type PolicyFailureKind =
  | 'unreachable'
  | 'unauthorized'
  | 'unknown-model'
  | 'rate-limited'
  | 'context-exceeded'
  | 'bad-response'
  | 'bad-request';

/** The policy could not answer. `context-exceeded` ends the attempt; the others make it `invalid`. */
export class PolicyFailure extends Error {
  override readonly name = 'PolicyFailure';
  readonly kind: PolicyFailureKind;
  readonly remedy: string | undefined;
  constructor(kind: PolicyFailureKind, message: string, remedy?: string) {
    super(message);
    this.kind = kind;
    this.remedy = remedy;
  }
}
