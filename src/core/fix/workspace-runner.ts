import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { stateFolder } from '../platform/state-folder.ts';
import { createPathMapping } from '../sandbox/path-mapping.ts';
import type {
  DependencyFolder,
  ExecResult,
  SandboxSession,
  Toolchain,
} from '../sandbox/sandbox.ts';
import { createScratch } from '../sandbox/scratch.ts';
import { HeadAndTail } from '../sandbox/supervisor/output.ts';
import { writeToolbox } from '../sandbox/toolbox.ts';
import { openWorkspaceLayer, type WorkspaceLayer } from './workspace-layer.ts';

/**
 * Runs programs in the user's own environment, as the user would, on a layer over the workspace: for
 * the parity check only. What they write in the workspace is gone when it is closed.
 */
export interface WorkspaceRunner {
  run: SandboxSession['run'];
  close(): Promise<void>;
}

/** Caches of test runners stay out of the user's folder. */
const QUIET = {
  PYTHONDONTWRITEBYTECODE: '1',
  CI: '1',
  NO_COLOR: '1',
  DISABLE_V8_COMPILE_CACHE: '1',
};

export interface RunnerOptions {
  readonly toolchain: Toolchain;
  readonly toolbox: Readonly<Record<string, string>>;
  /** The host's variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly layers?: 'auto' | 'copy';
  readonly signal?: AbortSignal;
}

export async function openWorkspaceRunner(
  workspace: { readonly root: string; readonly dependencies: readonly DependencyFolder[] },
  options: RunnerOptions,
): Promise<
  | { readonly kind: 'open'; readonly runner: WorkspaceRunner }
  | { readonly kind: 'unavailable'; readonly reason: string }
> {
  const { environment, toolbox, layers, signal } = options;
  const { folder, remove } = await createScratch(stateFolder(environment));
  try {
    const request = { ...workspace, scratch: folder, environment, layers, signal };
    const opened = await openWorkspaceLayer(request);
    if (opened.kind === 'unavailable') {
      await remove();
      return opened;
    }
    const toolboxFolder = join(folder, 'toolbox');
    await writeToolbox(toolboxFolder, toolbox);
    const { root } = workspace;
    const places = { folder, toolbox: toolboxFolder, root };
    return { kind: 'open', runner: { run: runIn(opened.layer, places, options), close: remove } };
  } catch (error) {
    await remove();
    throw error;
  }
}

function runIn(
  layer: WorkspaceLayer,
  places: { readonly folder: string; readonly toolbox: string; readonly root: string },
  { toolchain, environment }: RunnerOptions,
): SandboxSession['run'] {
  const { folder, toolbox, root } = places;
  const mapping = createPathMapping({ layer: layer.folder, toolbox, workspacePath: root });
  const path = [...toolchain.path.map(mapping.toHost), environment.PATH ?? ''].join(delimiter);
  const own = Object.entries(toolchain.env).map(([name, value]) => [name, mapping.toHost(value)]);

  return (request, options) =>
    new Promise<ExecResult>((resolve, reject) => {
      const began = performance.now();
      const kept = new HeadAndTail(options.maxOutputBytes);
      const replacer = mapping.fromHost();
      const cwd = mapping.toHost(request.cwd ?? '/workspace');
      const [program = '', ...args] = layer.command(request.argv.map(mapping.toHost), cwd);
      const given = Object.entries(request.env ?? {}).map(([name, value]) => [
        name,
        mapping.toHost(value),
      ]);
      const child = spawn(program, args, {
        cwd,
        env: {
          ...environment,
          ...Object.fromEntries(own),
          PATH: path,
          ...QUIET,
          // Jest's, which has no variable of its own for it (see jest/run.asset.cjs).
          PRIME_JEST_CACHE: join(folder, 'cache'),
          ...Object.fromEntries(given),
        },
        // A group of its own, so that a timeout ends what the tests started as well.
        detached: true,
        stdio: ['pipe', 'pipe', request.capture === 'stdout' ? 'ignore' : 'pipe'],
      });
      let end: ExecResult['end'] | undefined;
      const stop = (kind: 'timeout' | 'cancelled'): void => {
        end ??= { kind };
        if (child.pid !== undefined) killGroup(child.pid);
      };
      const timer = setTimeout(() => stop('timeout'), options.timeoutMs);
      const abort = (): void => stop('cancelled');
      options.signal?.addEventListener('abort', abort, { once: true });
      if (options.signal?.aborted) abort();
      const take = (chunk: Buffer): void => kept.push(replacer.push(chunk));
      child.stdout?.on('data', take);
      child.stderr?.on('data', take);
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(request.stdin);
      const settle = (): void => {
        clearTimeout(timer);
        options.signal?.removeEventListener('abort', abort);
      };
      child.on('error', (error) => {
        settle();
        reject(error);
      });
      child.on('close', (code) => {
        settle();
        kept.push(replacer.end());
        const durationMs = performance.now() - began;
        resolve({
          end: end ?? { kind: 'exited', code: code ?? 137 },
          output: kept.result(),
          durationMs,
        });
      });
    });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
