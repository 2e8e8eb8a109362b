/** The conversation of one attempt, append-only. What a policy reads is exactly this. */

export interface ToolCall {
  /** Unique within the attempt. */
  readonly id: string;
  readonly name: string;
  /** Already parsed from JSON or from a text form; not yet checked against the tool's schema. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  /** The text as it was sampled, calls in text form included; empty for purely native calls. */
  readonly content: string;
  readonly reasoning?: string;
  readonly calls: readonly ToolCall[];
  /** Whether the calls came natively (`tool_calls`) or were parsed from `content`. */
  readonly callForm: CallForm;
}

export type CallForm =
  | 'native'
  | 'hermes'
  | 'xml'
  | 'fence'
  | 'json'
  | 'tools-tag'
  | 'nano'
  | 'none';

/** An observation: the answer to one call. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly content: string;
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;
