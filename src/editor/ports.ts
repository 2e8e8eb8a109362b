import type * as vscode from 'vscode';
import type { AttemptEvent } from '../core/agent/events.ts';
import type { Outcome } from '../core/agent/outcomes.ts';
import type { TestFailure, TestStatus } from '../core/frameworks/framework.ts';
import type { GradeFlag } from '../core/grading/types.ts';
import type { Settings } from './contract/settings.ts';

/**
 * What the fix flow hands to the parts that show its results. They are composed in
 * `src/extension.ts`; none of them may throw into the flow or take the focus by itself.
 */

/** Shows a verified patch and lets the user take it, file by file and hunk by hunk. */
export interface ReviewPort {
  /** Resolves when the review is open (not when it is decided). */
  open(result: FixReviewInput): Promise<void>;
}

/** A proposed change to one workspace folder, with the evidence for it. Serialisable but for `folder`. */
export interface FixReviewInput {
  /** Unique per fix. */
  readonly id: string;
  readonly folder: vscode.WorkspaceFolder;
  /** `solved_with_test_changes`: passes only with its changes to tests or to what steers them. */
  readonly outcome: 'solved' | 'solved_with_test_changes';
  /** In git's format with full hashes of the files that it was made from; may hold binary parts. */
  readonly patch: string;
  /** In the order of the patch. */
  readonly files: readonly ReviewFile[];
  /** What the policy said about its change, plain text; may be empty. */
  readonly summary: string;
  readonly tests: readonly ReviewTest[];
  /** Other tests that passed before and pass with the patch. */
  readonly stillPassing: number;
  /** What a person should look at before taking it; such attempts are kept out of training. */
  readonly flags: readonly GradeFlag[];
  /** The attempts whose patches are in it. */
  readonly attempts: readonly AttemptReference[];
  readonly policy: string;
}

export interface ReviewFile {
  /** Relative to the folder, forward slashes; the new name of a renamed file. */
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  readonly binary: boolean;
  /** Changes how tests run or what they expect (test files, configuration of the runner). */
  readonly steersTests: boolean;
  /** Runs something by itself later (hooks, workflows, editor settings): read it first. */
  readonly runsLater: boolean;
}

/** One test that was worked on, before and with the patch. */
export interface ReviewTest {
  /** As in `TestResult.id`, relative to the folder. */
  readonly id: string;
  readonly file: string;
  /** 1-based, where known. */
  readonly line?: number;
  readonly before: { readonly status: TestStatus; readonly failure?: TestFailure };
  readonly after: 'passed' | 'failed';
  /** Why it fails still; only with `failed`. */
  readonly reason?: string;
}

export interface AttemptReference {
  readonly attemptId: string;
  /** Ids of tests. */
  readonly targets: readonly string[];
  /** Absolute path of the record. */
  readonly trajectoryPath: string;
}

/** Follows attempts as they happen. Calls come in order for each attempt; must not throw. */
export interface AttemptsPort {
  started(attempt: AttemptStarted): void;
  /** Many per second while a command prints or a model writes. */
  turn(attemptId: string, event: AttemptEvent): void;
  /** The agent is done; its patch is graded now. */
  grading(attemptId: string): void;
  ended(attempt: AttemptEnded): void;
}

export interface AttemptStarted extends AttemptReference {
  readonly folder: vscode.WorkspaceFolder;
  /** 1-based, per target. */
  readonly number: number;
  /** What people read, for example `edit-search`. */
  readonly policy: string;
  readonly startedAt: Date;
}

export interface AttemptEnded {
  readonly attemptId: string;
  /** `dropped`: another attempt at the same test was faster. */
  readonly outcome: Outcome | 'dropped';
  /** In words. */
  readonly reason: string;
  readonly turns: number;
  readonly durationMs: number;
}

/** Opens the record of an attempt as a document. */
export interface TranscriptPort {
  open(attempt: Pick<AttemptReference, 'attemptId' | 'trajectoryPath'>): Promise<void>;
}

/** Runs tests of a folder as it is on disk now, and publishes their results in the editor. */
export interface TestRunsPort {
  /** @param tests ids to report about; empty: all. Resolves with undefined when it was refused or cancelled. */
  run(
    folder: vscode.WorkspaceFolder,
    tests: readonly string[],
  ): Promise<readonly PublishedTest[] | undefined>;
}

export interface PublishedTest {
  readonly id: string;
  readonly status: TestStatus;
}

/**
 * What `primeAgent.fixTest` takes from CodeLenses, code actions and trees (a tree element carries it
 * as its property `fixTarget`).
 */
export interface FixTarget {
  /** A file in the workspace folder, or the folder itself. */
  readonly uri: vscode.Uri;
  /** Ids of tests, relative to the folder; empty: those of the file. */
  readonly tests: readonly string[];
  /** Instead of the one in the settings. */
  readonly policy?: PolicyChoice;
}

/** One of the policies that the settings know. */
export interface PolicyChoice {
  readonly kind: Settings['policy'];
  /** With `endpoint`: what its server calls it. Without: as the settings say. */
  readonly model?: string;
}
