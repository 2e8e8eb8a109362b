import type { Toolchain } from '../sandbox/sandbox.ts';

/**
 * One test framework is one folder that exports one `Framework`. It says how tests are found, run
 * and read; running itself is done once, in `run.ts`, through a sandbox session.
 */
export interface Framework {
  readonly id: FrameworkId;
  /** Names of programs of which an image must have one, where the id does not tell. */
  readonly programs?: readonly string[];
  readonly label: string;
  /** Reads a few manifest files of the workspace; never walks the tree. */
  detect(workspace: WorkspaceFiles): Promise<Detection | undefined>;
  /** Interpreter or tool chain on the host, with what a sandbox must mount for it. */
  toolchain(workspace: WorkspaceFiles, wishes?: ToolchainWishes): Promise<ToolchainResult>;
  /** Files that the command needs, put under `TOOLBOX` (reporters, plugins). */
  readonly toolbox: Readonly<Record<string, string>>;
  /** The command for a run. Reports go to the descriptor `reportFd`, opened by the caller. */
  command(request: RunRequest): TestCommand;
  /** Its reporter takes a key from stdin and seals the lines of the report with it (see `seal.ts`). */
  readonly isSealed?: boolean;
  /** A run that is ended by its time limit is the result that `parse` makes of it, not a broken environment. */
  readonly timeoutIsResult?: boolean;
  /** Reads the report. Must cope with a cut or empty report. */
  parse(report: Uint8Array, run: RawRun): ParsedReport;
  /** Which files are tests, and what else steers a test run (for grading). */
  readonly steering: Steering;
  /** Tests to plant into a test file for grading; undefined where the framework has none. */
  readonly plantCanaries?: PlantCanaries;
}

/**
 * Adds tests to the end of a test file which run in the same process, after the code under test was
 * loaded: some must pass, some must fail. If they do not, the runner or the assertions were tampered with.
 *
 * @param nonce letters and digits, new for every grading
 * @returns undefined where the file's form does not allow it
 */
export type PlantCanaries = (
  file: string,
  source: string,
  nonce: string,
) => PlantedCanaries | undefined;

export interface PlantedCanaries {
  readonly source: string;
  /** Ids as the framework reports them. */
  readonly mustPass: readonly string[];
  readonly mustFail: readonly string[];
}

export type FrameworkId =
  | 'node:test'
  | 'pytest'
  | 'vitest'
  | 'jest'
  | 'mocha'
  | 'unittest'
  | 'tap'
  | 'tape'
  | 'ava'
  | 'go test'
  | 'cargo test'
  | 'junit'
  | 'command';

/** Host-side reading of the workspace, relative paths with forward slashes. */
export interface WorkspaceFiles {
  readonly root: string;
  /** undefined when missing, unreadable or larger than a few MB. */
  readText(path: string): Promise<string | undefined>;
  exists(path: string): Promise<boolean>;
  /** Names in one folder, empty when missing. */
  list(path: string): Promise<readonly string[]>;
  /** Tracked and untracked (not ignored) files; computed once, on demand. */
  files(): Promise<readonly string[]>;
}

export interface Detection {
  /** 0 to 1; the highest wins, ties are all used. */
  readonly confidence: number;
  /** Why, in words: `package.json: scripts.test runs node --test`. */
  readonly reason: string;
  /** Folder of the project inside the workspace, `''` for the root (monorepos have several). */
  readonly projectPath: string;
  /** Its run leaves out folders below that have a manifest of their own. */
  readonly leavesNested?: boolean;
}

/** What the user has chosen elsewhere, for example in the editor; it is tried first. */
export interface ToolchainWishes {
  /** Absolute path of a Python interpreter. */
  readonly python?: string | undefined;
}

export type ToolchainResult =
  | {
      readonly kind: 'found';
      readonly toolchain: Toolchain;
      /** Program to start, absolute host path: node, or the environment's python. */
      readonly program: string;
      /** `Python 3.11.7 in .venv`. */
      readonly detail: string;
    }
  | { readonly kind: 'missing'; readonly reason: string; readonly remedy: string };

