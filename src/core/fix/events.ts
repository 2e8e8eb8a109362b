import type { AttemptEvent } from '../agent/events.ts';
import type { OutcomeRow } from '../agent/outcomes.ts';
import type { TestResult } from '../frameworks/framework.ts';

/** Everything that a user can follow while failing tests are being fixed. Emitted in order. */
export type FixEvent =
  /** A stage that may take longer than a second; `text` says what happens, in words. */
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'warning'; readonly text: string; readonly remedy?: string }
  | { readonly kind: 'failing'; readonly tests: readonly TestResult[] }
  | {
      readonly kind: 'target';
      readonly target: string;
      readonly index: number;
      readonly of: number;
    }
  | {
      readonly kind: 'attempt-start';
      readonly target: string;
      readonly attemptId: string;
      /** 1-based. */
      readonly number: number;
    }
  | {
      readonly kind: 'attempt';
      readonly target: string;
      readonly attemptId: string;
      /** 1-based. */
      readonly number: number;
      readonly event: AttemptEvent;
    }
  | {
      readonly kind: 'grading';
      readonly target: string;
      readonly attemptId: string;
      readonly number: number;
    }
  | {
      readonly kind: 'attempt-end';
      readonly target: string;
      readonly attemptId: string;
      readonly number: number;
      readonly row: OutcomeRow;
      readonly turns: number;
      readonly durationMs: number;
    }
  /** Ended because another attempt at the same task made it needless. */
  | {
      readonly kind: 'attempt-dropped';
      readonly target: string;
      readonly attemptId: string;
      readonly number: number;
    }
  | { readonly kind: 'verifying'; readonly targets: readonly string[] };

/** Must not throw. */
export type FixListener = (event: FixEvent) => void;
