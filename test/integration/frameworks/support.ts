import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Framework, TestResult, TestRun } from '../../../src/core/frameworks/framework.ts';
import { type RunTestsOptions, runTests } from '../../../src/core/frameworks/run.ts';
import { openWorkspaceFiles } from '../../../src/core/frameworks/workspace-files.ts';
import { createNoneSandbox } from '../../../src/core/sandbox/none.ts';
import type { SandboxProvider, SandboxSession } from '../../../src/core/sandbox/sandbox.ts';

export type Files = Readonly<Record<string, string>>;

/** A temporary folder with these files. */
export async function writeProject(files: Files): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'prime-frameworks-')));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

export interface Project {
  /** The tool chain in words: `Node 20.20.2 on PATH`. */
  readonly detail: string;
  readonly program: string;
  readonly root: string;
  readonly session: SandboxSession;
  /** Runs the tests of `projectPath` (default: the root). */
  run(
    tests?: readonly string[],
    options?: Partial<RunTestsOptions> & { listOnly?: boolean; projectPath?: string },
  ): Promise<TestRun>;
  close(): Promise<void>;
}

/** The project in a session, with the tool chain that the framework finds (or `program`). */
export async function openProject(
  framework: Framework,
  files: Files,
  options: {
    readonly program?: string;
    readonly provider?: SandboxProvider;
    /** A node_modules folder that the project is to have. */
    readonly nodeModules?: string;
  } = {},
): Promise<Project> {
  const root = await writeProject(files);
  const { nodeModules } = options;
  const link = join(root, 'node_modules');
  if (nodeModules !== undefined) await symlink(nodeModules, link);
  const found = await framework.toolchain(openWorkspaceFiles(root));
  // A snapshot holds no dependencies; the session sees them from where they are.
  if (nodeModules !== undefined) await rm(link);
  if (found.kind === 'missing') throw new Error(`${found.reason} ${found.remedy}`);
  const session = await (options.provider ?? createNoneSandbox()).open({
    base: {
      id: 'test',
      tree: root,
      workspacePath: root,
      dependencies:
        nodeModules === undefined ? [] : [{ path: 'node_modules', hostPath: nodeModules }],
    },
    toolchain: found.toolchain,
    toolbox: framework.toolbox,
    limits: { processes: 512, fileBytes: 2 ** 32 },
  });
  const program = options.program ?? found.program;
  return {
    root,
    detail: found.detail,
    program,
    session,
    run: (tests = [], { listOnly, projectPath = '', ...rest } = {}) =>
      runTests(
        session,
        framework,
        { program, projectPath, tests, listOnly },
        { timeoutMs: 120_000, ...rest },
      ),
    close: async () => {
      await session.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** The longest that a hanging run may get, and how long before its end the hang must have begun to be told. */
const LONGEST_MS = 150_000;
const SPARE_MS = 2_500;
/** Time limit of a test with `runHanging`. */
export const HANGING_TEST_MS = 500_000;

/**
 * A run that its time limit ends, in a project with a test that hangs. Just before it hangs, that test makes
 * the file `begun`. When a busy machine did not get there in time, the limit said nothing about the
 * hang, and the run gets three times as long.
 */
export async function runHanging(
  open: (begun: string) => Promise<Project>,
  firstMs: number,
): Promise<TestRun> {
  const folder = await mkdtemp(join(tmpdir(), 'prime-hangs-'));
  const begun = join(folder, 'begun');
  try {
    for (let timeoutMs = firstMs; ; timeoutMs = Math.min(timeoutMs * 3, LONGEST_MS)) {
      const project = await open(begun);
      let inTime = false;
      const look = setTimeout(() => {
        inTime = existsSync(begun);
      }, timeoutMs - SPARE_MS);
      try {
        const run = await project.run([], { timeoutMs });
        if (inTime || run.kind !== 'timeout' || timeoutMs >= LONGEST_MS) return run;
      } finally {
        clearTimeout(look);
        await project.close();
      }
      await rm(begun, { force: true });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `ran`, or a failure of the test that shows what happened instead. */
export function ran(run: TestRun): Extract<TestRun, { kind: 'ran' }> {
  if (run.kind !== 'ran') throw new Error(`expected a run, got ${JSON.stringify(run, null, 1)}`);
  return run;
}

export function statuses(results: readonly TestResult[]): Record<string, string> {
  return Object.fromEntries(results.map(({ id, status }) => [id, status]));
}

export function resultOf(run: TestRun, id: string): TestResult {
  const results = run.kind === 'ran' || run.kind === 'timeout' ? run.results : [];
  const found = results.find((test) => test.id === id);
  if (!found) throw new Error(`no result for ${id} in ${JSON.stringify(run, null, 1)}`);
  return found;
}
