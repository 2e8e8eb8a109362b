import { homedir } from 'node:os';
import { join } from 'node:path';
import { environmentOf } from '../../../src/core/environments/admit.ts';
import type { ReadyEnvironment } from '../../../src/core/environments/build.ts';
import { detectEnvironment } from '../../../src/core/environments/detect/detect.ts';
import type { SandboxProvider } from '../../../src/core/sandbox/sandbox.ts';
import type { FileTree } from '../../../src/core/tasks/tree.ts';
import type { TaskSpec } from '../tasks/task-spec.ts';
import type { WorkerSettings } from '../work/messages.ts';

export type Packages =
  /** `id`: tells environments apart, in the names of grades. */
  | { readonly kind: 'packages'; readonly id: string; readonly environment?: ReadyEnvironment }
  /** The task's own fault. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'problem'; readonly reason: string; readonly remedy: string };

export interface PackagesOptions {
  readonly provider: SandboxProvider;
  readonly settings: WorkerSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/**
 * Where a task's packages are: in an environment of the engine, which is built the first time. The
 * local sandbox has the programs of this machine and nothing else.
 *
 * @param spec undefined: a snapshot whose project is not known yet
 */
export async function packagesOf(
  spec: TaskSpec | undefined,
  tree: FileTree,
  { provider, settings, env, signal }: PackagesOptions,
): Promise<Packages> {
  if (provider.kind !== 'docker') return { kind: 'packages', id: provider.kind };
  const { image, setupNetwork } = settings.sandbox;
  const detected =
    spec?.kind === 'bug'
      ? environmentOf(spec.task, tree, image)
      : detectEnvironment(tree, {
          ...(spec === undefined ? {} : { projectPath: spec.projectPath }),
          ...(image === undefined ? {} : { image }),
        });
  if (detected.kind === 'unknown') {
    return { kind: 'refused', reason: `${detected.reason}. ${detected.remedy}` };
  }
  // Loaded when they are needed: they bring a client for container engines.
  const { connectEngine } = await import('../../../src/core/sandbox/docker/engine.ts');
  const { ensureEnvironment } = await import('../../../src/core/environments/build.ts');
  const { hostRegistrySettings } = await import(
    '../../../src/core/environments/registry-settings.ts'
  );
  const connected = await connectEngine(env, env.HOME ?? homedir());
  if (connected.kind !== 'engine') {
    return { kind: 'problem', reason: `${connected.reason}.`, remedy: connected.remedy };
  }
  const environment = await ensureEnvironment({
    engine: connected.engine,
    description: detected.description,
    files: tree,
    stateDir: join(settings.folder, 'state'),
    network: setupNetwork,
    registries: await hostRegistrySettings(env),
    signal,
  });
  if (environment.kind === 'cancelled') {
    signal.throwIfAborted();
    return { kind: 'problem', reason: 'the set-up was cancelled', remedy: '' };
  }
  if (environment.kind === 'ready') return { kind: 'packages', id: environment.hash, environment };
  const { cause, reason, remedy } = environment;
  return cause === 'setup-failed' || cause === 'build-failed'
    ? { kind: 'refused', reason: `${reason}.` }
    : { kind: 'problem', reason: `${reason}.`, remedy };
}
