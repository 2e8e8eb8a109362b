import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { SessionEnvironment } from '../environments/build.ts';
import { allFrameworks } from '../frameworks/all.ts';
import { createCommandFramework } from '../frameworks/command/command.ts';
import { detectFrameworks } from '../frameworks/detect.ts';
import type {
  Framework,
  ToolchainResult,
  ToolchainWishes,
  WorkspaceFiles,
} from '../frameworks/framework.ts';
import { openWorkspaceFiles } from '../frameworks/workspace-files.ts';
import { createRewardFramework, rewardTestId } from '../grading/reward/framework.ts';
import type { CustomReward } from '../grading/reward/load.ts';
import type { GradeSetup } from '../grading/types.ts';
import type { SandboxProvider, SandboxSpec, SnapshotBase, Toolchain } from '../sandbox/sandbox.ts';
import { makeBase } from '../snapshot/base.ts';
import { combineToolchains } from './combine-toolchains.ts';
import type { FixListener } from './events.ts';
import { imageToolchain } from './image-toolchain.ts';

/** A project of a workspace, ready to run tests in a sandbox. */
export interface PreparedProject {
  readonly root: string;
  readonly workspaceName: string;
  readonly workspace: WorkspaceFiles;
  readonly setup: GradeSetup;
  /** What it is and with what it runs, in words. */
  readonly detail: string;
  /** Where a reward of the user's own decides: the id of its one test. */
  readonly reward?: string;
  /** The host's own programs, where the sandbox has others; undefined: none are there. */
  readonly own: { readonly toolchain: Toolchain; readonly program: string } | undefined;
}

export interface PrepareOptions {
  /** Folder of the workspace. */
  readonly path: string;
  /** Own test command: its exit code decides. */
  readonly command?: string;
  /** Own reward, in the place of tests. Not together with `command`. */
  readonly reward?: CustomReward | undefined;
  readonly provider: SandboxProvider;
  readonly stateDir: string;
  /** Ignored files that tests need, as globs relative to the workspace. */
  readonly include: readonly string[];
  readonly testTimeoutMs: number;
  /** The Python that the user has chosen, absolute path. */
  readonly python?: string | undefined;
  /** Docker: image and dependencies, in place of the provider's image (`core/environments`). */
  readonly environment?: SessionEnvironment | undefined;
  readonly signal: AbortSignal;
  readonly listener?: FixListener;
}

/**
 * What keeps a workspace from being worked on. `usage`: the user named something wrong;
 * `not-loadable`: the code itself keeps the tests from being loaded.
 */
export interface PrepareProblem {
  readonly kind: 'problem';
  readonly cause: 'usage' | 'no-tests' | 'environment' | 'not-loadable';
  readonly reason: string;
  readonly remedy: string;
}

export type PrepareOutcome =
  | { readonly kind: 'prepared'; readonly projects: readonly PreparedProject[] }
  | PrepareProblem;

export async function prepareWorkspace(options: PrepareOptions): Promise<PrepareOutcome> {
  const root = resolve(options.path);
  const isFolder = await stat(root).then(
    (info) => info.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    return problem(
      'usage',
      `${options.path} is not a folder.`,
      'Name the folder of the repository whose tests fail.',
    );
  }
  const workspace = openWorkspaceFiles(root);
  const found = await findFrameworks(workspace, options);
  if (found.length === 0) {
    const known = allFrameworks.map((framework) => framework.label).join(', ');
    return problem(
      'no-tests',
      `No tests were found in ${root}.`,
      `Known test frameworks: ${known}. For another one pass its command: --command "make test".`,
    );
  }

  options.listener?.({ kind: 'progress', text: 'Taking a snapshot of the working tree' });
  const made = await makeBase(root, {
    stateDir: options.stateDir,
    include: options.include,
    signal: options.signal,
    onProgress: (text) => options.listener?.({ kind: 'progress', text }),
  });
  if (made.kind !== 'base') return problem('environment', made.reason, made.remedy);
  for (const note of made.notes) options.listener?.({ kind: 'warning', text: note });

  const projects: PreparedProject[] = [];
  for (const { framework, projectPath } of found) {
    const own = await toolchainOf(framework, workspace, { python: options.python });
    const spec: Omit<SandboxSpec, 'toolchain'> = {
      base: withDependencies(made.base, options.environment),
      toolbox: framework.toolbox,
      limits: { processes: 1024, fileBytes: 4 * 2 ** 30 },
      ...(options.environment && { image: options.environment.image }),
    };
    const toolchain =
      options.provider.kind === 'docker'
        ? await imageToolchain(options.provider, spec, framework, projectPath, options.signal)
        : own;
    if (toolchain.kind === 'missing')
      return problem('environment', toolchain.reason, toolchain.remedy);
    projects.push({
      root,
      workspaceName: basename(root),
      workspace,
      detail: `${framework.label}${projectPath ? ` in ${projectPath}` : ''}, ${toolchain.detail}`,
      own: own.kind === 'found' ? own : undefined,
      ...(options.reward && {
        reward: rewardTestId(options.reward.spec, options.reward.moduleText),
      }),
      setup: {
        provider: options.provider,
        spec: { ...spec, toolchain: toolchain.toolchain },
        framework,
        program: toolchain.program,
        projectPath,
        timeoutMs: options.reward
          ? options.reward.spec.timeoutSeconds * 1000
          : options.testTimeoutMs,
      },
    });
  }
  return { kind: 'prepared', projects };
}

/** What the environment has installed takes the place of the same folder of this machine. */
function withDependencies(
  base: SnapshotBase,
  environment: SessionEnvironment | undefined,
): SnapshotBase {
  if (environment === undefined) return base;
  return { ...base, dependencies: environment.dependencies };
}

/** An own command may start whatever the project's frameworks use: node of nvm, python of .venv. */
async function toolchainOf(
  framework: Framework,
  workspace: WorkspaceFiles,
  wishes: ToolchainWishes,
): Promise<ToolchainResult> {
  const own = await framework.toolchain(workspace, wishes);
  if (framework.id !== 'command' || own.kind === 'missing') return own;
  const found: Extract<ToolchainResult, { kind: 'found' }>[] = [];
  for (const detected of await detectFrameworks(workspace)) {
    const result = await detected.framework.toolchain(workspace, wishes);
    if (result.kind === 'found') found.push(result);
  }
  if (found.length === 0) return own;
  return {
    ...own,
    toolchain: combineToolchains([own, ...found].map(({ toolchain }) => toolchain)),
    detail: `with ${[...new Set(found.map(({ detail }) => detail))].join(' and ')}`,
  };
}

interface FoundFramework {
  readonly framework: Framework;
  readonly projectPath: string;
}

async function findFrameworks(
  workspace: WorkspaceFiles,
  { command, reward }: Pick<PrepareOptions, 'command' | 'reward'>,
): Promise<readonly FoundFramework[]> {
  if (reward !== undefined) {
    const framework = createRewardFramework(reward.spec, reward.moduleText);
    return [{ framework, projectPath: '' }];
  }
  if (command !== undefined) {
    return [{ framework: createCommandFramework(command), projectPath: '' }];
  }
  const detected = await detectFrameworks(workspace);
  return detected.map(({ framework, detection: { projectPath } }) => ({ framework, projectPath }));
}

export function problem(
  cause: PrepareProblem['cause'],
  reason: string,
  remedy: string,
): PrepareProblem {
  return { kind: 'problem', cause, reason, remedy };
}