export interface RunRequest {
  /** From `ToolchainResult.program`. */
  readonly program: string;
  readonly projectPath: string;
  /** Ids as in `TestResult.id`; empty: all tests. A file's path alone means all tests of the file. */
  readonly tests: readonly string[];
  readonly reportFd: number;
  /** Stop after collecting: results have status `listed`. */
  readonly listOnly: boolean;
}

export interface TestCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path inside the sandbox. */
  readonly cwd: string;
}

export interface RawRun {
  /** undefined: timeout or cancelled. */
  readonly exitCode: number | undefined;
  /** stdout and stderr merged, cut in the middle. */
  readonly log: string;
  readonly projectPath: string;
}

export type TestStatus =
  | 'passed'
  | 'failed'
  | 'skipped'
  | 'todo'
  | 'xfailed'
  | 'xpassed'
  | 'error'
  | 'listed';

export interface TestResult {
  /** Stable between runs; what `--test` takes: `path/file.test.js::suite > name`, `tests/test_a.py::TestB::test_c[1]`. */
  readonly id: string;
  /** Relative to the workspace. */
  readonly file: string;
  /** 1-based line of the test, where known. */
  readonly line?: number;
  readonly name: string;
  readonly status: TestStatus;
  readonly durationMs: number;
  readonly failure?: TestFailure;
}

export interface TestFailure {
  /** One or a few lines: the assertion's own message. */
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  /** Where the failure was raised; relative to the workspace. */
  readonly place?: SourcePlace;
  /** First frame in the workspace that is not a test file. */
  readonly ownFrame?: SourcePlace;
  /** Full text (stack, captured output), for the raw log. */
  readonly details: string;
}

export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
  readonly function?: string;
}

export interface ParsedReport {
  readonly results: readonly TestResult[];
  /** Files that could not be collected (syntax error, import error), with the reason. */
  readonly collectionErrors: readonly CollectionError[];
  /** The runner itself said that it came to its end. False after a crash or `process.exit`. */
  readonly complete: boolean;
}

export interface CollectionError {
  readonly file: string;
  readonly message: string;
  readonly place?: SourcePlace;
}

/** Outcome of one test run, for every caller. */
export type TestRun =
  | ({
      readonly kind: 'ran';
      readonly exitCode: number;
      readonly durationMs: number;
      readonly log: string;
      /** What is wrong with the report as a whole (lines of others), in words; empty: nothing. */
      readonly reportSigns?: readonly string[];
    } & ParsedReport)
  | {
      readonly kind: 'timeout';
      readonly durationMs: number;
      readonly log: string;
      readonly results: readonly TestResult[];
    }
  | { readonly kind: 'cancelled' }
  /** The runner did not start or died before a report: missing module, no interpreter, bad configuration. */
  | {
      readonly kind: 'crashed';
      readonly exitCode: number;
      readonly durationMs: number;
      readonly log: string;
      readonly reason: string;
    };

/** What may steer a test run, by path and, in shared configuration files, by key. */
export interface Steering {
  /** Relative path → is it a test file or test support (conftest.py, fixtures, snapshots)? */
  isTestFile(path: string): boolean;
  /** The build tool itself goes by these paths; elsewhere a source may be named like a test. */
  readonly isExact?: boolean;
  /** Relative path → is the whole file configuration of the runner (pytest.ini, .npmrc, *.pth, sitecustomize.py)? */
  isSteeringFile(path: string): boolean;
  /** Tests may live in such a file beside sources, so `restoreKeys` puts back its tests alone. */
  holdsSources?(path: string): boolean;
  /** Shared files in which only some keys steer: puts those of `before` into `after`. undefined: not such a file. */
  restoreKeys(path: string, before: string | undefined, after: string): string | undefined;
}
