import type { ToolCall } from './messages.ts';

/** What a view can follow live. Emitted in order; texts of `observation` are redacted, `output` is not. */
export type AttemptEvent =
  | { readonly kind: 'turn'; readonly index: number }
  | { readonly kind: 'text'; readonly index: number; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly call: ToolCall }
  | { readonly kind: 'output'; readonly index: number; readonly text: string }
  | {
      readonly kind: 'observation';
      readonly index: number;
      readonly call: ToolCall;
      readonly ok: boolean;
      readonly text: string;
    };

/** Must not throw. */
export type AttemptListener = (event: AttemptEvent) => void;
