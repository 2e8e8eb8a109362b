/**
 * The sandbox: where an attempt's commands run. One session is one isolated place (a namespace, a
 * container) over one layer of a snapshot; it lives for one attempt or one grading run.
 *
 * Everything outside `core/sandbox` sees the same paths on every machine: the snapshot is at
 * `WORKSPACE`, and a session translates where it cannot mount there (see `none.ts`).
 */

/** Where the snapshot is seen inside every sandbox, and where the agent starts. */
export const WORKSPACE = '/workspace';

/** Where the read-only helper files (supervisor, reporters) are seen inside every sandbox. */
export const TOOLBOX = '/opt/prime';

export type SandboxKind = 'local' | 'docker' | 'none';

/** A dependency folder of the workspace (node_modules, .venv …): seen inside, never copied. */
export interface DependencyFolder {
  /** Relative to the workspace, with forward slashes. */
  readonly path: string;
  /** Absolute path on the host; `''` where there is a volume. */
  readonly hostPath: string;
  /** Docker: volume of the engine that holds it, made by `core/environments`. */
  readonly volume?: string;
}

/** What a session is a layer over. Made by `core/snapshot`. */
export interface SnapshotBase {
  /** Hash of the working tree's state; equal states share a base. */
  readonly id: string;
  /** Host directory with the files of the snapshot and its one-commit `.git`. Never written to. */
  readonly tree: string;
  /** The user's own absolute path of the workspace: the snapshot is mounted there as well. */
  readonly workspacePath: string;
  readonly dependencies: readonly DependencyFolder[];
}

/** Programs of the host that a session may use. Made by `core/frameworks/toolchain.ts`. */
export interface Toolchain {
  /** Folders put in front of the system's PATH, in order. Absolute host paths. */
  readonly path: readonly string[];
  /** Host folders that must be visible (read-only) for the programs to work. Absolute. */
  readonly mounts: readonly string[];
  /** Variables that the programs need (VIRTUAL_ENV, JAVA_HOME …); never secrets. */
  readonly env: Readonly<Record<string, string>>;
}

export interface SandboxLimits {
  /** Largest number of processes and threads at once. */
  readonly processes: number;
  /** Largest single file, in bytes. */
  readonly fileBytes: number;
  /** Memory in bytes, where it can be limited (Docker); undefined where it cannot. */
  readonly memoryBytes?: number;
  /** What the workspace may hold in bytes, the snapshot included, where that is watched (Docker). */
  readonly diskBytes?: number;
}

export interface SandboxSpec {
  readonly base: SnapshotBase;
  readonly toolchain: Toolchain;
  /** Helper files, by name relative to `TOOLBOX`. */
  readonly toolbox: Readonly<Record<string, string>>;
  readonly limits: SandboxLimits;
  /** Docker: image of this session (tag, digest or id) in place of the provider's. */
  readonly image?: string;
}

/** How a process ended, apart from its output. */
export type ExecEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' };

export interface ExecOutput {
  /** First bytes, at most half of the limit. */
  readonly head: Uint8Array;
  /** Last bytes; empty when nothing was cut (then `head` is everything). */
  readonly tail: Uint8Array;
  /** Bytes left out between `head` and `tail`. */
  readonly omittedBytes: number;
}

export interface ExecResult {
  readonly end: ExecEnd;
  /** stdout and stderr merged in the order of writing, unless the request separates them. */
  readonly output: ExecOutput;
  readonly durationMs: number;
}

export interface ExecOptions {
  readonly timeoutMs: number;
  /** Keep at most this many bytes of output (both ends). Memory stays bounded by it. */
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal;
  /** Called with raw bytes as they come; must not throw. */
  readonly onOutput?: (chunk: Uint8Array) => void;
}

/** A program run for us (tests, file access, git): does not see or change the agent's shell state. */
export interface ProgramRequest {
  readonly argv: readonly string[];
  /** Absolute path as seen inside; default `WORKSPACE`. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
  /** `'merge'` (default): stdout and stderr; `'stdout'`: stderr is thrown away. */
  readonly capture?: 'merge' | 'stdout';
}

export interface FileInfo {
  readonly kind: 'file' | 'directory' | 'missing' | 'other';
  /** Path with every symbolic link resolved (for `missing`: of the deepest folder that exists, with the rest appended). */
  readonly realPath: string;
  readonly isSymlink: boolean;
  readonly size: number;
  /** Permission bits, for example 0o644. */
  readonly mode: number;
}

/** Files inside the sandbox. Paths are absolute as seen inside; symbolic links cannot lead out of it. */
export interface SandboxFiles {
  inspect(path: string): Promise<FileInfo>;
  /** Whole content; rejects with `SandboxFileError` when larger than `maxBytes` or not a file. */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
  /**
   * Atomic: a temporary file in the same folder, then rename. Keeps the mode of an existing file,
   * writes through symbolic links to their target, makes missing parent folders.
   */
  write(path: string, content: Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  /** Entries at most `depth` levels deep, hidden ones left out, sorted by name, at most `limit`. */
  list(path: string, depth: number, limit: number): Promise<readonly ListedEntry[]>;
}

export interface ListedEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
}

export class SandboxFileError extends Error {
  override readonly name = 'SandboxFileError';
  readonly code: 'missing' | 'not-a-file' | 'too-large' | 'permission' | 'no-space' | 'other';
  constructor(code: SandboxFileError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The sandbox itself broke (not the agent's command): the attempt is `invalid`, never a reward of 0. */
export class SandboxFailure extends Error {
  override readonly name = 'SandboxFailure';
  /** What to do about it, for people. */
  readonly remedy: string | undefined;
  constructor(message: string, remedy?: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** One call at a time: a second `shell` or `run` waits for the first. */
export interface SandboxSession {
  readonly kind: SandboxKind;
  readonly files: SandboxFiles;
  /** The agent's shell: a fresh bash each time, with working directory and exports carried over. */
  shell(command: string, options: ExecOptions): Promise<ExecResult>;
  /** Forgets the working directory and exports, and ends every background process. */
  restartShell(): Promise<void>;
  run(request: ProgramRequest, options: ExecOptions): Promise<ExecResult>;
  /** Ends every process and removes the layer. Safe to call twice and at any moment. */
  close(): Promise<void>;
}

export type SandboxAvailability =
  | { readonly available: true; readonly detail: string }
  | { readonly available: false; readonly reason: string; readonly remedy: string };

export interface SandboxProvider {
  readonly kind: SandboxKind;
  /** Cheap after the first call. Really tries the isolation, since kernels and distributions differ. */
  availability(): Promise<SandboxAvailability>;
  /** Rejects with `SandboxFailure`. */
  open(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxSession>;
}
