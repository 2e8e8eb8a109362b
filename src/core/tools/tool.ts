import type { z } from 'zod';

/** What a model sees of a tool (OpenAI function format, parameters as JSON schema). */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Extra facts of a call for the record and for the views; the model sees only `text`. */
export interface ToolDetail {
  /** bash: how it ended. */
  readonly exitCode?: number;
  readonly timedOut?: boolean;
  /** Files that the call changed, relative to the workspace. */
  readonly changed?: readonly string[];
  /** run_tests: counts. */
  readonly tests?: { readonly passed: number; readonly failed: number; readonly other: number };
}

/**
 * Outcome of a well-formed call. A failed call (no such file, exit code ≠ 0) is an observation
 * with `ok: false`; the attempt goes on. `submit` ends it.
 */
export interface ToolResult {
  readonly ok: boolean;
  readonly text: string;
  readonly detail?: ToolDetail;
  readonly submitted?: true;
}

export interface ToolContext {
  readonly signal: AbortSignal;
  /** Live output for the views (already text, not yet redacted). */
  readonly onOutput?: (text: string) => void;
}

/** One schema for type and check: `parameters` checks the arguments and describes them to the model. */
export interface Tool<Parameters extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly parameters: Parameters;
  /** Never throws for what a model can cause; `SandboxFailure` passes through. */
  run(args: z.output<Parameters>, context: ToolContext): Promise<ToolResult>;
}
