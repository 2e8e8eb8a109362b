import type { Verdict } from '../agent/outcomes.ts';
import type { Framework, TestResult } from '../frameworks/framework.ts';
import type { SandboxProvider, SandboxSpec } from '../sandbox/sandbox.ts';

/** Where and with what tests are run for grading; the same for baseline and grades. */
export interface GradeSetup {
  readonly provider: SandboxProvider;
  readonly spec: SandboxSpec;
  readonly framework: Framework;
  /** From `ToolchainResult.program`. */
  readonly program: string;
  readonly projectPath: string;
  /** For one test run, in milliseconds. */
  readonly timeoutMs: number;
}

/** The state before any change: what must break and what must not. */
export interface Baseline {
  /** Every test of the project on the unchanged snapshot, from the first run. */
  readonly results: readonly TestResult[];
  /** Failed in every run. Only these can be targets. */
  readonly failing: readonly TestResult[];
  /** Passed in every run: none of them may fail after a patch. */
  readonly passing: readonly string[];
  /** Differed between runs; neither targets nor required. */
  readonly flaky: readonly string[];
  /** Files that cannot be collected at all. */
  readonly collectionErrors: readonly { readonly file: string; readonly message: string }[];
  /** Test files of failing tests in which planted tests behave on the unchanged snapshot. */
  readonly canaryFiles: readonly string[];
  /** Test files that the tests themselves change while they run; changes of others are suspicious. */
  readonly selfChanging?: readonly string[];
  readonly durationMs: number;
}

export interface GradeRequest {
  readonly setup: GradeSetup;
  readonly baseline: Baseline;
  readonly targets: readonly string[];
  /** As from `extractPatch`; empty: nothing changed (always `failed`). */
  readonly patch: string;
  readonly signal?: AbortSignal;
}

/** One of the two gradings. */
export interface GradeRun {
  readonly passed: boolean;
  /** Targets without a PASSED (or XFAIL) of their own, with what they did instead. */
  readonly unsolved: readonly { readonly id: string; readonly status: string }[];
  /** Passed before, not any more. */
  readonly broken: readonly { readonly id: string; readonly status: string }[];
  /** Planted tests that did not behave: the runner or the assertions were tampered with. */
  readonly canaries: readonly string[];
  /** In one sentence, for people. */
  readonly explanation: string;
}

/** A reason why a patch must not be trained on although it may pass. */
export interface GradeFlag {
  readonly rule: string;
  readonly file: string;
  readonly line?: number;
  readonly explanation: string;
}

export interface GradeReport {
  readonly verdict: Verdict;
  /** With changes to tests and to what steers the run reverted: the only reward. */
  readonly strict: GradeRun;
  /** As the agent handed it in; undefined where nothing was reverted (then `strict` says it all). */
  readonly asSubmitted?: GradeRun;
  /** Files (or `file: key`) whose changes were reverted for the strict run. */
  readonly reverted: readonly string[];
  readonly flags: readonly GradeFlag[];
  readonly durationMs: number;
}

/** Grading broke, not the patch: no reward at all. */
export type GradeOutcome =
  | { readonly kind: 'graded'; readonly report: GradeReport }
  | { readonly kind: 'not-graded'; readonly reason: string; readonly remedy?: string };

export type BaselineOutcome =
  | { readonly kind: 'baseline'; readonly baseline: Baseline }
  | { readonly kind: 'no-tests'; readonly reason: string }
  | {
      readonly kind: 'environment';
      readonly reason: string;
      readonly remedy: string;
      readonly log: string;
    }
  | { readonly kind: 'cancelled' };
